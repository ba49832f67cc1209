// X8, the part that is generated: what the roles give a controller for its own kind. That an API server takes them so is in
// test/cluster/cross.test.ts.
import { expect, it } from 'vitest';
import * as z from 'zod';
import { registry } from '../../src/controllers/registry.ts';
import type { Registered } from '../../src/core/controller.ts';
import { controllerIdentity, finalizerOf } from '../../src/core/names.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';

const role = z.object({
  kind: z.literal('ClusterRole'),
  metadata: z.object({ name: z.string() }),
  rules: z.array(
    z.object({ apiGroups: z.array(z.string()), resources: z.array(z.string()), verbs: z.array(z.string()) }),
  ),
});
const manifests = rbacOf(registry, watchListOf(registry));

function verbsOf({ name, declares: { resource } }: Registered, of: string): readonly string[] {
  const roles = manifests.flatMap((one) => role.safeParse(one).data ?? []);
  const own = roles.find(({ metadata }) => metadata.name === `outrigger-${name}`);
  const rules = own?.rules ?? [];
  return rules
    .filter(({ apiGroups, resources }) => apiGroups.includes(resource.group) && resources.includes(of))
    .flatMap(({ verbs }) => verbs)
    .sort();
}

it.each(
  registry,
)('X8: $name: its role has no update of its own kind, and patch only for a finalizer, narrowed by a policy', (controller) => {
  const { name, declares } = controller;
  const { plural } = declares.resource;
  expect(verbsOf(controller, plural)).toEqual(declares.finalizes ? ['get', 'list', 'patch'] : ['get', 'list']);
  expect(verbsOf(controller, `${plural}/status`)).toEqual(['patch']);
  const policies = manifests
    .filter(({ kind }) => kind === 'ValidatingAdmissionPolicy')
    .map((one) => JSON.stringify(one));
  const own = policies.filter(
    (text) => text.includes(`'${controllerIdentity(name)}'`) && text.includes(finalizerOf(name)),
  );
  expect(own).toHaveLength(declares.finalizes ? 1 : 0);
});
