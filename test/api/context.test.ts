// What a typed context lets through to the cluster: only the kinds that its controller declared, by name.
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { UntypedContext } from '../../src/api/context.ts';
import { defineKind } from '../../src/api/custom-kind.ts';
import type { Kind } from '../../src/api/kind.ts';
import { ConfigMap, Node, Secret, Service } from '../../src/kubernetes.ts';

const widget = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({}),
  status: z.object({}),
  conditions: [],
});
const map = (name: string) => ({ metadata: { name } });
const raw = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a', uid: 'u' }, spec: {} };

/** Runs a reconciler against a cluster that allows everything and notes what it was asked for. */
async function asked(act: (context: UntypedContext) => Promise<unknown>): Promise<readonly Kind[]> {
  const seen: Kind[] = [];
  const note = (one: Kind) => {
    seen.push(one);
    return [];
  };
  const bare: UntypedContext = {
    cluster: 'a',
    signal: new AbortController().signal,
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    now: () => new Date(0),
    recordEvent: () => {},
    get: async (one) => void note(one),
    list: async (one) => note(one),
    apply: async (one) => note(one),
    applyAll: async (one, desired) => {
      if (JSON.stringify(desired([])).includes('"name":""')) throw new Error('no name');
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

describe('a context', () => {
  it.each(['get', 'list'] as const)('a context lets %s of an owned and of a read kind through', async (verb) => {
    for (const kind of [ConfigMap, Node]) {
      expect(await asked((context) => context[verb](kind, { name: 'x' }))).toEqual([kind]);
    }
  });

  it.each(['get', 'list'] as const)('a context refuses %s of a kind that is not declared', async (verb) => {
    const error = await asked((context) => context[verb](Secret, { name: 'x' })).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain('widget does not declare Secret');
  });

  it.each(['apply', 'applyAll', 'tryApplyAll'] as const)('a context’s %s writes owned kinds only', async (verb) => {
    const write = (kind: Kind) =>
      asked(
        (context) =>
          (context as unknown as Record<string, (kind: Kind, desired: object) => Promise<unknown>>)[verb]?.(kind, []) ??
          Promise.reject(),
      );
    expect(await write(ConfigMap)).toEqual([ConfigMap]);
    await expect(write(Node)).rejects.toThrow('widget does not own Node');
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

  it.each(['applyAll', 'tryApplyAll'] as const)('%s refuses to delete what an earlier one applied', async (verb) => {
    const both = asked(async (context) => {
      const write = Reflect.get(context, verb);
      await write(ConfigMap, () => [map('a')]);
      const { failure } = await write(ConfigMap, () => [map('b')]);
      throw failure.error;
    });
    await expect(both).rejects.toThrow('widget: this applyAll of ConfigMap would delete a, which an earlier one');
  });

  it('a context permits a larger set, a set that deletes nothing, and a set after one that failed', async () => {
    const calls = await asked(async ({ applyAll }) => {
      const failing = applyAll(ConfigMap, () => [map('a'), map('')]);
      await failing.catch(() => undefined);
      await applyAll(ConfigMap, () => [map('b')]);
      await applyAll(ConfigMap, () => [map('b'), map('c')]);
      await applyAll(ConfigMap, () => [map('d')], { prune: false });
    });
    expect(calls).toEqual([ConfigMap, ConfigMap, ConfigMap]);
  });

  it('a context lets each kind have its own way, and the same way again', async () => {
    const mixed = await asked(async (context) => {
      await context.applyAll(ConfigMap, () => []);
      await context.applyAll(ConfigMap, () => []);
      await context.apply(Service, { metadata: { name: 'a' } });
    });
    expect(mixed).toEqual([ConfigMap, ConfigMap, Service]);
  });
});
