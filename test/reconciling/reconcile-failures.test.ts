// What a failure means, by the call that fails: the outcome, and what the object's status says of it. The server is the
// in-memory one; failures are put between it and the reconcile.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineController } from '../../src/core/controller.ts';
import { existingKind } from '../../src/core/kind.ts';
import { defineResource } from '../../src/core/resource.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient, type KubeRequest } from '../../src/kube/client/client.ts';
import { ApiError, ConnectError, DeadlineError } from '../../src/kube/client/errors.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { startApiServer } from '../../src/apiserver/server.ts';
import type { Report } from '../../src/runtime/job.ts';
import { createReconcile } from '../../src/runtime/reconcile.ts';
import { aMessage } from '../queue/messages.ts';
import { define } from '../support/established.ts';
import { widgetDefinition } from '../support/widget-crd.ts';
import { createWitness, type Witness } from '../support/recorder.ts';

const configMap = existingKind<{ readonly metadata: { readonly name: string }; readonly data?: object }>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
});
const widget = defineResource({
  group: 'reconcile.example.com',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.number() }),
  status: z.object({ size: z.number().optional() }),
  conditions: ['Built'],
});
const controller = defineController(widget)({
  name: 'widget',
  owns: [configMap],
  async reconcile({ metadata, spec }, { children, record }) {
    record('Normal', 'Building', 'with token=hunter2');
    await children(configMap, [{ metadata: { name: metadata.name }, data: { size: `${spec.size}` } }]);
    return { status: { size: spec.size }, conditions: { Built: { status: 'True', reason: 'Built' } } };
  },
  finalize: async () => 'done',
});
const reconcileJob = createReconcile({
  name: controller.name,
  declares: controller.declares,
  running: controller.start({}),
  now: () => new Date(),
});

let server: Awaited<ReturnType<typeof startApiServer>>;
let client: KubeClient;
let name: string;
let witness: Witness;
let count = 0;
beforeAll(async () => {
  server = await startApiServer();
  client = createClient({ server: new URL(server.url) });
  await define(client, widgetDefinition);
});
afterAll(async () => {
  client.close();
  await server.close();
});
beforeEach(async () => {
  count += 1;
  name = `w${count}`;
  witness = createWitness();
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
/** Reconciles with something happening before each of the requests. */
async function reconcile(before: Before, { attempt = 0 } = {}): Promise<Report> {
  const between: KubeClient = {
    ...client,
    request: async (request) => {
      await before(request);
      return await client.request(request);
    },
  };
  const { group, plural: resource } = widget;
  const message = aMessage({ controller: 'widget', group, resource, namespace: 'default', name, attempt });
  return await reconcileJob({
    client: between,
    message,
    messageId: 'm',
    log: witness.log,
    signal: AbortSignal.timeout(15_000),
  });
}

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
const troubles = [
  ['a 500', api(500, 'InternalError')],
  ['a 403', api(403, 'Forbidden')],
  ['no answer in time', new DeadlineError('no answer within 10 s')],
] as const;
const rows = <E extends readonly (readonly [string, Error])[]>(errors: E, which: readonly string[]) =>
  which.flatMap((call) => errors.map(([said, error]) => [said, call, error] as const));
const later = Object.keys(calls).filter((call) => call !== 'first read');
const failAt =
  (call: string, error: Error): Before =>
  async (request) => {
    if (calls[call]?.(request) === true) throw error;
  };

describe('a reconcile', () => {
  it.each([
    ...rows(unreachable, Object.keys(calls)),
    ...rows(
      [
        ['a 503', api(503)],
        ['no answer in time', new DeadlineError('late')],
      ],
      ['first read'],
    ),
  ])('that meets %s at the %s is put off, without an attempt and without a word in the status', async (_, call, error) => {
    expect((await reconcile(failAt(call, error))).outcome).toMatchObject({ type: 'deferred', why: 'unreachable' });
    expect((await read())?.status).toBeUndefined();
  });

  it.each(
    rows(
      troubles,
      later.filter((call) => call !== 'status'),
    ),
  )('that meets %s at the %s has failed, and the status says so', async (_, call, error) => {
    expect((await reconcile(failAt(call, error))).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
    expect(conditionsOf(await read())).toContain('Reconciling');
  });

  it.each(rows(troubles, ['status']))('that meets %s at the %s has failed', async (_, call, error) => {
    expect((await reconcile(failAt(call, error))).outcome).toMatchObject({ type: 'failed' });
  });

  it.each(
    rows(
      troubles,
      later.filter((call) => call !== 'status'),
    ),
  )('whose last attempt meets %s at the %s leaves it Stalled, so that there is one dead letter', async (_, call, error) => {
    await reconcile(failAt(call, error), { attempt: 9 });
    expect(conditionsOf(await read())).toContain('Stalled');
    expect((await reconcile(failAt(call, error))).outcome).toMatchObject({ type: 'failed', stalledBefore: true });
  });

  it.each(Object.keys(calls))('in a namespace that is going, told at the %s, has nothing to do', async (call) => {
    const { outcome } = await reconcile(failAt(call, terminating));
    expect(outcome).toEqual({ type: 'nothing', why: 'namespace-terminating' });
  });

  it.each([
    'finalizer',
    'status',
  ])('of an object that goes just before its %s is written has nothing to do', async (call) => {
    let gone = false;
    const { outcome } = await reconcile(async (request) => {
      if (gone || calls[call]?.(request) !== true) return;
      gone = true;
      const path = `/apis/${widget.apiVersion}/namespaces/default/widgets/${name}`;
      const without = { metadata: { finalizers: [] } };
      await client.request({ method: 'PATCH', path, body: without, contentType: 'application/merge-patch+json' });
      await client.request({ method: 'DELETE', path });
    });
    expect(outcome).toEqual({ type: 'nothing', why: 'gone' });
    expect(await read()).toBeUndefined();
  });

  it.each(['finalizer', 'status'])('whose object changes just before its %s is written reads again', async (call) => {
    let changed = false;
    const { outcome } = await reconcile(async (request) => {
      if (changed || calls[call]?.(request) !== true) return;
      changed = true;
      await apply(8);
    });
    expect(outcome).toEqual({ type: 'done' });
    expect((await read())?.status).toMatchObject({ size: 8, observedGeneration: 2 });
  });

  it('of an object that nobody observed is no repair; of one whose child is gone it is', async () => {
    const undisturbed = async () => {};
    expect(await reconcile(undisturbed)).toMatchObject({ observedBefore: false, writes: 3 });
    await client.request({ method: 'DELETE', path: `/api/v1/namespaces/default/configmaps/${name}` });
    expect(await reconcile(undisturbed)).toMatchObject({ observedBefore: true, writes: 1 });
  });

  it('whose Event is refused is done, and its log has no credential', async () => {
    const report = await reconcile(async ({ path }) => {
      if (path.endsWith('/events')) throw new Error('refused: password=hunter2');
    });
    expect(report.outcome).toEqual({ type: 'done' });
    expect(witness.lines.map(({ message }) => message)).toContain('event not recorded');
    expect(JSON.stringify(witness.lines)).not.toContain('hunter2');
  });
});
