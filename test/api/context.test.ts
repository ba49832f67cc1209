// What a typed context lets through to the cluster: only the kinds that its controller declared, by name.
import { expect, it } from 'vitest';
import * as z from 'zod';
import type { ChildChange } from '../../src/api/apply.ts';
import type { UntypedContext } from '../../src/api/context.ts';
import { defineKind } from '../../src/api/custom-kind.ts';
import type { Kind, ObjectOf } from '../../src/api/kind.ts';
import { ConfigMap, Node, Secret, Service } from '../../src/kubernetes.ts';
import { errorClassOf } from '../../src/reconciling/classify-error.ts';
import { testContext } from '../../src/testing/test-context.ts';
import { aMessage } from '../sqs/messages.ts';

const widget = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  conditions: [],
  spec: z.object({}),
  status: z.object({}),
});
const map = (name: string, more: object = {}) => ({ metadata: { name, ...more } });
const live = (name: string, more: object = {}) => map(name, { namespace: 'default', uid: `uid-${name}`, ...more });
const raw = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a', uid: 'u' }, spec: {} };

/** Runs a reconciler against a cluster that has these children and allows everything, and notes what it was asked for. */
async function asked(
  act: (context: UntypedContext) => Promise<unknown>,
  existing: readonly object[] = [],
): Promise<readonly Kind[]> {
  const seen: Kind[] = [];
  const note = (one: Kind) => {
    seen.push(one);
    return [];
  };
  const bare: UntypedContext = {
    cluster: 'a',
    namespace: 'default',
    signal: new AbortController().signal,
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    now: () => new Date(0),
    recordEvent: () => {},
    count: () => {},
    deleteSelf: async () => {},
    get: async (one) => void note(one),
    list: async (one) => note(one),
    apply: async (one) => note(one),
    applyAll: async (one, desired) => {
      desired(existing);
      return note(one);
    },
    exec: () => Promise.reject(new Error('no commands here')),
    setMetadata: () => Promise.reject(new Error('no metadata here')),
  };
  const controller = widget.controller('widget', {
    owns: [ConfigMap, Service],
    reads: [Node],
    reconcile: async (_, context) => {
      // As a caller has it whose types do not hold: what is tested is what happens at run time.
      await act(context as unknown as UntypedContext);
      return { status: {}, conditions: {} };
    },
  });
  await controller.start({}).reconcile(raw, bare);
  return seen;
}

it.each(['get', 'list'] as const)('a context lets %s of an owned and of a read kind through', async (verb) => {
  for (const kind of [ConfigMap, Node]) {
    expect(await asked((context) => context[verb](kind, { name: 'x' }))).toEqual([kind]);
  }
});

it.each(['get', 'list'] as const)('a context refuses %s of a kind that is not declared', async (verb) => {
  const error = await asked((context) => context[verb](Secret, { name: 'x' })).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TypeError);
  expect(String(error)).toContain('widget does not declare Secret; add it to `owns` or `reads`');
});

it('a context refuses a list whose labels are in a field `labels`, which would select nothing', async () => {
  const error = await asked((context) => context.list(Node, { labels: 'm' })).catch((thrown: unknown) => thrown);
  expect(String(error)).toMatch(/^TypeError: widget lists Node by a label of the name labels; give the labels/);
});

it.each(['apply', 'applyAll', 'tryApplyAll'] as const)('a context’s %s writes owned kinds only', async (verb) => {
  const write = (kind: Kind) =>
    asked(
      (context) =>
        (context as unknown as Record<string, (kind: Kind, desired: object) => Promise<unknown>>)[verb]?.(kind, []) ??
        Promise.reject(),
    );
  expect(await write(ConfigMap)).toEqual([ConfigMap]);
  await expect(write(Node)).rejects.toThrow('widget does not own Node; add it to `owns`');
  await expect(write(Secret)).rejects.toThrow('widget does not own Secret');
});

it('a context refuses apply and applyAll of one kind in one reconcile, in either order', async () => {
  const one = { metadata: { name: 'a' } };
  const orders = [
    async (context: UntypedContext) => [
      await context.apply(ConfigMap, one),
      await context.applyAll(ConfigMap, () => []),
    ],
    async (context: UntypedContext) => [
      await context.applyAll(ConfigMap, () => []),
      await context.apply(ConfigMap, one),
    ],
  ];
  for (const order of orders) {
    const error = await asked(order).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain('widget writes ConfigMap by apply and by applyAll in one reconcile');
  }
});

const Part = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Part',
  conditions: [],
  spec: z.object({ size: z.number() }),
  status: z.object({}),
});
const parts = widget.controller('parts', { owns: [Part], reconcile: async () => ({ status: {}, conditions: {} }) });
const owner = { metadata: { name: 'a', uid: 'u' } };
const ours = {
  ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'a', uid: 'u', controller: true }],
};
const part = { apiVersion: 'example.com/v1', kind: 'Part', ...live('p', ours), spec: { size: 'large' } };

it.each<[string, (context: UntypedContext) => Promise<unknown>]>([
  ['get', ({ get }) => get(Part, { name: 'p' })],
  ['list', ({ list }) => list(Part)],
  ['applyAll of a function', ({ applyAll }) => applyAll(Part, () => [])],
])('%s of an object that zod refuses throws an error that is retried and names the object', async (_, read) => {
  const context = testContext(parts, { owner, objects: [part] });
  const error = await read(context as unknown as UntypedContext).catch((thrown: unknown) => thrown);
  expect(errorClassOf(error, 'later', aMessage())).toBe('error');
  expect(String(error)).toMatch(/^Error: Part default\/p cannot be read: spec\.size: /);
});

it('applyAll of an array overwrites a child that zod refuses, also with onChange', async () => {
  const context = testContext(parts, { owner, objects: [part] });
  const sizes: number[] = [];
  const { reconcile } = widget.controller('parts', {
    owns: [Part],
    reconcile: async (_, { applyAll }) => {
      const onChange = ({ child }: ChildChange<ObjectOf<typeof Part>>) => void sizes.push(child.spec.size);
      for (const _ of ['once', 'again']) await applyAll(Part, [{ ...map('p'), spec: { size: 1 } }], { onChange });
      return { status: {}, conditions: {} };
    },
  });
  await reconcile(widget.object('a', {}), context);
  expect(sizes).toEqual([1]);
});

it.each([
  'applyAll',
  'tryApplyAll',
] as const)('%s throws for a set that would delete a child of the other', async (verb) => {
  const seen: unknown[] = [];
  const both = asked(
    async (context) => {
      const write = Reflect.get(context, verb);
      seen.push(await write(ConfigMap, () => [map('a')]));
      seen.push(await write(ConfigMap, [map('b')]));
    },
    [live('a')],
  );
  await expect(both).rejects.toThrow('widget would delete ConfigMap default/a by this applyAll, which an earlier one');
  expect(seen).toHaveLength(1);
});

it('a set that is applied at the same time as another one is refused, too', async () => {
  const both = asked(
    async ({ applyAll }) =>
      await Promise.all([applyAll(ConfigMap, () => [map('a')]), applyAll(ConfigMap, () => [map('b')])]),
    [live('a'), live('b')],
  );
  await expect(both).rejects.toThrow('would delete ConfigMap default/a');
});

it.each<[string, readonly object[], readonly object[], object]>([
  ['has the children of the first and one more', [live('a')], [map('a'), map('b')], {}],
  ['names the same child with its namespace', [live('a')], [map('a', { namespace: 'default' })], {}],
  ['deletes nothing', [live('a')], [map('b')], { prune: false }],
  ['leaves out a child that could not be applied', [], [map('b')], {}],
  ['leaves out a child that is being deleted', [live('a', { deletionTimestamp: 'now' })], [map('b')], {}],
  ['deletes a child that the first did not have', [live('a'), live('old')], [map('a')], {}],
])('a second set is permitted if it %s', async (_, existing, second, options) => {
  const calls = await asked(async ({ applyAll }) => {
    await applyAll(ConfigMap, () => [map('a')], options);
    await applyAll(ConfigMap, () => second, options);
  }, existing);
  expect(calls).toEqual([ConfigMap, ConfigMap]);
});

it('a context lets each kind have its own way, and the same way again', async () => {
  const mixed = await asked(async (context) => {
    await context.applyAll(ConfigMap, () => []);
    await context.applyAll(ConfigMap, () => []);
    await context.apply(Service, { metadata: { name: 'a' } });
  });
  expect(mixed).toEqual([ConfigMap, ConfigMap, Service]);
});
