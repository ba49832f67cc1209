// The guards of API errors: by status, reason and causes. Of what they make one class: classify.test.ts.
import { expect, it } from 'vitest';
import * as errors from '../../../src/kube/client/errors.ts';
import { statusOf } from '../wire-server.ts';

const guards = {
  isNotFound: errors.isNotFound,
  isConflict: errors.isConflict,
  isAlreadyExists: errors.isAlreadyExists,
  isGone: errors.isGone,
  isUnauthorized: errors.isUnauthorized,
  isForbidden: errors.isForbidden,
  isPolicyDenied: errors.isPolicyDenied,
  isThrottled: errors.isThrottled,
  isServerError: errors.isServerError,
  isInvalid: errors.isInvalid,
  isNamespaceTerminating: errors.isNamespaceTerminating,
  isTooLargeVersion: errors.isTooLargeVersion,
};
const cause = (reason: string) => ({ details: { causes: [{ reason }] } });
const denial = { details: { causes: [{ message: "ValidatingAdmissionPolicy 'x' denied request" }] } };
const tooLarge = cause('ResourceVersionTooLarge');
const terminating = cause('NamespaceTerminating');
const api = (code: number, reason: string, rest?: object) =>
  new errors.ApiError('GET /x', code, statusOf(code, reason, rest));

it.each<[string, unknown, (keyof typeof guards)[]]>([
  ['409', api(409, 'Conflict'), ['isConflict']],
  ['409 AlreadyExists', api(409, 'AlreadyExists'), ['isAlreadyExists']],
  ['an ERROR event Expired', new errors.ApiError('WATCH /x', 200, statusOf(200, 'Expired')), ['isGone']],
  ['403 while terminating', api(403, 'Forbidden', terminating), ['isForbidden', 'isNamespaceTerminating']],
  ['403 of an admission policy', api(403, 'Forbidden', denial), ['isForbidden', 'isPolicyDenied']],
  ['504 of a future version', api(504, 'Timeout', tooLarge), ['isServerError', 'isTooLargeVersion']],
  ['an error whose text contains reasons', new Error('404 NotFound Conflict Expired'), []],
])('the guards of errors for %s', (_, error, expected) => {
  const matching = Object.entries(guards).flatMap(([name, guard]) => (guard(error) ? [name] : []));
  expect(matching.sort()).toEqual([...expected].sort());
});

it('isInvalidAt is true only for the field of a 422', () => {
  const error = api(422, 'Invalid', { details: { causes: [{ field: 'metadata.uid' }] } });
  expect(errors.isInvalidAt(error, 'metadata.uid')).toBe(true);
  expect(errors.isInvalidAt(error, 'spec')).toBe(false);
});

it('ApiError.retryAfterSeconds is the header, or the value in the Status without one', () => {
  const body = statusOf(429, 'TooManyRequests', { details: { retryAfterSeconds: 3 } });
  expect(new errors.ApiError('GET /x', 429, body).retryAfterSeconds).toBe(3);
  expect(new errors.ApiError('GET /x', 429, body, 7).retryAfterSeconds).toBe(7);
});
