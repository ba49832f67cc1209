// The outcome and the status of a failure, by the call that fails. Against the in-memory API server, with failures
// injected between it and the reconcile.
import { beforeEach, expect, it } from 'vitest';
import { ChildrenRefusedError } from '../../src/core/errors.ts';
import type { KubeRequest } from '../../src/kube/client/client.ts';
import { ApiError, ConnectError, DeadlineError, ResponseError } from '../../src/kube/client/errors.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
import { errorClassOf } from '../../src/reconciling/classify-error.ts';
import type { Outcome } from '../../src/reconciling/outcome.ts';
import { outcomeOfUnwritten } from '../../src/reconciling/pass/after-error.ts';
import { useApiServer } from '../harness/api-server.ts';
import { asRetry } from '../sqs/messages.ts';
import type { BeforeRequest } from '../support/intercept-requests.ts';
import { createRecorder, type Recorder } from '../support/recorder.ts';
import { reported } from './batch-harness.ts';
import { api, built, terminating, widget, widgetsOn } from './widgets.ts';

const { connect } = await useApiServer();
const widgets = widgetsOn(connect);
const name = 'one';
let recorder: Recorder;
beforeEach(async () => {
  recorder = createRecorder();
  widgets.behaviour.reconcile = async ({ metadata, spec }, { applyAll, recordEvent }) => {
    recordEvent('Normal', 'Building', 'with token=hunter2');
    await applyAll(ConfigMap, [{ metadata: { name: metadata.name }, data: { size: `${spec.size}` } }]);
    return { status: { size: spec.size }, conditions: { Built: built } };
  };
  await apply(3);
});

const apply = async (size: number) => await widgets.apply(name, { size });
const read = async () => await widgets.read(name);
const condition = async (type: string) => widgets.condition(await read(), type);
/** Reconciles, and runs an action before each of the requests. */
const reconcile = async (before: BeforeRequest = () => {}, { attempt = 0 } = {}) =>
  await widgets.reconcile(name, asRetry({ attempt }), { before, log: recorder.log });

/** Returns the metrics that a reconcile with this outcome counts. */
const countedOf = (outcome: Outcome) => reported({ outcome, writes: 0 }).metrics;

const calls: Readonly<Record<string, (request: KubeRequest) => boolean>> = {
  'first read': ({ method, path }) => method === 'GET' && path.endsWith(`/widgets/${name}`),
  finalizer: ({ method, path }) => method === 'PATCH' && path.endsWith(`/widgets/${name}`),
  'list of children': ({ method, path }) => method === 'GET' && path.endsWith('/configmaps'),
  'apply of a child': ({ method, path }) => method === 'PATCH' && path.endsWith(`/configmaps/${name}`),
  status: ({ method, path }) => method === 'PATCH' && path.endsWith('/status'),
};
const unreachable = [
  ['no connection', new ConnectError('connect ECONNREFUSED')],
  ['429', api(429, 'TooManyRequests', [], 1)],
] as const;
const otherErrors = [
  ['a 500', api(500, 'InternalError')],
  ['a 403', api(403, 'Forbidden')],
  ['a deadline', new DeadlineError('no response within 10 s')],
  ['a 429 of an admission webhook', api(429, 'TooManyRequests')],
  ['a 401 of an admission webhook', api(401, 'Unauthorized')],
] as const;
/** All calls but the first read, which fails before there is anything to report, and that of the status itself. */
const reportedCalls = ['finalizer', 'list of children', 'apply of a child'];
const rows = <E extends readonly (readonly [string, Error])[]>(errors: E, stages: readonly string[]) =>
  stages.flatMap((call) => errors.map(([title, error]) => [title, call, error] as const));
const failAt =
  (call: string, error: Error): BeforeRequest =>
  async (request) => {
    if (calls[call]?.(request) === true) throw error;
  };

it.each([
  ...rows(unreachable, Object.keys(calls)),
  ...rows(
    [
      ['a 503', api(503)],
      ['a 504 of a cache that lags behind', api(504, 'Timeout', [{ reason: 'ResourceVersionTooLarge' }])],
      ['a deadline', new DeadlineError('late')],
      ['a 403 of a proxy', new ApiError('GET /x', 403, '<html>')],
      ['a redirect to a login page', new ApiError('GET /x', 302, '')],
      ['a 401', api(401, 'Unauthorized')],
      ['a 200 with the login page of a proxy', new ResponseError('GET /x: the response is not this object')],
    ],
    ['first read'],
  ),
])('a reconcile with %s at the %s is postponed, without an attempt and without a status', async (_, call, error) => {
  expect((await reconcile(failAt(call, error))).outcome).toMatchObject({ type: 'postponed', reason: 'unreachable' });
  expect((await read())?.status).toBeUndefined();
});

it.each(
  Object.keys(calls),
)('a reconcile whose credentials are rejected from the %s on is postponed, without an attempt', async (call) => {
  let isRejected = false;
  const { outcome } = await reconcile((request) => {
    isRejected ||= calls[call]?.(request) === true;
    if (isRejected) throw api(401, 'Unauthorized');
  });
  expect(outcome).toMatchObject({ type: 'postponed', reason: 'unreachable' });
  expect((await read())?.status).toBeUndefined();
});

it.each(rows(otherErrors, ['status']))('a reconcile with %s at the %s fails', async (_, call, error) => {
  expect((await reconcile(failAt(call, error))).outcome).toMatchObject({ type: 'failed' });
});

it.each(
  rows(otherErrors, reportedCalls),
)('a reconcile with %s at the %s fails and writes the status, and its last attempt sets Stalled', async (_, call, error) => {
  expect((await reconcile(failAt(call, error))).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
  expect(await condition('Reconciling')).toBeDefined();
  expect((await reconcile(failAt(call, error), { attempt: 9 })).outcome).toMatchObject({ stalledBefore: false });
  expect(await condition('Stalled')).toMatchObject({ status: 'True', reason: 'RetriesExhausted' });
  expect((await reconcile(failAt(call, error))).outcome).toMatchObject({ type: 'failed', stalledBefore: true });
});

it.each(
  Object.keys(calls),
)('a reconcile in a terminating namespace, reported at the %s, has nothing to do', async (call) => {
  const { outcome } = await reconcile(failAt(call, terminating));
  expect(outcome).toEqual({ type: 'nothing', reason: 'namespace-terminating' });
});

it('a Namespace whose children are all refused because it is terminating has nothing to do', () => {
  const childOf = (namespace: string) =>
    new ApiError(`PATCH /api/v1/namespaces/${namespace}/configmaps/a`, 403, terminating.body);
  const key = { cluster: 'alpha', controller: 'team', group: '', resource: 'namespaces', name: 'mine' };
  const classOf = (...errors: Error[]) => errorClassOf(new ChildrenRefusedError(errors), 'later', key);
  expect(classOf(childOf('mine'), childOf('mine'))).toBe('namespace-terminating');
  expect(classOf(childOf('mine'), childOf('other'))).toBe('child-namespace-terminating');
  expect(classOf(childOf('mine'), api(403, 'Forbidden'))).toBe('error');
});

it('a reconcile whose child an admission policy refuses ends with PolicyDenied, without a retry', async () => {
  const denied = api(403, 'Forbidden', [{ message: 'ValidatingAdmissionPolicy denied request' }]);
  const { outcome } = await reconcile(failAt('apply of a child', denied));
  expect(outcome).toMatchObject({ type: 'terminal' });
  expect(await condition('Stalled')).toMatchObject({ status: 'True', reason: 'PolicyDenied' });
  expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'PolicyDenied' });
  expect((await reconcile()).outcome).toEqual({ type: 'done' });
  expect(await condition('Stalled')).toBeUndefined();
});

const vanishes = async () => await widgets.vanish(name);
const changes = async () => void (await apply(8));
const gone = { type: 'nothing', reason: 'gone' };
const ofSize8 = expect.objectContaining({ status: expect.objectContaining({ size: 8, observedGeneration: 2 }) });
it.each([
  ['is deleted just before its finalizer is written has nothing to do', 'finalizer', vanishes, gone, undefined],
  ['is deleted just before its status is written has nothing to do', 'status', vanishes, gone, undefined],
  [
    'changes just before its finalizer is written reads the object again',
    'finalizer',
    changes,
    { type: 'done' },
    ofSize8,
  ],
  ['changes just before its status is written reads the object again', 'status', changes, { type: 'done' }, ofSize8],
])('a reconcile of an object that %s', async (_, call, act, expected, stored) => {
  let acted = false;
  const { outcome } = await reconcile(async (request) => {
    if (acted || calls[call]?.(request) !== true) return;
    acted = true;
    await act();
  });
  expect(outcome).toEqual(expected);
  expect(await read()).toEqual(stored);
});

it('a 404 of a write is the end of the object if another one has its name, and a failure if it exists', async () => {
  const before = await read();
  const { client } = widgets;
  const message = widgets.messageFor(name);
  const error = new ApiError('PATCH /x/status', 404, { kind: 'Status', reason: 'NotFound' });
  const { signal } = new AbortController();
  const outcome = (of = error) => outcomeOfUnwritten(of, { client, resource: widget, message, read: before, signal });
  const ofNamed = new ApiError(`PATCH ${widgets.pathOf('status')}`, 404, { kind: 'Status', reason: 'NotFound' });
  expect(await outcome(ofNamed)).toMatchObject({ type: 'failed', error: ofNamed });
  expect(await outcome()).toMatchObject({ type: 'failed', error: { name: 'StatusSubresourceMissingError' } });
  expect(countedOf(await outcome())).toContain('StatusSubresourceMissing');
  await widgets.remove(name);
  await apply(8);
  expect(await outcome()).toEqual({ type: 'nothing', reason: 'gone' });
});

const pageNotFound = new ApiError('GET /x', 404, '404 page not found\n');
const notFound = (details: object) => new ApiError('GET /x', 404, { kind: 'Status', reason: 'NotFound', details });
it.each([
  ['a load balancer that knows no path', pageNotFound, (path: string) => path !== ''],
  ['an HTML page', new ApiError('GET /x', 404, '<html>'), undefined],
  ['a Status that names another object', notFound({ name: 'other', kind: 'widgets', group: widget.group }), undefined],
  ['a Status of a namespace', notFound({ name: 'w', kind: 'namespaces' }), undefined],
])('a reconcile whose first read returns the 404 of %s is postponed: the object is not gone', async (_, error, all) => {
  const { outcome } = await reconcile(async (request) => {
    if (all?.(request.path) ?? calls['first read']?.(request)) throw error;
  });
  expect(outcome).toMatchObject({ type: 'postponed', reason: 'unreachable' });
  expect(countedOf(outcome)).toContain('UnusableResponses');
});

it.each([
  ['as text', pageNotFound],
  ['as a Status', notFound({})],
])('a reconcile of a kind that the API server does not serve, reported %s, fails', async (_, error) => {
  const { outcome } = await reconcile(failAt('first read', error));
  expect(outcome).toMatchObject({ type: 'failed', error: { message: expect.stringContaining('KindNotServed') } });
  expect(countedOf(outcome)).toContain('KindNotServed');
});

it.each([
  ['new', async () => undefined],
  ['known', async () => void (await reconcile())],
])('K13: a reconcile of a %s object in a namespace that does not exist fails, and names the namespace', async (_, before) => {
  await before();
  await apply(8);
  const details = { name: widgets.namespace, kind: 'namespaces' };
  const { outcome } = await reconcile(async ({ method, path }) => {
    if (method === 'PATCH') throw new ApiError(`PATCH ${path}`, 404, { kind: 'Status', reason: 'NotFound', details });
  });
  const message = expect.stringContaining(`NamespaceGone: the namespace ${widgets.namespace} does not exist`);
  expect(outcome).toMatchObject({ type: 'failed', error: { message } });
});

it.each([409, 404])('a reconcile whose child still exists after a DELETE with %s fails', async (status) => {
  const { reconcile: withOneChild } = widgets.behaviour;
  const children = [name, `${name}-old`].map((one) => ({ metadata: { name: one } }));
  widgets.does(async (_, { applyAll }) => await applyAll(ConfigMap, children));
  await reconcile();
  widgets.behaviour.reconcile = withOneChild;
  const refusal = async ({ method, path }: KubeRequest) => {
    if (method === 'DELETE' && path.endsWith('-old')) throw api(status, status === 409 ? 'Conflict' : 'NotFound');
  };
  const { outcome } = await reconcile(refusal);
  expect(outcome).toMatchObject({ type: 'failed', error: { message: expect.stringContaining('was not deleted') } });
  expect(await condition('Reconciling')).toBeDefined();
  expect((await reconcile()).outcome).toEqual({ type: 'done' });
  expect((await widgets.children()).map(({ metadata }) => metadata.name)).toEqual([name]);
});

it('a reconcile whose Event is rejected is done, and its log has no credential', async () => {
  const report = await reconcile(async ({ path }) => {
    if (path.endsWith('/events')) throw new Error('refused: password=hunter2');
  });
  expect(report.outcome).toEqual({ type: 'done' });
  expect(recorder.lines.map(({ message }) => message)).toContain('event not recorded');
  expect(JSON.stringify(recorder.lines)).not.toContain('hunter2');
});

it('a role that does not permit to remove the finalizer is named in the status, with the manifests that permit it', async () => {
  await reconcile();
  await widgets.remove(name);
  await reconcile(failAt('finalizer', api(403, 'Forbidden')));
  expect(await condition('Finalized')).toMatchObject({
    status: 'False',
    message: expect.stringMatching(/^the role of widget does not permit .* those of its last version with finalize/),
  });
});
