// A registry for tests: one kind with two controllers, and with children, reads, watches and settings of every type.
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import type { ControllerDeclaration, ControllerDefinition } from '../../src/api/definition.ts';
import type { ExecSpec } from '../../src/api/exec.ts';
import { foreignKind } from '../../src/api/foreign-kind.ts';
import { EndpointSlice, Pod, Secret, Service } from '../../src/kubernetes.ts';

const weather = foreignKind({ group: 'sky.example.com', version: 'v1', kind: 'Weather', aggregated: true });

const Tree = defineKind({
  group: 'orchard.example.com',
  version: 'v1',
  kind: 'Tree',
  spec: z.object({ apples: z.int().min(0) }),
  status: z.object({ pruned: z.int().optional(), grafted: z.int().optional() }),
  conditions: ['Ripe'],
});
const ripe = { status: {}, conditions: { Ripe: { status: 'True', reason: 'Ripe' } } } as const;

const tree = Tree.controller('tree', {
  owns: [Service],
  reads: [Secret, Service],
  settings: z.object({
    ORCHARD_URL: z.url(),
    WORM_LIMIT: z.coerce.number().int().default(3),
    NOTE: z.string().optional(),
  }),
  clients: (settings) => settings,
  watches: [
    { kind: EndpointSlice, label: 'kubernetes.io/service-name' },
    { kind: Secret, mapToKeys: async () => [] },
    { kind: Pod, label: 'secret', via: Secret },
    { kind: weather, mapToKeys: async () => [] },
  ],
  reconcile: async () => ripe,
});
const treePruner = Tree.statusSlice({ status: ['pruned'], conditions: ['Pruned'] }).controller('tree-pruner', {
  settings: z.object({ ORCHARD_URL: z.url(), NOTE: z.string() }),
  clients: (settings) => settings,
  reconcile: async () => ({ status: { pruned: 1 }, conditions: { Pruned: { status: 'True', reason: 'Pruned' } } }),
  finalize: async () => 'done',
});

export const fixtureRegistry: readonly ControllerDefinition[] = [tree, treePruner];

/** A registry of one controller that runs commands. */
export function running(exec: ExecSpec): readonly ControllerDefinition[] {
  return [Tree.controller('tree', { exec, reconcile: async () => ripe })];
}

/** A registry of one controller with a given name and settings. */
export function only(name: string, settings: z.ZodObject = z.object({})): readonly ControllerDefinition[] {
  return [Tree.controller(name, { settings, clients: () => ({}), reconcile: async () => ripe })];
}

/** A controller of trees, or of another kind of that name, with a given declaration and no settings. */
export function treeWith(name: string, declaration: Partial<ControllerDeclaration> = {}): ControllerDefinition {
  return { ...tree, name, declaration: { ...tree.declaration, settings: z.object({}), ...declaration } };
}

/** The registry with a third controller, whose status slice has these fields and conditions. */
export function withGrafter(status: readonly string[], conditions: readonly string[]): readonly ControllerDefinition[] {
  return [...fixtureRegistry, treeWith('grafter', { statusSlice: { status, conditions } })];
}

/** Another kind of the same name. */
export const OtherTree = defineKind({
  group: 'orchard.example.com',
  version: 'v1',
  kind: 'Tree',
  spec: z.object({}),
  status: z.object({}),
  conditions: [],
});
