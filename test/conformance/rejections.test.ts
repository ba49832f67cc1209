// Conformance: requests about an existing gadget that are rejected: the Status of each, and that the gadget stays as it was.
// Rejections by the schema are in validations.test.ts, of new objects in requests.test.ts, conflicts of fields in apply.test.ts.
import { describe, expect, it } from 'vitest';
import { gadget, gadgetApiVersion, gadgetGroup, gadgets } from './gadget.ts';
import { type OneGadget, useSuite } from './suite.ts';
import type { Query, WireResponse } from './wire.ts';

/** `made` is the gadget before its last change, so that its version is stale. */
type Changed = OneGadget & { readonly current: OneGadget['made'] };
type Act = (one: Changed) => Promise<WireResponse>;

const { wire, createGadget } = await useSuite();
const otherUid = '00000000-0000-4000-8000-000000000000';
const details = { name: 'one', group: gadgetGroup, kind: 'gadgets' };
const conflict = { code: 409, reason: 'Conflict' };
const notFound = { code: 404, reason: 'NotFound' };
const badRequest = { code: 400, reason: 'BadRequest' };
const force = { force: true };
const up = { phase: 'Up' };
const appliedScale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'one' }, spec: { replicas: 5 } };
const versionOf = ({ metadata }: OneGadget['made']) => ({ resourceVersion: metadata?.resourceVersion });
const statusOf = (status: object, metadata: object = {}) => ({
  apiVersion: gadgetApiVersion,
  kind: 'Gadget',
  metadata: { name: 'one', ...metadata },
  status,
});
const apply = (path: string, content: unknown, query: Query = {}) => wire.apply(path, 'alpha', content, query);
const jsonPatch = ({ main }: OneGadget, ...operations: object[]) =>
  wire.jsonPatch(main, [{ op: 'replace', path: '/spec/size', value: 9 }, ...operations]);

const stale = ({ made: { metadata } }: Changed, more: object = {}) => ({
  ...more,
  metadata: { resourceVersion: metadata?.resourceVersion },
});
const scaled = (one: Changed, replicas: number) => wire.mergePatch(one.scale, { spec: { replicas } });

describe.each<[string, object, Readonly<Record<string, Act>>]>([
  [
    'NotFound',
    notFound,
    {
      'a replacement of a missing object': ({ ns }) =>
        wire.put(gadgets(ns, 'two'), gadget('two', { size: 1 }, { resourceVersion: '1' })),
      'a merge patch of a missing object': ({ main }) => wire.mergePatch(`${main}-not`, {}),
      'a JSON patch of a missing object': ({ main }) => wire.jsonPatch(`${main}-not`, []),
      'a write to /status of a missing object': ({ ns }) =>
        wire.mergePatch(gadgets(ns, 'two', 'status'), { status: {} }),
      'an apply on /status of a missing object': ({ ns }) =>
        apply(gadgets(ns, 'two', 'status'), statusOf({}, { name: 'two' })),
    },
  ],
  [
    'a Conflict',
    conflict,
    {
      'BK8: a merge patch with a stale version, even without a change,': (one) => wire.mergePatch(one.main, stale(one)),
      'a replacement of /status at a stale version': ({ status, made }) => wire.put(status, { ...made, status: up }),
      'a merge patch of /status at a stale version': (one) => wire.mergePatch(one.status, stale(one, { status: up })),
      'an apply at a stale version': ({ main, made }) => apply(main, gadget('one', { size: 2 }, versionOf(made))),
      'a forced apply at a stale version': ({ main, made }) =>
        apply(main, gadget('one', { size: 2 }, versionOf(made)), force),
      'an apply on /status at a stale version': ({ status, made }) => apply(status, statusOf(up, versionOf(made))),
      'a forced apply on /status at a stale version': ({ status, made }) =>
        apply(status, statusOf(up, versionOf(made)), force),
    },
  ],
  [
    'a bad request',
    badRequest,
    {
      'a merge patch that is a list': ({ main }) => wire.mergePatch(main, '[]'),
      'a merge patch that is not complete': ({ main }) => wire.mergePatch(main, '{'),
      'a merge patch that is a text': ({ main }) => wire.mergePatch(main, '"text"'),
      'a merge patch with another name': ({ main }) => wire.mergePatch(main, { metadata: { name: 'two' } }),
      'a JSON patch that is not a list': ({ main }) => wire.jsonPatch(main, { op: 'remove' }),
      'a merge patch that removes the name': ({ main }) => wire.mergePatch(main, { metadata: { name: null } }),
      'a replacement with no name': ({ main, current }) =>
        wire.put(main, { ...current, metadata: { ...current.metadata, name: undefined } }),
      'an apply with managedFields': ({ main }) =>
        apply(main, gadget('one', {}, { managedFields: [{ manager: 'x' }] })),
      'an apply with another name': ({ main }) => apply(main, gadget('two'), force),
      'an apply with another apiVersion': ({ main }) =>
        apply(main, { ...gadget('one'), apiVersion: `${gadgetGroup}/v2` }),
      'an apply with no kind': ({ main }) => apply(main, { ...gadget('one'), kind: '' }),
      'an apply with invalid YAML': ({ main }) => apply(main, ': : {'),
    },
  ],
  [
    'Invalid',
    { code: 422, reason: 'Invalid' },
    {
      'a JSON patch that removes a required field': ({ main }) =>
        wire.jsonPatch(main, [{ op: 'remove', path: '/spec/size' }]),
      'a JSON patch with a failing test': (one) => jsonPatch(one, { op: 'test', path: '/spec/size', value: 77 }),
      'a JSON patch that adds to a missing parent': (one) =>
        jsonPatch(one, { op: 'add', path: '/spec/nope/x', value: 1 }),
      'a JSON patch that removes a missing field': (one) => jsonPatch(one, { op: 'remove', path: '/spec/nope' }),
      'a JSON patch with an unknown operation': (one) => jsonPatch(one, { op: 'fly', path: '/spec/size' }),
      'a JSON patch with no path': (one) => jsonPatch(one, { op: 'add', value: 1 }),
      'a JSON patch with a path without a slash': (one) => jsonPatch(one, { op: 'add', path: 'spec', value: {} }),
      'a JSON patch that replaces an item after the end of a list': (one) =>
        jsonPatch(one, ...['add', 'replace'].map((op, n) => ({ op, path: `/spec/notes${n ? '/7' : ''}`, value: [] }))),
      'a write of too many replicas to the scale subresource': (one) => scaled(one, 700),
    },
  ],
])('rejected as %s', (as, expected, acts) => {
  it.each(Object.entries(acts))(`%s is ${as}`, async (_what, act) => await expectRejected(act, expected));
});

it.each<[string, Act, object]>([
  [
    'a read of an object that does not exist is NotFound',
    ({ ns }) => wire.get(gadgets(ns, 'missing')),
    {
      apiVersion: 'v1',
      metadata: {},
      message: `gadgets.${gadgetGroup} "missing" not found`,
      ...notFound,
      details: { ...details, name: 'missing' },
    },
  ],
  [
    'a create of an existing name is AlreadyExists',
    ({ ns }) => wire.post(gadgets(ns), gadget('one')),
    { code: 409, reason: 'AlreadyExists', message: `gadgets.${gadgetGroup} "one" already exists`, details },
  ],
  [
    'a create in a namespace that does not exist is NotFound of the namespace',
    () => wire.post(gadgets('nowhere'), gadget('one')),
    { ...notFound, message: 'namespaces "nowhere" not found' },
  ],
  [
    'BK8: a replacement at a stale version is a Conflict',
    ({ main, made }) => wire.put(main, { ...made, spec: { size: 6 } }),
    {
      ...conflict,
      details,
      message:
        `Operation cannot be fulfilled on gadgets.${gadgetGroup} "one": the object has been modified; please ` +
        'apply your changes to the latest version and try again',
    },
  ],
  [
    'a replacement with another name than its URL is a bad request',
    ({ main }) => wire.put(main, gadget('two', { size: 1 }, { resourceVersion: '1' })),
    { ...badRequest, message: 'the name of the object (two) does not match the name on the URL (one)' },
  ],
  [
    'a DELETE of /status is not allowed',
    ({ status }) => wire.remove(status),
    { code: 405, reason: 'MethodNotAllowed' },
  ],
])('%s', async (_name, act, expected) => await expectRejected(act, expected));

/** Each name ends with the code and a part of the message. */
it.each(
  Object.entries<Act>({
    'a create with a resourceVersion is rejected with 500: resourceVersion should not be set on objects to be created':
      ({ ns }) => wire.post(gadgets(ns), gadget('two', { size: 1 }, { resourceVersion: '1' })),
    [`a replacement with the uid of another object is rejected with 409: Precondition failed: UID in precondition: ${otherUid}`]:
      ({ main, current }) => wire.put(main, { ...current, metadata: { ...current.metadata, uid: otherUid } }),
    [`a deletion with another uid is rejected with 409: on Gadget.${gadgetGroup} "one": the UID in the precondition (other) does not match the UID in record`]:
      ({ main }) => wire.remove(main, { preconditions: { uid: 'other' } }),
    'a deletion with another version is rejected with 409: the ResourceVersion in the precondition (1) does not match':
      ({ main }) => wire.remove(main, { preconditions: { resourceVersion: '1' } }),
    'a patch with force is rejected with 422: force: Forbidden: may not be specified for non-apply patch': ({ main }) =>
      wire.mergePatch(main, {}, force),
    'a patch of a manager with a long name is rejected with 422: may not be more than 128 bytes': ({ main }) =>
      wire.mergePatch(main, {}, { fieldManager: 'm'.repeat(129) }),
    'a patch of a manager with a line end is rejected with 422: invalid character U+000A (at position 1)': ({ main }) =>
      wire.mergePatch(main, {}, { fieldManager: 'a\nb' }),
    'an apply with an unknown field, also ignored, is rejected with 500: .spec.nope: field not declared in schema': ({
      main,
    }) => apply(main, gadget('one', { size: 1, nope: 1 }), { fieldValidation: 'Ignore' }),
    'an apply with a wrong type is rejected with 500: .spec.size: expected numeric (int or float), got string': ({
      main,
    }) => apply(main, gadget('one', { size: 'x' })),
    'an apply of the Scale over the replicas of another manager is rejected with 409: conflict with "unknown" using autoscaling/v1: .spec.replicas':
      ({ scale }) => apply(scale, appliedScale),
    'a forced apply of the Scale of a custom resource is rejected with 500: request to convert CR to an invalid group/version: autoscaling/v1':
      ({ scale }) => apply(scale, appliedScale, force),
    'an apply with a duplicate key is rejected with 500: .spec.parts: duplicate entries for key [name="x"]': ({
      main,
    }) => apply(main, gadget('one', { size: 1, parts: [{ name: 'x' }, { name: 'x' }] })),
    'an apply on /status with an unknown field is rejected with 500: .status.nope: field not declared in schema': ({
      status,
    }) => apply(status, statusOf({ nope: 1 })),
  }),
)('%s', async (name, act) => {
  const [, code, message = ''] = / is rejected with (\d+): (.*)$/.exec(name) ?? [];
  await expectRejected(act, { code: Number(code), message: expect.stringContaining(message) });
});

it.each([
  'application/strategic-merge-patch+json',
  'application/json',
])('a patch of a custom resource as %s is rejected with 415 and the accepted media types', async (contentType) => {
  const types = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];
  const message = expect.stringContaining(`accepted media types include: ${types.join(', ')}`);
  const act: Act = ({ main }) => wire.request('PATCH', main, { spec: { size: 2 } }, { contentType });
  await expectRejected(act, { code: 415, message });
});

const replicas = 'Invalid value: "string": replicas in body must be of type integer: "string"';
/** Each name ends with the field. */
describe.each<[string, object, Readonly<Record<string, Act>>]>([
  [
    'an immutable field',
    { reason: 'FieldValueInvalid', message: expect.stringContaining('field is immutable') },
    {
      'a merge patch with another uid is Invalid at metadata.uid': ({ main }) =>
        wire.mergePatch(main, { metadata: { uid: otherUid } }),
      'a merge patch with a deletionTimestamp is Invalid at metadata.deletionTimestamp': ({ main }) =>
        wire.mergePatch(main, { metadata: { deletionTimestamp: '2001-01-01T00:00:00Z' } }),
      'an apply with the uid of another object is Invalid at metadata.uid': ({ main }) =>
        apply(main, gadget('one', { size: 3 }, { uid: otherUid }), force),
    },
  ],
  [
    'the update of no version',
    { reason: 'FieldValueInvalid', message: 'Invalid value: 0: must be specified for an update' },
    {
      'a replacement without a resourceVersion is Invalid at metadata.resourceVersion': ({ main }) =>
        wire.put(main, gadget('one', { size: 3 })),
    },
  ],
  [
    'a wrong type',
    { reason: 'FieldValueTypeInvalid', message: replicas },
    {
      'a write to /status with a wrong type is Invalid at status.replicas': ({ status }) =>
        wire.mergePatch(status, { status: { replicas: 'three' } }),
    },
  ],
  [
    'an absent manager',
    { reason: 'FieldValueRequired' },
    {
      'an apply by no manager is Invalid at fieldManager': ({ main }) =>
        wire.request('PATCH', main, gadget('one'), { contentType: 'application/apply-patch+yaml', query: {} }),
      'an apply by a manager with an empty name is Invalid at fieldManager': ({ main }) =>
        apply(main, gadget('one'), { fieldManager: '' }),
    },
  ],
  [
    'the object',
    {},
    {
      'a merge patch with an invalid result is Invalid at spec.size': ({ main }) =>
        wire.mergePatch(main, { spec: { size: 1000 } }),
      'a merge patch that removes the spec is Invalid at spec': ({ main }) => wire.mergePatch(main, { spec: null }),
      'an apply of an invalid object is Invalid at spec.size': ({ main }) =>
        apply(main, gadget('one', { size: 1000 }), force),
      'a deletion with an unknown propagation policy is Invalid at propagationPolicy': ({ main }) =>
        wire.remove(main, { propagationPolicy: 'Sideways' }),
      'an apply on /status without a required field is Invalid at status.conditions[0].status': ({ status }) =>
        apply(status, statusOf({ conditions: [{ type: 'A' }] })),
    },
  ],
])('rejected because of %s', (_why, cause, acts) => {
  it.each(Object.entries(acts))('%s', async (name, act) => {
    const field = name.split(' ').at(-1);
    const causes = expect.arrayContaining([expect.objectContaining({ field, ...cause })]);
    await expectRejected(act, { code: 422, reason: 'Invalid', details: { causes } });
  });
});

/** One gadget for all: each case asserts that it stays as it was. */
let shared: Promise<Changed> | undefined;

async function createChanged(): Promise<Changed> {
  const one = await createGadget();
  return { ...one, current: (await wire.mergePatch(one.main, { spec: { size: 2 } })).body };
}

async function expectRejected(act: Act, expected: object): Promise<void> {
  shared ??= createChanged();
  const one = await shared;
  const { current } = one;
  const { status, body } = await act(one);
  expect(body).toMatchObject({ kind: 'Status', status: 'Failure', ...expected });
  expect(body.code).toBe(status);
  expect((await wire.get(one.main)).body).toEqual(current);
}
