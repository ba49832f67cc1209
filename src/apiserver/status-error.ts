// Everything the server refuses is a StatusError: the one place where a refusal gets its code, reason and wording, so that it
// reads as kube-apiserver's does. It becomes an HTTP answer where requests are answered, and nowhere else.
import type { JsonObject } from './json.ts';

/** One reason among several, with the field it is about. */
export interface Cause extends JsonObject {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** Which collection an error is about: `gadgets` of `example.org`, or a kind, as kube-apiserver mixes them. */
export interface Subject {
  readonly group: string;
  readonly kind: string;
}

interface Details extends JsonObject {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly Cause[];
  readonly retryAfterSeconds?: number;
}

/** A refusal, ready to be sent as a Status. */
export class StatusError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: Details | undefined;
  /** ListMeta of the Status: where a list that lost its past may go on. */
  readonly metadata: JsonObject;

  constructor(code: number, reason: string, message: string, details?: Details, metadata: JsonObject = {}) {
    super(message);
    this.name = 'StatusError';
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.metadata = metadata;
  }
}

/** Returns the Status object of a refusal. */
export function statusOf({ code, reason, message, details, metadata }: StatusError): JsonObject {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata,
    status: 'Failure',
    message,
    ...(reason === '' ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  };
}

/** Names an object's collection in messages: `gadgets.example.org`, or `configmaps` of the core group. */
function qualified({ group, kind }: Subject): string {
  return group === '' ? kind : `${kind}.${group}`;
}

function detailsOf({ group, kind }: Subject, name: string, rest: Details = {}): Details {
  return { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind, ...rest };
}

/** An object that is not there. */
export function notFound(subject: Subject, name: string): StatusError {
  return new StatusError(404, 'NotFound', `${qualified(subject)} "${name}" not found`, detailsOf(subject, name));
}

/** A name that is taken. */
export function alreadyExists(subject: Subject, name: string): StatusError {
  const message = `${qualified(subject)} "${name}" already exists`;
  return new StatusError(409, 'AlreadyExists', message, detailsOf(subject, name));
}

/** A write at a stale version, or with a precondition that does not hold. */
export function conflict(subject: Subject, name: string, why: string = MODIFIED): StatusError {
  const message = `Operation cannot be fulfilled on ${qualified(subject)} "${name}": ${why}`;
  return new StatusError(409, 'Conflict', message, detailsOf(subject, name));
}

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

/** What validation found. `subject.kind` is the kind, not the collection. */
export function invalid(subject: Subject, name: string, causes: readonly Cause[]): StatusError {
  const lines = causes.map(({ field, message }) => `${field}: ${message}`);
  const said = lines.length === 1 ? lines[0] : `[${[...new Set(lines)].join(', ')}]`;
  const message = `${qualified(subject)} "${name}" is invalid: ${said}`;
  return new StatusError(422, 'Invalid', message, detailsOf(subject, name, { causes }));
}

/** A request that makes no sense, whatever is stored. */
export function badRequest(message: string): StatusError {
  return new StatusError(400, 'BadRequest', message);
}

const SHOWN_CHARACTERS = 30;

/** A body that is no object at all; its beginning is shown. */
export function unrecognized(kind: string, why: string, text: string): StatusError {
  const shown = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)} ...` : text;
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${shown})`);
}

/** A write that a rule of the server forbids, whoever asks. */
export function forbidden(subject: Subject, name: string, why: string, causes: readonly Cause[]): StatusError {
  const message = `${qualified(subject)} "${name}" is forbidden: ${why}`;
  return new StatusError(403, 'Forbidden', message, detailsOf(subject, name, { causes }));
}

/** A verb that a path does not have. Custom kinds say which. */
export function methodNotAllowed(subject: Subject, verb: string, custom: boolean): StatusError {
  if (!custom) {
    return new StatusError(
      405,
      'MethodNotAllowed',
      'the server does not allow this method on the requested resource',
      {},
    );
  }
  const message = `${verb.toLowerCase()} is not supported on resources of kind "${qualified(subject)}"`;
  return new StatusError(405, 'MethodNotAllowed', message, detailsOf(subject, ''));
}

/** An answer in no form that the client accepts. */
export function notAcceptable(accepted: readonly string[]): StatusError {
  const message = `only the following media types are accepted: ${accepted.join(', ')}`;
  return new StatusError(406, 'NotAcceptable', message);
}

/** A body in a form that the server does not read. */
export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return new StatusError(415, 'UnsupportedMediaType', message);
}

/** Trouble that is the server's own, or that kube-apiserver treats as such. */
export function internalError(message: string): StatusError {
  return new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, {
    causes: [{ reason: '', message, field: '' }],
  });
}

/** A version the server does not remember any more. A list's page may go on with another token, inconsistently. */
export function expired(message: string, token?: string): StatusError {
  return new StatusError(410, 'Expired', message, undefined, token === undefined ? {} : { continue: token });
}

/** A version the server has not reached. */
export function tooLargeVersion(asked: number, current: number): StatusError {
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version', field: '' }];
  return new StatusError(504, 'Timeout', message, { causes, retryAfterSeconds: 1 });
}

/** Causes by their kind, worded as k8s.io/apimachinery's field errors. */
export const cause = {
  required: (field: string, detail = ''): Cause => ({
    reason: 'FieldValueRequired',
    message: detail === '' ? 'Required value' : `Required value: ${detail}`,
    field,
  }),
  invalid: (field: string, value: string, detail: string): Cause => ({
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${value}: ${detail}`,
    field,
  }),
  typeInvalid: (field: string, value: string, detail: string): Cause => ({
    reason: 'FieldValueTypeInvalid',
    message: `Invalid value: ${value}: ${detail}`,
    field,
  }),
  notSupported: (field: string, value: string, supported: readonly string[]): Cause => ({
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${value}: supported values: ${supported.join(', ')}`,
    field,
  }),
  tooLong: (field: string, detail: string): Cause => ({
    reason: 'FieldValueTooLong',
    message: `Too long: ${detail}`,
    field,
  }),
  tooMany: (field: string, actual: number, most: number): Cause => ({
    reason: 'FieldValueTooMany',
    message: `Too many: ${actual}: must have at most ${most} items`,
    field,
  }),
  duplicate: (field: string, value: string): Cause => ({
    reason: 'FieldValueDuplicate',
    message: `Duplicate value: ${value}`,
    field,
  }),
  forbidden: (field: string, detail: string): Cause => ({
    reason: 'FieldValueForbidden',
    message: `Forbidden: ${detail}`,
    field,
  }),
};
