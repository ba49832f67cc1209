// The reconcile against an API server, as cases that any server must pass: what is in the cluster afterwards. The messages
// that follow are outcome.test.ts and batch.test.ts.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Context, Log } from '../../src/core/context.ts';
import { defineController } from '../../src/core/controller.ts';
import { TerminalError } from '../../src/core/errors.ts';
import { existingKind } from '../../src/core/kind.ts';
import { type Custom, defineResource } from '../../src/core/resource.ts';
import type { Finalized, Result } from '../../src/core/result.ts';
import { pausedAnnotation } from '../../src/core/words.ts';
import { applyObject } from '../../src/kube/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client.ts';
import type { Connection } from '../../src/kube/connection.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { getObject, listPages } from '../../src/kube/read.ts';
import type { Message } from '../../src/queue/message.ts';
import { createReconcile, type Report } from '../../src/runtime/reconcile.ts';
import { established } from '../support/established.ts';
import { widgetDefinition } from './widget.ts';

type ConfigMap = { readonly metadata: { readonly name: string }; readonly data?: Readonly<Record<string, string>> };
const configMap = existingKind<ConfigMap>({ group: '', version: 'v1', kind: 'ConfigMap' });
const eventKind = existingKind<object>({ group: '', version: 'v1', kind: 'Event' });
const namespaces = existingKind<object>({ group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' });

const widget = defineResource({
  group: 'reconcile.example.com',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.number(), parts: z.array(z.string()).default([]) }),
  status: z.object({ size: z.number().optional(), note: z.string().optional() }),
  conditions: ['Built'],
});

type Spec = { readonly size: number; readonly parts: readonly string[] };
type Status = { readonly size?: number | undefined; readonly note?: string | undefined };
type Given = Context<typeof configMap, never, object>;
type Behaviour = {
  reconcile(object: Custom<Spec, Status>, context: Given): Promise<Result<Status, 'Built'>>;
  finalize(object: Custom<Spec, Status>, context: Given): Promise<Finalized>;
};

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const built = { status: 'True', reason: 'Built' } as const;

/** Declares the cases for a server. */
export function reconcileCases(connect: () => Connection): void {
  let client: KubeClient;
  let requests: string[];
  let namespace: string;
  let behaviour: Behaviour;
  let count = 0;

  const controller = defineController(widget)({
    name: 'widget',
    owns: [configMap],
    reconcile: (object, context) => behaviour.reconcile(object, context),
    finalize: (object, context) => behaviour.finalize(object, context),
  });
  const reconcileJob = createReconcile({
    name: controller.name,
    declares: controller.declares,
    running: controller.start({}),
    now: () => new Date(),
  });

  beforeAll(async () => {
    client = createClient(connect(), { onRequest: (method, path) => requests.push(`${method} ${path}`) });
    requests = [];
    const definitions = existingKind<object>({
      group: 'apiextensions.k8s.io',
      version: 'v1',
      kind: 'CustomResourceDefinition',
      scope: 'Cluster',
    });
    await applyObject(client, definitions, widgetDefinition, { fieldManager: 'test' });
    await established(client, widgetDefinition.metadata.name);
  });
  afterAll(() => client.close());

  beforeEach(async () => {
    count += 1;
    namespace = `reconcile-${process.pid}-${count}`;
    await applyObject(
      client,
      namespaces,
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      { fieldManager: 'test' },
    );
    behaviour = {
      reconcile: async ({ spec }, { children }) => {
        await children(
          configMap,
          spec.parts.map((name) => ({ metadata: { name }, data: { size: `${spec.size}` } })),
        );
        return { status: { size: spec.size }, conditions: { Built: built } };
      },
      finalize: async () => 'done',
    };
  });

  const apply = async (name: string, spec: object, metadata: object = {}) =>
    await applyObject(
      client,
      widget,
      { apiVersion: widget.apiVersion, kind: widget.kind, metadata: { name, namespace, ...metadata }, spec },
      { fieldManager: 'user' },
    );
  const read = async (name: string) => await getObject(client, widget, { namespace, name });
  const messageFor = (name: string, more: Partial<Message> = {}): Message => ({
    v: 1,
    controller: 'widget',
    cluster: 'test',
    group: widget.group,
    resource: widget.plural,
    namespace,
    name,
    lane: 'watch',
    attempt: 0,
    deferrals: 0,
    seenAt: 0,
    ...more,
  });
  const reconcile = async (name: string, more: Partial<Message> = {}): Promise<Report> =>
    await reconcileJob({
      client,
      message: messageFor(name, more),
      messageId: 'm',
      log: silent,
      signal: AbortSignal.timeout(15_000),
    });
  const condition = (object: KubeObject | undefined, type: string) => {
    const status = z.object({ conditions: z.array(z.looseObject({ type: z.string() })).default([]) });
    return status.parse(object?.status ?? {}).conditions.find((one) => one.type === type);
  };
  const remove = async (name: string) =>
    await client.request({
      method: 'DELETE',
      path: `/apis/${widget.apiVersion}/namespaces/${namespace}/widgets/${name}`,
    });

  describe('a reconcile', () => {
    it('writes the status with every declared condition, Ready, and the generation it was made from', async () => {
      await apply('a', { size: 3 });
      expect((await reconcile('a')).outcome).toEqual({ type: 'done' });
      const after = await read('a');
      expect(after?.status).toMatchObject({ size: 3, observedGeneration: 1 });
      expect(condition(after, 'Ready')).toMatchObject({ status: 'True', observedGeneration: 1 });
    });

    it('has its finalizer persisted before the first effect', async () => {
      await apply('a', { size: 3 });
      let seen: readonly string[] | undefined;
      behaviour.reconcile = async () => {
        seen = (await read('a'))?.metadata.finalizers;
        return { status: {}, conditions: { Built: built } };
      };
      await reconcile('a');
      expect(seen).toEqual(['outrigger.dev/widget']);
    });

    it('of a converged object costs one GET, one list for each owned kind, and no write', async () => {
      await apply('a', { size: 3, parts: ['one', 'two'] });
      await reconcile('a');
      const before = await read('a');
      requests.length = 0;
      const report = await reconcile('a');
      expect(requests.map((request) => request.replace(namespace, 'N'))).toEqual([
        `GET /apis/${widget.apiVersion}/namespaces/N/widgets/a`,
        'GET /api/v1/namespaces/N/configmaps',
      ]);
      expect(report.writes).toBe(0);
      expect((await read('a'))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
    });

    it('asked for later says so in its outcome', async () => {
      await apply('a', { size: 3 });
      behaviour.reconcile = async () => ({ status: {}, conditions: { Built: built }, requeueAfterSeconds: 7 });
      expect((await reconcile('a')).outcome).toEqual({ type: 'done', requeueAfterSeconds: 7 });
    });

    it('of an object that is gone writes nothing', async () => {
      expect((await reconcile('missing')).outcome).toEqual({ type: 'nothing', why: 'gone' });
    });

    it('of a paused object writes nothing', async () => {
      const before = await apply('a', { size: 3 }, { annotations: { [pausedAnnotation]: 'true' } });
      expect((await reconcile('a')).outcome).toEqual({ type: 'nothing', why: 'paused' });
      expect((await read('a'))?.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    });

    it('that reads a stale version is made again from a fresh one, and observes what it was made from', async () => {
      await apply('a', { size: 3 });
      await reconcile('a');
      let runs = 0;
      const make = behaviour.reconcile;
      behaviour.reconcile = async (object, context) => {
        runs += 1;
        if (runs === 1) await apply('a', { size: 5 });
        return await make(object, context);
      };
      await apply('a', { size: 4 });
      expect((await reconcile('a')).outcome.type).toBe('done');
      expect((await read('a'))?.status).toMatchObject({ size: 5, observedGeneration: 3 });
      expect(runs).toBe(2);
    });

    it('that never sees a fresh version is put off without an attempt', async () => {
      await apply('a', { size: 3 });
      let size = 10;
      behaviour.reconcile = async () => {
        size += 1;
        await apply('a', { size });
        return { status: { size }, conditions: { Built: built } };
      };
      expect((await reconcile('a')).outcome).toMatchObject({ type: 'deferred', why: 'conflict' });
    });
  });

  describe('a reconcile that fails', () => {
    it('keeps what it owned and says what is wrong; the next success takes that back', async () => {
      await apply('a', { size: 3 });
      const good = behaviour.reconcile;
      await reconcile('a');
      behaviour.reconcile = async () => {
        throw new Error('no pump');
      };
      expect((await reconcile('a')).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
      const failed = await read('a');
      expect(failed?.status).toMatchObject({ size: 3, observedGeneration: 1 });
      expect(condition(failed, 'Built')).toMatchObject({ status: 'True' });
      expect(condition(failed, 'Reconciling')).toMatchObject({ status: 'True', message: 'no pump' });
      behaviour.reconcile = good;
      await reconcile('a');
      expect(condition(await read('a'), 'Reconciling')).toBeUndefined();
    });

    it('at its last attempt is Stalled, and after that gets one attempt a message', async () => {
      await apply('a', { size: 3 });
      behaviour.reconcile = async () => {
        throw new Error('no pump');
      };
      expect((await reconcile('a', { attempt: 9 })).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
      expect(condition(await read('a'), 'Stalled')).toMatchObject({ status: 'True', reason: 'GaveUp' });
      expect((await reconcile('a')).outcome).toMatchObject({ type: 'failed', stalledBefore: true });
    });

    it('with a TerminalError is Stalled at once', async () => {
      await apply('a', { size: 3 });
      behaviour.reconcile = async () => {
        throw new TerminalError('cannot be');
      };
      expect((await reconcile('a')).outcome.type).toBe('terminal');
      const after = await read('a');
      expect(condition(after, 'Stalled')).toMatchObject({ status: 'True', message: 'cannot be' });
      expect(condition(after, 'Ready')).toMatchObject({ status: 'False', reason: 'TerminalError' });
    });

    it('with a status to write writes it, and goes on as if thrown', async () => {
      await apply('a', { size: 3 });
      behaviour.reconcile = async () => ({
        status: { note: 'half' },
        conditions: { Built: { status: 'False', reason: 'NoPump' } },
        retry: new Error('no pump'),
      });
      expect((await reconcile('a')).outcome.type).toBe('failed');
      const after = await read('a');
      expect(after?.status).toMatchObject({ note: 'half', observedGeneration: 1 });
      expect(condition(after, 'Ready')).toMatchObject({ status: 'False', reason: 'NoPump' });
      expect(condition(after, 'Reconciling')).toMatchObject({ message: 'no pump' });
    });

    it('with a spec that it cannot read is Ready=False/InvalidSpec, naming the field', async () => {
      await apply('a', { size: 'large' });
      expect((await reconcile('a')).outcome.type).toBe('terminal');
      const ready = condition(await read('a'), 'Ready');
      expect(ready).toMatchObject({ status: 'False', reason: 'InvalidSpec' });
      expect(String(ready?.message)).toContain('spec.size');
    });

    it('with a result of unknown fields is an error that names them', async () => {
      await apply('a', { size: 3 });
      const strange: Status = Object.assign({ size: 3 }, { colour: 'red' });
      behaviour.reconcile = async () => ({ status: strange, conditions: { Built: built } });
      const { outcome } = await reconcile('a');
      expect(outcome).toMatchObject({ type: 'failed' });
      expect(String(condition(await read('a'), 'Reconciling')?.message)).toContain('status.colour');
    });

    it('with a delay that is not a number is an error that names it', async () => {
      await apply('a', { size: 3 });
      behaviour.reconcile = async () => ({ status: {}, conditions: { Built: built }, requeueAfterSeconds: Number.NaN });
      expect((await reconcile('a')).outcome.type).toBe('failed');
      expect(String(condition(await read('a'), 'Reconciling')?.message)).toContain('requeueAfterSeconds');
    });

    it('by asking for a kind that only looks like a declared one says which', async () => {
      await apply('a', { size: 3 });
      const lookalike = existingKind<ConfigMap>({ group: '', version: 'v1', kind: 'Secret' });
      behaviour.reconcile = async (_, { list }) => {
        await list(lookalike);
        return { status: {}, conditions: { Built: built } };
      };
      expect((await reconcile('a')).outcome.type).toBe('failed');
      expect(condition(await read('a'), 'Reconciling')).toMatchObject({
        message: 'widget does not declare Secret, so it would be forbidden in a cluster',
      });
    });

    it('for want of a server is put off', async () => {
      const nobody = createClient({ server: new URL('http://127.0.0.1:9') });
      const job = {
        client: nobody,
        message: messageFor('a'),
        messageId: 'm',
        log: silent,
        signal: AbortSignal.timeout(10_000),
      };
      expect((await reconcileJob(job)).outcome).toMatchObject({ type: 'deferred', why: 'unreachable' });
      nobody.close();
    });
  });

  describe('a deletion', () => {
    it('runs finalize, and the object goes when it is done', async () => {
      await apply('a', { size: 3 });
      await reconcile('a');
      await remove('a');
      expect(await read('a')).toBeDefined();
      await reconcile('a');
      expect(await read('a')).toBeUndefined();
    });

    it('that finalize cannot finish keeps the object and says why', async () => {
      await apply('a', { size: 3 });
      await reconcile('a');
      await remove('a');
      behaviour.finalize = async () => {
        throw new Error('pantry down');
      };
      expect((await reconcile('a')).outcome.type).toBe('failed');
      expect(condition(await read('a'), 'Finalized')).toMatchObject({ status: 'False', message: 'pantry down' });
      behaviour.finalize = async () => ({ requeueAfterSeconds: 4, reason: 'Draining' });
      expect((await reconcile('a')).outcome).toEqual({ type: 'done', requeueAfterSeconds: 4 });
      expect(condition(await read('a'), 'Finalized')).toMatchObject({ status: 'False', reason: 'Draining' });
    });

    it('takes away only our finalizer', async () => {
      await apply('a', { size: 3 }, { finalizers: ['example.com/other'] });
      await reconcile('a');
      await remove('a');
      await reconcile('a');
      expect((await read('a'))?.metadata.finalizers).toEqual(['example.com/other']);
    });

    it('before the first reconcile is left alone', async () => {
      await apply('a', { size: 3 }, { finalizers: ['example.com/other'] });
      await remove('a');
      const before = await read('a');
      expect((await reconcile('a')).outcome).toEqual({ type: 'nothing', why: 'not-ours' });
      expect((await read('a'))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
    });

    it('with an unreadable spec keeps the finalizer until the spec is mended', async () => {
      await apply('a', { size: 3 });
      await reconcile('a');
      await apply('a', { size: 'large' });
      await remove('a');
      expect((await reconcile('a')).outcome.type).toBe('terminal');
      expect(condition(await read('a'), 'Finalized')).toMatchObject({ status: 'False', reason: 'InvalidSpec' });
      await apply('a', { size: 4 });
      await reconcile('a');
      expect(await read('a')).toBeUndefined();
    });
  });

  describe('children', () => {
    const maps = async () => {
      const found: KubeObject[] = [];
      for await (const { items } of listPages(client, configMap, {
        namespace,
        labelSelector: 'outrigger.dev/controller=widget',
      })) {
        found.push(...items);
      }
      return found;
    };

    it('are made with a controller reference, mended when they drift, and pruned when not wanted', async () => {
      const owner = await apply('a', { size: 3, parts: ['one', 'two'] });
      await reconcile('a');
      const made = await maps();
      expect(made.map(({ metadata }) => metadata.name)).toEqual(['one', 'two']);
      expect(made[0]?.metadata.ownerReferences).toEqual([
        {
          apiVersion: widget.apiVersion,
          kind: 'Widget',
          name: 'a',
          uid: owner.metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
      await client.request({
        method: 'PATCH',
        path: `/api/v1/namespaces/${namespace}/configmaps/one`,
        contentType: 'application/merge-patch+json',
        body: { data: { size: '99', theirs: 'kept' } },
      });
      expect((await reconcile('a')).writes).toBe(1);
      expect((await maps())[0]).toMatchObject({ data: { size: '3', theirs: 'kept' } });
      await apply('a', { size: 3, parts: ['two'] });
      await reconcile('a');
      expect((await maps()).map(({ metadata }) => metadata.name)).toEqual(['two']);
    });

    it('that had to be made again are a repair of what had been observed', async () => {
      await apply('a', { size: 3, parts: ['one'] });
      expect(await reconcile('a')).toMatchObject({ observedBefore: false });
      await client.request({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}/configmaps/one` });
      expect(await reconcile('a')).toMatchObject({ observedBefore: true, writes: 1, noops: 0 });
      expect(await reconcile('a')).toMatchObject({ observedBefore: true, writes: 0, noops: 0 });
    });

    it('a name that is taken is never touched, and the object says NotOwned', async () => {
      const theirs = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'one', namespace },
        data: { size: 'theirs' },
      };
      const before = await applyObject(client, configMap, theirs, { fieldManager: 'user' });
      await apply('a', { size: 3, parts: ['one', 'two'] });
      expect((await reconcile('a')).outcome.type).toBe('failed');
      expect((await getObject(client, configMap, { namespace, name: 'one' }))?.metadata.resourceVersion).toBe(
        before.metadata.resourceVersion,
      );
      expect(await getObject(client, configMap, { namespace, name: 'two' })).toBeDefined();
      expect(condition(await read('a'), 'Ready')).toMatchObject({ status: 'False', reason: 'NotOwned' });
    });
  });

  it('an Event that says the same again is counted, not piled up', async () => {
    await apply('a', { size: 3 });
    behaviour.reconcile = async (_, { record }) => {
      record('Normal', 'Filled', 'the widget is full');
      return { status: {}, conditions: { Built: built } };
    };
    for (let runs = 0; runs < 3; runs += 1) await reconcile('a');
    const found: KubeObject[] = [];
    for await (const { items } of listPages(client, eventKind, { namespace })) found.push(...items);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ reason: 'Filled', count: 3, type: 'Normal' });
  });
}
