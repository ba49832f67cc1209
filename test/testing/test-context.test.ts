// What a reconciler's test can rely on: objects, whole sets of children, ownership, Events. The types that an author meets
// are part of it: what is declared wrongly does not compile.
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ChildChange } from '../../src/core/children.ts';
import { defineController } from '../../src/core/controller.ts';
import { NotOwnedError } from '../../src/core/errors.ts';
import { existingKind } from '../../src/core/kind.ts';
import { defineResource } from '../../src/core/resource.ts';
import { testContext } from '../../src/testing/test-context.ts';

type ConfigMap = { readonly metadata: { readonly name: string }; readonly data: Readonly<Record<string, string>> };
const configMap = existingKind<ConfigMap>({ group: '', version: 'v1', kind: 'ConfigMap' });
type Node = { readonly metadata: { readonly name: string }; readonly spec: { readonly podCIDR?: string } };
const node = existingKind<Node>({ group: '', version: 'v1', kind: 'Node', scope: 'Cluster' });
// Kinds are told apart by what their objects look like.
const secret = existingKind<{ readonly stringData: object }>({ group: '', version: 'v1', kind: 'Secret' });
const widget = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({}),
  status: z.object({}),
  conditions: [],
});
const controller = defineController(widget)({
  name: 'widget',
  owns: [configMap],
  reads: [node],
  clients: () => ({ ask: async () => 42 }),
  reconcile: async () => ({ status: {}, conditions: {} }),
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

describe('testContext', () => {
  it('gives what was handed in, by name and by label, in the namespace of the owner', async () => {
    const labelled = { ...named('b'), metadata: { name: 'b', namespace: 'default', labels: { colour: 'red' } } };
    const elsewhere = { ...named('c'), metadata: { name: 'c', namespace: 'other' } };
    const node1 = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'one' } };
    const context = testContext(controller, { clients, owner, objects: [named('a'), labelled, elsewhere, node1] });
    expect((await context.get(configMap, { name: 'a' }))?.metadata.name).toBe('a');
    expect(await context.get(configMap, { name: 'c' })).toBeUndefined();
    expect((await context.get(configMap, { name: 'c', namespace: 'other' }))?.metadata.name).toBe('c');
    expect((await context.list(configMap)).map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
    expect((await context.list(configMap, { colour: 'red' })).map(({ metadata }) => metadata.name)).toEqual(['b']);
    expect(await context.get(node, { name: 'one' })).toBeDefined();
    expect(await context.clients.ask()).toBe(1);
  });

  it('makes children the whole set, and says how often their spec changed', async () => {
    const context = testContext(controller, { clients, owner });
    await context.children(configMap, [child('a', { x: '1' }), child('b')]);
    await context.children(configMap, [child('a', { x: '1' })]);
    expect(await context.list(configMap)).toMatchObject([{ metadata: { name: 'a', generation: 1 }, data: { x: '1' } }]);
    await context.children(configMap, [child('a', { x: '2' })]);
    expect(await context.list(configMap)).toMatchObject([{ metadata: { name: 'a', generation: 2 }, data: { x: '2' } }]);
  });

  it('tells of children that are made, changed and deleted', async () => {
    const context = testContext(controller, { clients, owner });
    const told: unknown[] = [];
    const onChange = (change: ChildChange<ConfigMap>) =>
      void told.push([change.type, change.child.data, ...(change.type === 'changed' ? [change.before.data] : [])]);
    await context.children(configMap, [child('a', { x: '1' }), child('b', { y: '1' })], { onChange });
    await context.children(configMap, [child('a', { x: '2' })], { onChange });
    await context.children(configMap, [child('a', { x: '2' })], { onChange });
    expect(told).toEqual([
      ['created', { x: '1' }],
      ['created', { y: '1' }],
      ['changed', { x: '2' }, { x: '1' }],
      ['deleted', { y: '1' }],
    ]);
  });

  it('hands those that there are to whoever plans the set', async () => {
    const context = testContext(controller, { clients, owner });
    await context.children(configMap, [child('a', { x: '1' }), child('b')]);
    await context.children(configMap, (existing) => existing.filter(({ data }) => data?.x === '1'));
    expect((await context.list(configMap)).map(({ metadata }) => metadata.name)).toEqual(['a']);
  });

  it('prunes nothing when asked not to', async () => {
    const context = testContext(controller, { clients, owner });
    await context.children(configMap, [child('a')]);
    await context.children(configMap, [child('b')], { prune: false });
    expect(await context.list(configMap)).toHaveLength(2);
  });

  it('never touches what is not owned, and says so after the others are made', async () => {
    const stranger = named('a', { data: { x: 'theirs' } });
    const context = testContext(controller, { clients, owner, objects: [stranger] });
    await expect(context.children(configMap, [child('a'), child('b')])).rejects.toThrow(NotOwnedError);
    expect((await context.get(configMap, { name: 'a' }))?.data).toEqual({ x: 'theirs' });
    expect(await context.get(configMap, { name: 'b' })).toBeDefined();
    await context.children(configMap, []);
    expect((await context.list(configMap)).map(({ metadata }) => metadata.name)).toEqual(['a']);
  });

  it('leaves alone what another controller of the same kind has made for the same owner', async () => {
    const metadata = {
      ...{ name: 'theirs', namespace: 'default', labels: { 'outrigger.dev/controller': 'widget-peers' } },
      ownerReferences: [{ uid: owner.metadata.uid, controller: true }],
    };
    const context = testContext(controller, { clients, owner, objects: [named('theirs', { metadata })] });
    await context.children(configMap, (existing) => {
      expect(existing).toEqual([]);
      return [child('a')];
    });
    expect((await context.list(configMap)).map(({ metadata: { name } }) => name)).toEqual(['theirs', 'a']);
  });

  it('keeps what somebody else wrote to a child', async () => {
    const context = testContext(controller, { clients, owner });
    await context.children(configMap, [child('a')]);
    context.put(named('a', { status: { phase: 'Fine' } }));
    expect(await context.children(configMap, [child('a')])).toMatchObject([{ status: { phase: 'Fine' } }]);
  });

  it('remembers the Events', () => {
    const context = testContext(controller, { clients });
    context.record('Warning', 'Leaking', 'somewhere');
    expect(context.events).toEqual([{ type: 'Warning', reason: 'Leaking', message: 'somewhere' }]);
  });

  it('refuses a kind that looks like a declared one to the compiler, but is not', async () => {
    const context = testContext(controller, { clients });
    const lookalike = existingKind<ConfigMap>({ group: '', version: 'v1', kind: 'Secret' });
    await expect(context.list(lookalike)).rejects.toThrow('widget does not declare Secret');
    await expect(context.children(lookalike, [])).rejects.toThrow('widget does not own Secret');
  });

  it('does not compile for a kind that was not declared, or with other clients', async () => {
    const context = testContext(controller, { clients });
    // @ts-expect-error Secret is neither owned nor read
    await expect(context.get(secret, { name: 'a' })).rejects.toThrow('widget does not declare Secret');
    // @ts-expect-error Node is read, not owned
    await expect(context.children(node, [])).rejects.toThrow('widget does not own Node');
    // @ts-expect-error the clients lack `ask`
    testContext(controller, { clients: {} });
  });
});
