// A dry run and a real reconcile on the in-memory API server: the dry run returns the writes of the real one, and
// writes nothing.

import { type ApiServer, startApiServer } from '@outrigger/apiserver';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { createDryRun } from '../../src/reconciling/dry-run.ts';
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

const widgets = widgetsOn(() => ({ server: new URL(server.url) }));
const dryRun = async (name: string, controller: ControllerDefinition = widgets.registry[0]) => {
  const before = writes();
  const { client } = widgets;
  const deps = { controller, instance: controller.start({}), client, log: silent, now: () => new Date() };
  const signal = AbortSignal.timeout(15_000);
  const result = await createDryRun(deps).run(widgets.messageFor(name), { signal });
  expect(writes()).toBe(before);
  return result;
};
const inNamespace = (name: string) => `${widgets.namespace}/${name}`;
const titles = async (name: string) =>
  (await dryRun(name)).changes.map((change) => ('object' in change ? `${change.type} ${change.object}` : change.type));

it('a dry run of a new object returns its finalizer, children and status, in the order of the writes', async () => {
  await widgets.apply('one', { size: 1, parts: ['left', 'right'] });
  expect(await titles('one')).toEqual([
    `change Widget ${inNamespace('one')}`,
    `create ConfigMap ${inNamespace('left')}`,
    `create ConfigMap ${inNamespace('right')}`,
    `change Widget ${inNamespace('one')} (status)`,
  ]);
  expect((await widgets.read('one'))?.metadata.finalizers).toBeUndefined();
});

it('a dry run shows the writes of an object and of a child that are named as a subresource or another kind', async () => {
  await widgets.apply('status', { size: 1, parts: ['events'] });
  expect(await titles('status')).toEqual([
    `change Widget ${inNamespace('status')}`,
    `create ConfigMap ${inNamespace('events')}`,
    `change Widget ${inNamespace('status')} (status)`,
  ]);
  await widgets.reconcile('status');
  await widgets.apply('status', { size: 2, parts: [] });
  expect(await titles('status')).toEqual([
    `delete ConfigMap ${inNamespace('events')}`,
    `change Widget ${inNamespace('status')} (status)`,
  ]);
});

it('a dry run of a change shows exactly the fields that the reconcile then changes, and a later one has no changes', async () => {
  await widgets.apply('one', { size: 1, parts: ['left', 'right'] });
  await widgets.reconcile('one');
  await widgets.apply('one', { size: 2, parts: ['left'] });
  const { changes } = await dryRun('one');
  const of = (type: string, object: string) =>
    changes.find((one) => one.type === type && 'object' in one && one.object === object);
  expect(of('change', `ConfigMap ${inNamespace('left')}`)).toMatchObject({
    fields: [{ path: 'data.size', before: '1', after: '2' }],
  });
  expect(of('delete', `ConfigMap ${inNamespace('right')}`)).toBeDefined();
  expect(of('change', `Widget ${inNamespace('one')} (status)`)).toMatchObject({
    fields: expect.arrayContaining([
      { path: 'status.observedGeneration', before: 1, after: 2 },
      { path: 'status.size', before: 1, after: 2 },
    ]),
  });
  await widgets.reconcile('one');
  expect(await dryRun('one')).toMatchObject({ changes: [], outcome: { type: 'done' } });
});

it('N1: a dry run shows what goes from a map of the status that becomes empty', async () => {
  await widgets.apply('one', { size: 1 });
  widgets.returns({ status: { size: 1, zones: ['b', 'a'].map((name) => ({ name, nodes: { 'a/~1': 'x' } })) } });
  await widgets.reconcile('one');
  widgets.returns({ status: { size: 1, zones: ['b', 'a'].map((name) => ({ name, nodes: {} })) } });
  const { changes, outcome } = await dryRun('one');
  expect(outcome).toEqual({ type: 'done' });
  const fields = changes.flatMap((change) => ('fields' in change ? change.fields : []));
  expect(fields).toEqual(['a', 'b'].map((name) => ({ path: `status.zones[${name}].nodes.a/~1`, before: 'x' })));
});

it('a dry run shows what a patch of managedFields lets go, and the patch itself not', async () => {
  await widgets.apply('one', { size: 1, parts: ['left'] });
  await widgets.reconcile('one');
  const path = widgets.childPath('left');
  // Two edits end with the value of the child, and co-own it.
  await widgets.mergePatch('left', { data: { size: '2', theirs: '1' } }, path);
  await widgets.mergePatch('left', { data: { size: '1' } }, path);
  await widgets.reconcile('one');
  widgets.behaviour.reconcile = async (_, { applyAll }) => {
    await applyAll(configMap, [{ metadata: { name: 'left' }, data: { other: 'x' } }]);
    return { status: { size: 1 }, conditions: { Built: built } };
  };
  const { changes } = await dryRun('one');
  expect(changes).toEqual([
    {
      type: 'change',
      object: `ConfigMap ${inNamespace('left')}`,
      fields: [
        { path: 'data.other', after: 'x' },
        { path: 'data.size', before: '1' },
      ],
    },
  ]);
  await widgets.reconcile('one');
  const [left] = await widgets.children();
  expect(left).toMatchObject({ data: { other: 'x', theirs: '1' } });
  expect(Object.keys(Object(left?.data))).not.toContain('size');
});

it('a dry run of an object that is being deleted removes its finalizer', async () => {
  await widgets.apply('one', { size: 1 });
  await widgets.reconcile('one');
  await widgets.remove('one');
  const { changes } = await dryRun('one');
  expect(changes).toMatchObject([
    { type: 'change', fields: [{ path: 'metadata.finalizers', before: ['outrigger.dev/widget'], after: [] }] },
  ]);
  expect(await widgets.read('one')).toBeDefined();
});

it('a dry run records Events, runs read-only commands, and shows mutating ones', async () => {
  const counter = widget.controller('widget', {
    owns: [configMap],
    settings: z.object({}),
    exec: { container: 'main', commands: [['count'], { argv: ['add'], mutates: true }] },
    async reconcile(_, { exec, recordEvent }) {
      const { stdout } = await exec({ name: 'pod' }, 'main', ['count']);
      const added = await exec({ name: 'pod' }, 'main', ['add', 'one']);
      recordEvent('Normal', 'Counted', `${stdout} and ${added.exitCode}`);
      return { status: { size: 2 }, conditions: { Built: built } };
    },
  });
  await widgets.apply('one', { size: 1 });
  const pod = { metadata: { name: 'pod' }, spec: { nodeName: 'node', containers: [{ name: 'main', image: 'any' }] } };
  const path = `/api/v1/namespaces/${widgets.namespace}/pods`;
  await widgets.client.request({ method: 'POST', path, body: { apiVersion: 'v1', kind: 'Pod', ...pod } });
  const status = { phase: 'Running', containerStatuses: [{ name: 'main', state: { running: {} } }] };
  await widgets.mergePatch('pod', { status }, `${path}/pod/status`);
  const { changes, outcome } = await dryRun('one', counter);
  expect(outcome).toEqual({ type: 'done' });
  expect(commands).toEqual([['count']]);
  expect(changes).toContainEqual({ type: 'command', pod: 'pod', container: 'main', command: ['add', 'one'] });
  expect(changes).toContainEqual({ type: 'event', text: 'Normal Counted: two and 0' });
});
