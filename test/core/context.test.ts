// What a typed context lets through to the cluster: only the kinds that its controller declared, by name.
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { BareContext } from '../../src/core/context.ts';
import { defineController } from '../../src/core/controller.ts';
import { existingKind, type Kind } from '../../src/core/kind.ts';
import { defineResource } from '../../src/core/resource.ts';

type Named = { readonly metadata: { readonly name: string } };
const configMap = existingKind<Named>({ group: '', version: 'v1', kind: 'ConfigMap' });
const node = existingKind<Named>({ group: '', version: 'v1', kind: 'Node', scope: 'Cluster' });
// To the compiler it is a ConfigMap.
const lookalike = existingKind<Named>({ group: '', version: 'v1', kind: 'Secret' });

const widget = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({}),
  status: z.object({}),
  conditions: [],
});
const raw = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a', uid: 'u' }, spec: {} };

/** Runs a reconciler against a cluster that allows everything and notes what it was asked for. */
async function asked(act: 'get' | 'list' | 'children', kind: typeof configMap): Promise<readonly Kind[]> {
  const seen: Kind[] = [];
  const note = (one: Kind) => {
    seen.push(one);
    return [];
  };
  const bare: BareContext = {
    cluster: 'a',
    signal: new AbortController().signal,
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    now: () => new Date(0),
    record: () => {},
    get: async (one) => void note(one),
    list: async (one) => note(one),
    children: async (one) => note(one),
    exec: () => Promise.reject(new Error('no commands here')),
  };
  const controller = defineController(widget)({
    name: 'widget',
    owns: [configMap],
    reads: [node],
    reconcile: async (_, context) => {
      if (act === 'get') await context.get(kind, { name: 'x' });
      else if (act === 'list') await context.list(kind);
      else await context.children(kind, []);
      return { status: {}, conditions: {} };
    },
  });
  await controller.start({}).reconcile(raw, bare);
  return seen;
}

describe('a context', () => {
  it.each(['get', 'list'] as const)('lets %s of an owned and of a read kind through', async (act) => {
    expect(await asked(act, configMap)).toEqual([configMap]);
    expect(await asked(act, node)).toEqual([node]);
  });

  it.each(['get', 'list'] as const)('refuses %s of a kind that only looks like a declared one', async (act) => {
    const error = await asked(act, lookalike).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain('widget does not declare Secret');
  });

  it('makes children of owned kinds only', async () => {
    expect(await asked('children', configMap)).toEqual([configMap]);
    await expect(asked('children', node)).rejects.toThrow('widget does not own Node');
    await expect(asked('children', lookalike)).rejects.toThrow('widget does not own Secret');
  });
});
