// A registry for tests: one kind with two controllers, children, reads, watches and settings of every sort.
import * as z from 'zod';
import { type Declaration, defineController, type Registered } from '../../src/core/controller.ts';
import type { ExecDeclaration } from '../../src/api/exec.ts';
import { existingKind, type Meta } from '../../src/core/kind.ts';
import { defineResource } from '../../src/core/resource.ts';

type Any = { readonly metadata: Meta };
const service = existingKind<Any>({ group: '', version: 'v1', kind: 'Service' });
const secret = existingKind<Any>({ group: '', version: 'v1', kind: 'Secret' });
const pod = existingKind<Any>({ group: '', version: 'v1', kind: 'Pod' });
const weather = existingKind<Any>({ group: 'sky.example.com', version: 'v1', kind: 'Weather', aggregated: true });
const slice = existingKind<Any>({ group: 'discovery.k8s.io', version: 'v1', kind: 'EndpointSlice' });

const treeKind = defineResource({
  group: 'orchard.example.com',
  version: 'v1',
  kind: 'Tree',
  spec: z.object({ apples: z.int().min(0) }),
  status: z.object({ pruned: z.int().optional(), grafted: z.int().optional() }),
  conditions: ['Ripe'],
});
const ripe = { status: {}, conditions: { Ripe: { status: 'True', reason: 'Ripe' } } } as const;

const tree = defineController(treeKind)({
  name: 'tree',
  owns: [service],
  reads: [secret, service],
  watches: [
    { kind: slice, label: 'kubernetes.io/service-name' },
    { kind: secret, keys: async () => [] },
    { kind: pod, label: 'secret', names: secret },
    { kind: weather, keys: async () => [] },
  ],
  settings: z.object({
    ORCHARD_URL: z.url(),
    WORM_LIMIT: z.coerce.number().int().default(3),
    NOTE: z.string().optional(),
  }),
  clients: (settings) => settings,
  reconcile: async () => ripe,
});
const treePruner = defineController(treeKind, { status: ['pruned'], conditions: ['Pruned'] })({
  name: 'tree-pruner',
  settings: z.object({ ORCHARD_URL: z.url(), NOTE: z.string() }),
  clients: (settings) => settings,
  reconcile: async () => ({ status: { pruned: 1 }, conditions: { Pruned: { status: 'True', reason: 'Pruned' } } }),
  finalize: async () => 'done',
});

export const orchard: readonly Registered[] = [tree, treePruner];

/** A registry of one controller that runs commands. */
export function running(exec: ExecDeclaration): readonly Registered[] {
  return [defineController(treeKind)({ name: 'tree', exec, reconcile: async () => ripe })];
}

/** A registry of one controller with a name and settings of one's choice. */
export function only(name: string, settings: z.ZodObject = z.object({})): readonly Registered[] {
  return [defineController(treeKind)({ name, settings, clients: () => ({}), reconcile: async () => ripe })];
}

/** The orchard with one more controller of the same kind, or of one of the same name, that declares what it likes. */
export function orchardWith(name: string, declares: Partial<Declaration>): readonly Registered[] {
  return [...orchard, { ...tree, name, declares: { ...tree.declares, settings: z.object({}), ...declares } }];
}

/** Another kind of the same name. */
export const otherTreeKind = defineResource({
  ...{ group: 'orchard.example.com', version: 'v1', kind: 'Tree' },
  ...{ spec: z.object({}), status: z.object({}), conditions: [] },
});
