// What a reconciler's test can rely on: objects, whole sets of children, ownership, Events. The types that an author meets
// are part of it: what is declared wrongly does not compile.
import { expect, it } from 'vitest';
import * as z from 'zod';
import type { ChildChange } from '../../src/api/apply.ts';
import { defineKind } from '../../src/api/custom-kind.ts';
import { NotOwnedError } from '../../src/core/errors.ts';
import { ConfigMap, Deployment, Node, Secret } from '../../src/kubernetes.ts';
import type { ObjectOf } from '../../src/outrigger.ts';
import { testContext } from '../../src/testing/test-context.ts';

const widget = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({}),
  status: z.object({}),
  conditions: [],
});
const reconcile = async () => ({ status: {}, conditions: {} });
const controller = widget.controller('widget', {
  owns: [ConfigMap],
  reads: [Node],
  clients: () => ({ ask: async () => 42 }),
  reconcile,
});
const clients = { ask: async () => 1 };
const owner = widget.object('a', {});
const named = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  ...more,
});
const child = (name: string, data: Record<string, string> = {}) => ({ metadata: { name }, data });

it('testContext gives what was handed in, by name and by label, in the namespace of the owner', async () => {
  const labelled = { ...named('b'), metadata: { name: 'b', namespace: 'default', labels: { colour: 'red' } } };
  const elsewhere = { ...named('c'), metadata: { name: 'c', namespace: 'other' } };
  const node1 = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'one' } };
  const context = testContext(controller, { clients, owner, objects: [named('a'), labelled, elsewhere, node1] });
  expect((await context.get(ConfigMap, { name: 'a' }))?.metadata.name).toBe('a');
  expect(await context.get(ConfigMap, { name: 'c' })).toBeUndefined();
  expect((await context.get(ConfigMap, { name: 'c', namespace: 'other' }))?.metadata.name).toBe('c');
  expect((await context.list(ConfigMap)).map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
  expect((await context.list(ConfigMap, { colour: 'red' })).map(({ metadata }) => metadata.name)).toEqual(['b']);
  expect(await context.list(ConfigMap, {}, { namespace: 'other' })).toMatchObject([elsewhere]);
  expect(await context.list(ConfigMap, {}, { namespace: '*' })).toHaveLength(3);
  expect(await context.get(Node, { name: 'one' })).toBeDefined();
  expect(await context.clients.ask()).toBe(1);
});

it('testContext has the owner among its objects, so that a mapping function finds it', async () => {
  const followed = widget.controller('followed', { reads: [widget], reconcile });
  const other = { ...named('b', { spec: {} }), apiVersion: widget.apiVersion, kind: 'Widget' };
  const context = testContext(followed, { owner, objects: [other] });
  expect((await context.list(widget)).map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
  expect(await context.get(widget, { name: 'a' })).toEqual(owner);
});

it('testContext counts the changes of a spec in the generation, which a ConfigMap does not have', async () => {
  const workloads = widget.controller('workloads', { owns: [ConfigMap, Deployment], reconcile });
  const context = testContext(workloads, { owner });
  const apply = async (replicas: number) =>
    (await context.apply(Deployment, { metadata: { name: 'a' }, spec: { replicas } })).metadata.generation;
  expect([await apply(1), await apply(1), await apply(2)]).toEqual([1, 1, 2]);
  context.put(named('theirs'));
  await context.apply(ConfigMap, child('ours'));
  expect((await context.list(ConfigMap)).map(({ metadata }) => metadata.generation)).toEqual([undefined, undefined]);
});

it('applyAll of a testContext makes, changes and deletes children, and passes each change to onChange', async () => {
  const context = testContext(controller, { clients, owner });
  const told: unknown[] = [];
  const onChange = (change: ChildChange<ObjectOf<typeof ConfigMap>>) =>
    void told.push([change.type, change.child.data, ...(change.type === 'updated' ? [change.before.data] : [])]);
  await context.applyAll(ConfigMap, [child('a', { x: '1' }), child('b', { y: '1' })], { onChange });
  await context.applyAll(ConfigMap, [child('a', { x: '2' })], { onChange });
  await context.applyAll(ConfigMap, [child('a', { x: '2' })], { onChange });
  expect(told).toEqual([
    ['created', { x: '1' }],
    ['created', { y: '1' }],
    ['updated', { x: '2' }, { x: '1' }],
    ['deleted', { y: '1' }],
  ]);
  expect(await context.list(ConfigMap)).toMatchObject([{ metadata: { name: 'a' }, data: { x: '2' } }]);
});

it('applyAll passes the existing children to a planning function', async () => {
  const context = testContext(controller, { clients, owner });
  await context.applyAll(ConfigMap, [child('a', { x: '1' }), child('b')]);
  await context.applyAll(ConfigMap, (existing) => existing.filter(({ data }) => data?.x === '1'));
  expect((await context.list(ConfigMap)).map(({ metadata }) => metadata.name)).toEqual(['a']);
});

it('applyAll with prune: false deletes no child', async () => {
  const context = testContext(controller, { clients, owner });
  await context.applyAll(ConfigMap, [child('a')]);
  await context.applyAll(ConfigMap, [child('b')], { prune: false });
  expect(await context.list(ConfigMap)).toHaveLength(2);
});

it('applyAll never writes a foreign object, and throws NotOwnedError after the others are applied', async () => {
  const stranger = named('a', { data: { x: 'theirs' } });
  const context = testContext(controller, { clients, owner, objects: [stranger] });
  await expect(context.applyAll(ConfigMap, [child('a'), child('b')])).rejects.toThrow(NotOwnedError);
  expect((await context.get(ConfigMap, { name: 'a' }))?.data).toEqual({ x: 'theirs' });
  expect(await context.get(ConfigMap, { name: 'b' })).toBeDefined();
  await context.applyAll(ConfigMap, []);
  expect((await context.list(ConfigMap)).map(({ metadata }) => metadata.name)).toEqual(['a']);
});

it('testContext leaves alone what another controller of the same kind has made for the same owner', async () => {
  const metadata = {
    name: 'theirs',
    namespace: 'default',
    labels: { 'outrigger.dev/controller': 'widget-peers' },
    ownerReferences: [{ uid: owner.metadata.uid, controller: true }],
  };
  const context = testContext(controller, { clients, owner, objects: [named('theirs', { metadata })] });
  await context.applyAll(ConfigMap, (existing) => {
    expect(existing).toEqual([]);
    return [child('a')];
  });
  expect((await context.list(ConfigMap)).map(({ metadata: { name } }) => name)).toEqual(['theirs', 'a']);
});

it('apply keeps fields of another manager on a child', async () => {
  const context = testContext(controller, { clients, owner });
  await context.applyAll(ConfigMap, [child('a')]);
  context.put(named('a', { status: { phase: 'Fine' } }));
  expect(await context.applyAll(ConfigMap, [child('a')])).toMatchObject([{ status: { phase: 'Fine' } }]);
});

it('testContext neither writes nor deletes a child that is being deleted, as the runtime', async () => {
  const context = testContext(controller, { clients, owner });
  await context.applyAll(ConfigMap, [child('a', { x: '1' })]);
  context.put(named('a', { metadata: { name: 'a', namespace: 'default', deletionTimestamp: '2026-01-01T00:00:00Z' } }));
  expect(await context.applyAll(ConfigMap, [child('a', { x: '2' })])).toMatchObject([{ data: { x: '1' } }]);
  await context.applyAll(ConfigMap, []);
  expect(await context.list(ConfigMap)).toMatchObject([{ metadata: { name: 'a' } }]);
});

it('testContext has the recorded Events', () => {
  const context = testContext(controller, { clients });
  context.recordEvent('Warning', 'Leaking', 'somewhere');
  expect(context.events).toEqual([{ type: 'Warning', reason: 'Leaking', message: 'somewhere' }]);
});

it('apply makes one child and deletes none; a name that is taken is a NotOwnedError', async () => {
  const context = testContext(controller, { clients, owner, objects: [named('taken')] });
  await context.apply(ConfigMap, child('a', { x: '1' }));
  await context.apply(ConfigMap, { metadata: { name: 'b', annotations: { note: 'kept' } } });
  expect(await context.apply(ConfigMap, child('a', { x: '2' }))).toMatchObject({ data: { x: '2' } });
  expect(await context.get(ConfigMap, { name: 'b' })).toMatchObject({ metadata: { annotations: { note: 'kept' } } });
  await expect(context.apply(ConfigMap, child('taken'))).rejects.toThrow(NotOwnedError);
});

it('testContext stores the stringData of a Secret as base64 in its data, as the runtime and the API server do', async () => {
  const secrets = widget.controller('secrets', { owns: [Secret], reconcile });
  const context = testContext(secrets, { owner });
  const [kind, stringData, data] = [{ apiVersion: 'v1', kind: 'Secret' }, { k: 'v' }, { k: 'dg==' }];
  context.put({ ...kind, metadata: { name: 'theirs', namespace: 'default' }, stringData });
  await context.apply(Secret, { metadata: { name: 'ours' }, stringData });
  const [theirs, ours] = await context.list(Secret);
  expect([theirs, ours]).toMatchObject([{ data }, { data }]);
  expect({ ...theirs, ...ours }).not.toHaveProperty('stringData');
});

it('testContext refuses a child without a namespace of an object with one, as the runtime does', async () => {
  const nodes = widget.controller('nodes', { owns: [Node], reconcile: async () => ({ status: {}, conditions: {} }) });
  const applying = testContext(nodes, { owner }).apply(Node, { metadata: { name: 'n' } });
  await expect(applying).rejects.toThrow(
    "Node n cannot be a child of default/a: it is outside the owner's namespace; reconcile a cluster-scoped kind",
  );
});

it('children of a cluster-scoped object live in the namespaces that they name', async () => {
  const Site = defineKind({
    group: 'example.com',
    version: 'v1',
    kind: 'Site',
    scope: 'Cluster',
    conditions: [],
    spec: z.object({}),
    status: z.object({}),
  });
  const site = Site.controller('site', { owns: [ConfigMap], reconcile });
  const context = testContext(site, { owner: Site.object('s', {}) });
  await context.applyAll(ConfigMap, [
    { metadata: { name: 'a', namespace: 'one' } },
    { metadata: { name: 'a', namespace: 'two' } },
  ]);
  expect((await context.list(ConfigMap)).map(({ metadata }) => metadata.namespace)).toEqual(['one', 'two']);
  const nowhere = JSON.parse('{"metadata":{"name":"a"}}');
  await expect(context.apply(ConfigMap, nowhere)).rejects.toThrow(
    'ConfigMap a needs metadata.namespace, as s has none',
  );
});

it('testContext does not compile for a kind that was not declared, or with other clients', async () => {
  const context = testContext(controller, { clients });
  // @ts-expect-error Secret is neither owned nor read
  await expect(context.get(Secret, { name: 'a' })).rejects.toThrow('widget does not declare Secret');
  // @ts-expect-error Node is read, not owned
  await expect(context.applyAll(Node, [])).rejects.toThrow('widget does not own Node');
  // @ts-expect-error the clients lack `ask`
  testContext(controller, {});
});
