// The outcome and the status of a failure, by the call that fails. Against the in-memory API server, with failures
// injected between it and the reconcile.
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import type { KubeClient, KubeRequest } from '../../src/kube/client/client.ts';
import { ApiError, ConnectError, DeadlineError } from '../../src/kube/client/errors.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
import { outcomeOfNotFound } from '../../src/reconciling/not-found.ts';
import type { Outcome } from '../../src/reconciling/outcome.ts';
import { createReconcile } from '../../src/reconciling/reconcile.ts';
import { type ReconcileReport, reportReconcile } from '../../src/reconciling/report.ts';
import { useClient } from '../harness/api-server.ts';
import { aMessage, asRetry } from '../sqs/messages.ts';
import { createRecorder, type Recorder } from '../support/recorder.ts';
import { widgetDefinition } from '../support/widget-crd.ts';

const widget = defineKind({
  group: 'reconcile.example.com',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.number() }),
  status: z.object({ size: z.number().optional() }),
  conditions: ['Built'],
});
const controller = widget.controller('widget', {
  owns: [ConfigMap],
  async reconcile({ metadata, spec }, { applyAll, recordEvent }) {
    recordEvent('Normal', 'Building', 'with token=hunter2');
    await applyAll(ConfigMap, [{ metadata: { name: metadata.name }, data: { size: `${spec.size}` } }]);
    return { status: { size: spec.size }, conditions: { Built: { status: 'True', reason: 'Built' } } };
  },
  finalize: async () => 'done',
});
const runReconcile = createReconcile({
  name: controller.name,
  declaration: controller.declaration,
  instance: controller.start({}),
  now: () => new Date(),
});

const client = await useClient(widgetDefinition);
let name: string;
let recorder: Recorder;
let count = 0;
beforeEach(async () => {
  count += 1;
  name = `w${count}`;
  recorder = createRecorder();
  await apply(3);
});

const apply = async (size: number) => {
  const object = { apiVersion: widget.apiVersion, kind: widget.kind, metadata: { name, namespace: 'default' } };
  return await applyObject(client, widget, { ...object, spec: { size } }, { fieldManager: 'user' });
};
const read = async () => await getObject(client, widget, { namespace: 'default', name });
const conditionsOf = (object: KubeObject | undefined) => {
  const status = z.object({ conditions: z.array(z.looseObject({ type: z.string() })).default([]) });
  return status.parse(object?.status ?? {}).conditions.map(({ type }) => type);
};

type Before = (request: KubeRequest) => Promise<void>;
/** Reconciles, and runs an action before each of the requests. */
async function reconcile(before: Before, { attempt = 0 } = {}): Promise<ReconcileReport> {
  const intercepted: KubeClient = {
    ...client,
    request: async (request) => {
      await before(request);
      return await client.request(request);
    },
  };
  const { group, plural: resource } = widget;
  const message = aMessage({
    controller: 'widget',
    group,
    resource,
    namespace: 'default',
    name,
    ...asRetry({ attempt }),
  });
  return await runReconcile({
    client: intercepted,
    message,
    messageId: 'm',
    log: recorder.log,
    signal: AbortSignal.timeout(15_000),
  });
}

/** Returns the metrics that a reconcile with this outcome counts. */
const countedOf = (outcome: Outcome) => {
  const { log, metrics, counts } = createRecorder();
  const group = {
    key: 'k',
    message: aMessage(),
    observedAt: 1,
    afterDueAt: undefined,
    records: [],
    unverified: new Map(),
    redelivered: false,
  };
  const report = { outcome, writes: 0 };
  reportReconcile(metrics, group, { report, action: { type: 'delete' }, log, durationMs: 1, nowMs: 2 });
  return [...counts.keys()];
};

const calls: Readonly<Record<string, (request: KubeRequest) => boolean>> = {
  'first read': ({ method, path }) => method === 'GET' && path.endsWith(`/widgets/${name}`),
  finalizer: ({ method, path }) => method === 'PATCH' && path.endsWith(`/widgets/${name}`),
  'list of children': ({ method, path }) => method === 'GET' && path.endsWith('/configmaps'),
  'apply of a child': ({ method, path }) => method === 'PATCH' && path.endsWith(`/configmaps/${name}`),
  status: ({ method, path }) => method === 'PATCH' && path.endsWith('/status'),
};
const api = (status: number, reason = '', causes: readonly object[] = []) =>
  new ApiError('PATCH /x', status, { kind: 'Status', reason, message: 'no', details: { causes } });
const terminating = api(403, 'Forbidden', [{ reason: 'NamespaceTerminating', message: 'going' }]);
const unreachable = [
  ['no connection', new ConnectError('connect ECONNREFUSED')],
  ['401', api(401, 'Unauthorized')],
  ['429', api(429, 'TooManyRequests')],
] as const;
const otherErrors = [
  ['a 500', api(500, 'InternalError')],
  ['a 403', api(403, 'Forbidden')],
  ['a deadline', new DeadlineError('no response within 10 s')],
] as const;
const rows = <E extends readonly (readonly [string, Error])[]>(errors: E, stages: readonly string[]) =>
  stages.flatMap((call) => errors.map(([title, error]) => [title, call, error] as const));
const afterFirstRead = Object.keys(calls).filter((call) => call !== 'first read');
const failAt =
  (call: string, error: Error): Before =>
  async (request) => {
    if (calls[call]?.(request) === true) throw error;
  };

describe('createReconcile with failing requests', () => {
  it.each([
    ...rows(unreachable, Object.keys(calls)),
    ...rows(
      [
        ['a 503', api(503)],
        ['a 504 of a cache that lags behind', api(504, 'Timeout', [{ reason: 'ResourceVersionTooLarge' }])],
        ['a deadline', new DeadlineError('late')],
      ],
      ['first read'],
    ),
  ])('a reconcile with %s at the %s is postponed, without an attempt and without a status', async (_, call, error) => {
    expect((await reconcile(failAt(call, error))).outcome).toMatchObject({ type: 'postponed', reason: 'unreachable' });
    expect((await read())?.status).toBeUndefined();
  });

  it.each(
    rows(
      otherErrors,
      afterFirstRead.filter((call) => call !== 'status'),
    ),
  )('a reconcile with %s at the %s fails, and writes the status', async (_, call, error) => {
    expect((await reconcile(failAt(call, error))).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
    expect(conditionsOf(await read())).toContain('Reconciling');
  });

  it.each(rows(otherErrors, ['status']))('a reconcile with %s at the %s fails', async (_, call, error) => {
    expect((await reconcile(failAt(call, error))).outcome).toMatchObject({ type: 'failed' });
  });

  it.each(
    rows(
      otherErrors,
      afterFirstRead.filter((call) => call !== 'status'),
    ),
  )('a reconcile whose last attempt has %s at the %s sets Stalled', async (_, call, error) => {
    await reconcile(failAt(call, error), { attempt: 9 });
    expect(conditionsOf(await read())).toContain('Stalled');
    expect((await reconcile(failAt(call, error))).outcome).toMatchObject({ type: 'failed', stalledBefore: true });
  });

  it.each(
    Object.keys(calls),
  )('a reconcile in a terminating namespace, reported at the %s, has nothing to do', async (call) => {
    const { outcome } = await reconcile(failAt(call, terminating));
    expect(outcome).toEqual({ type: 'nothing', reason: 'namespace-terminating' });
  });

  it('a reconcile whose child an admission policy refuses ends with PolicyDenied, without a retry', async () => {
    const denied = api(403, 'Forbidden', [{ message: 'ValidatingAdmissionPolicy denied request' }]);
    const { outcome } = await reconcile(failAt('apply of a child', denied));
    expect(outcome).toMatchObject({ type: 'terminal' });
    const stalled = { type: 'Stalled', status: 'True', reason: 'PolicyDenied' };
    const conditions = expect.arrayContaining([
      expect.objectContaining(stalled),
      expect.objectContaining({ type: 'Ready', status: 'False', reason: 'PolicyDenied' }),
    ]);
    expect((await read())?.status).toMatchObject({ conditions });
    expect((await reconcile(async () => {})).outcome).toEqual({ type: 'done' });
    expect(conditionsOf(await read())).not.toContain('Stalled');
  });

  it.each([
    'finalizer',
    'status',
  ])('a reconcile of an object that is deleted just before its %s is written has nothing to do', async (call) => {
    let gone = false;
    const { outcome } = await reconcile(async (request) => {
      if (gone || calls[call]?.(request) !== true) return;
      gone = true;
      const path = `/apis/${widget.apiVersion}/namespaces/default/widgets/${name}`;
      const without = { metadata: { finalizers: [] } };
      await client.request({ method: 'PATCH', path, body: without, contentType: 'application/merge-patch+json' });
      await client.request({ method: 'DELETE', path });
    });
    expect(outcome).toEqual({ type: 'nothing', reason: 'gone' });
    expect(await read()).toBeUndefined();
  });

  it('a 404 of a write is the end of the object if another one has its name, and a failure if it exists', async () => {
    const before = await read();
    const { group, plural: resource } = widget;
    const message = aMessage({ controller: 'widget', group, resource, namespace: 'default', name });
    const error = new ApiError('PATCH /x/status', 404, { kind: 'Status', reason: 'NotFound' });
    const { signal } = new AbortController();
    const outcome = () => outcomeOfNotFound(error, { client, resource: widget, message, read: before, signal });
    expect(await outcome()).toMatchObject({ type: 'failed', error: { name: 'StatusSubresourceMissingError' } });
    await client.request({ method: 'DELETE', path: `/apis/${widget.apiVersion}/namespaces/default/widgets/${name}` });
    await apply(8);
    expect(await outcome()).toEqual({ type: 'nothing', reason: 'gone' });
  });

  it.each([
    'finalizer',
    'status',
  ])('a reconcile whose object changes just before its %s is written reads the object again', async (call) => {
    let changed = false;
    const { outcome } = await reconcile(async (request) => {
      if (changed || calls[call]?.(request) !== true) return;
      changed = true;
      await apply(8);
    });
    expect(outcome).toEqual({ type: 'done' });
    expect((await read())?.status).toMatchObject({ size: 8, observedGeneration: 2 });
  });

  const pageNotFound = new ApiError('GET /x', 404, '404 page not found\n');
  const notFound = (details: object) => new ApiError('GET /x', 404, { kind: 'Status', reason: 'NotFound', details });
  it.each([
    ['a load balancer that knows no path', pageNotFound, (path: string) => path !== ''],
    ['an HTML page', new ApiError('GET /x', 404, '<html>'), undefined],
    [
      'a Status that names another object',
      notFound({ name: 'other', kind: 'widgets', group: widget.group }),
      undefined,
    ],
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

  it('a reconcile of an existing object without a status subresource fails, and is not taken for gone', async () => {
    const details = { name, kind: 'widgets', group: widget.group };
    const error = new ApiError('PATCH /x/status', 404, { kind: 'Status', reason: 'NotFound', details });
    const { outcome } = await reconcile(failAt('status', error));
    const message = expect.stringContaining('StatusSubresourceMissing');
    expect(outcome).toMatchObject({ type: 'failed', error: { message } });
    expect(countedOf(outcome)).toContain('StatusSubresourceMissing');
  });

  it.each([409, 404])('a reconcile whose child still exists after a DELETE with %s fails', async (status) => {
    await reconcile(async () => {});
    const owned = await getObject(client, ConfigMap, { namespace: 'default', name });
    const { uid, ...metadata } = owned?.metadata ?? { name };
    const stray = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, name: `${name}-old` } };
    for (const field of ['resourceVersion', 'managedFields', 'creationTimestamp'] as const)
      delete stray.metadata[field];
    await applyObject(client, ConfigMap, stray, { fieldManager: 'outrigger/widget' });
    const refusal = async ({ method, path }: KubeRequest) => {
      if (method === 'DELETE' && path.endsWith('-old')) throw api(status, status === 409 ? 'Conflict' : 'NotFound');
    };
    const { outcome } = await reconcile(refusal);
    expect(outcome).toMatchObject({ type: 'failed', error: { message: expect.stringContaining('was not deleted') } });
    expect(conditionsOf(await read())).toContain('Reconciling');
    expect((await reconcile(async () => {})).outcome).toEqual({ type: 'done' });
    expect(await getObject(client, ConfigMap, { namespace: 'default', name: `${name}-old` })).toBeUndefined();
  });

  it('a reconcile reports `observedBefore` if the status had observed the generation', async () => {
    const noAction = async () => {};
    expect(await reconcile(noAction)).toMatchObject({ observedBefore: false, writes: 3 });
    await client.request({ method: 'DELETE', path: `/api/v1/namespaces/default/configmaps/${name}` });
    expect(await reconcile(noAction)).toMatchObject({ observedBefore: true, writes: 1 });
  });

  it('a reconcile whose Event is rejected is done, and its log has no credential', async () => {
    const report = await reconcile(async ({ path }) => {
      if (path.endsWith('/events')) throw new Error('refused: password=hunter2');
    });
    expect(report.outcome).toEqual({ type: 'done' });
    expect(recorder.lines.map(({ message }) => message)).toContain('event not recorded');
    expect(JSON.stringify(recorder.lines)).not.toContain('hunter2');
  });
});
