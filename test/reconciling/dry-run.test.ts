// A played reconcile beside a real one, on the in-memory API server: it says what the real one then writes, and writes nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineController, type Registered } from '../../src/core/controller.ts';
import { type ApiServer, startApiServer } from '../../src/apiserver/server.ts';
import { createRehearse } from '../../src/runtime/rehearse.ts';
import { built, configMap, silent, widget, widgetsOn } from './widgets.ts';

let server: ApiServer;
const commands: (readonly string[])[] = [];
beforeAll(async () => {
  server = await startApiServer({
    execute: async ({ command }) => {
      commands.push(command);
      return { exitCode: 0, stdout: 'two', stderr: '' };
    },
  });
});
afterAll(() => server.close());

const writes = () => server.requests().filter(({ method }) => method !== 'GET').length;

describe('a rehearsal', () => {
  const widgets = widgetsOn(() => ({ server: new URL(server.url) }));
  const rehearse = async (name: string, controller: Registered | undefined = widgets.registry[0]) => {
    if (controller === undefined) throw new Error('no controller');
    const before = writes();
    const parts = {
      controller,
      running: controller.start({}),
      client: widgets.client,
      log: silent,
      now: () => new Date(),
    };
    const signal = AbortSignal.timeout(15_000);
    const played = await createRehearse(parts).run(widgets.messageFor(name), { signal });
    expect(writes()).toBe(before);
    return played;
  };
  const titles = async (name: string) =>
    (await rehearse(name)).changes.map((change) =>
      'object' in change ? `${change.type} ${change.object}` : change.type,
    );

  it('of a new object names its finalizer, its children and its status, in the order of the writes', async () => {
    await widgets.apply('one', { size: 1, parts: ['left', 'right'] });
    const at = (name: string) => `${widgets.namespace}/${name}`;
    expect(await titles('one')).toEqual([
      `change Widget ${at('one')}`,
      `create ConfigMap ${at('left')}`,
      `create ConfigMap ${at('right')}`,
      `change Widget ${at('one')} (status)`,
    ]);
    expect((await widgets.read('one'))?.metadata.finalizers).toBeUndefined();
  });

  it('of a converged object is empty', async () => {
    await widgets.apply('one', { size: 1, parts: ['left'] });
    await widgets.reconcile('one');
    expect(await rehearse('one')).toMatchObject({ changes: [], outcome: { type: 'done' } });
  });

  it('of a change shows exactly the fields that the reconcile then changes', async () => {
    await widgets.apply('one', { size: 1, parts: ['left', 'right'] });
    await widgets.reconcile('one');
    await widgets.apply('one', { size: 2, parts: ['left'] });
    const { changes } = await rehearse('one');
    const of = (type: string, object: string) =>
      changes.find((one) => one.type === type && 'object' in one && one.object === object);
    const at = (name: string) => `${widgets.namespace}/${name}`;
    expect(of('change', `ConfigMap ${at('left')}`)).toMatchObject({
      fields: [{ path: 'data.size', before: '1', after: '2' }],
    });
    expect(of('delete', `ConfigMap ${at('right')}`)).toBeDefined();
    expect(of('change', `Widget ${at('one')} (status)`)).toMatchObject({
      fields: expect.arrayContaining([
        { path: 'status.observedGeneration', before: 1, after: 2 },
        { path: 'status.size', before: 1, after: 2 },
      ]),
    });
    await widgets.reconcile('one');
    expect(await rehearse('one')).toMatchObject({ changes: [] });
  });

  it('of a reconcile that throws says so, and what its status would say', async () => {
    widgets.behaviour.reconcile = async () => {
      throw new Error('no clay');
    };
    await widgets.apply('one', { size: 1 });
    const { outcome, changes } = await rehearse('one');
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'no clay' } });
    expect(JSON.stringify(changes)).toContain('no clay');
  });

  it('of an object that is being deleted shows that the finalizer would go', async () => {
    await widgets.apply('one', { size: 1 });
    await widgets.reconcile('one');
    await widgets.remove('one');
    const { changes } = await rehearse('one');
    expect(changes).toMatchObject([
      { type: 'change', fields: [{ path: 'metadata.finalizers', before: ['outrigger.dev/widget'], after: [] }] },
    ]);
    expect(await widgets.read('one')).toBeDefined();
  });

  it('of an object that is not there is nothing', async () => {
    expect(await rehearse('nobody')).toMatchObject({ changes: [], outcome: { type: 'nothing', why: 'gone' } });
  });

  it('records Events, runs commands that only look, and shows those that change something', async () => {
    const teller = defineController(widget)({
      name: 'widget',
      owns: [configMap],
      settings: z.object({}),
      exec: { container: 'main', commands: [['count'], { argv: ['add'], changes: true }] },
      async reconcile(_, { exec, record }) {
        const { stdout } = await exec({ name: 'pod' }, 'main', ['count']);
        const added = await exec({ name: 'pod' }, 'main', ['add', 'one']);
        record('Normal', 'Counted', `${stdout} and ${added.exitCode}`);
        return { status: { size: 2 }, conditions: { Built: built } };
      },
    });
    await widgets.apply('one', { size: 1 });
    const pod = { metadata: { name: 'pod' }, spec: { nodeName: 'node', containers: [{ name: 'main', image: 'any' }] } };
    const path = `/api/v1/namespaces/${widgets.namespace}/pods`;
    await widgets.client.request({ method: 'POST', path, body: { apiVersion: 'v1', kind: 'Pod', ...pod } });
    const status = { phase: 'Running', containerStatuses: [{ name: 'main', state: { running: {} } }] };
    await widgets.client.request({
      method: 'PATCH',
      path: `${path}/pod/status`,
      contentType: 'application/merge-patch+json',
      body: { status },
    });
    const { changes, outcome } = await rehearse('one', teller);
    expect(outcome).toEqual({ type: 'done' });
    expect(commands).toEqual([['count']]);
    expect(changes).toContainEqual({ type: 'command', pod: 'pod', container: 'main', command: ['add', 'one'] });
    expect(changes).toContainEqual({ type: 'event', text: 'Normal Counted: two and 0' });
  });
});
