// The generated part of X8: the permissions of a controller for its own kind. test/cluster/least-privilege.test.ts verifies them on a real API server.
import { expect, it } from 'vitest';
import * as z from 'zod';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { registry } from '../../src/controllers/registry.ts';
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

function verbsOf({ name, declaration: { resource } }: ControllerDefinition, of: string): readonly string[] {
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
)('X8: $name: its role has no update on its own kind, and patch only for a finalizer, narrowed by a policy', (controller) => {
  const { name, declaration } = controller;
  const { plural } = declaration.resource;
  expect(verbsOf(controller, plural)).toEqual(declaration.finalizes ? ['get', 'list', 'patch'] : ['get', 'list']);
  expect(verbsOf(controller, `${plural}/status`)).toEqual(['patch']);
  const policies = manifests
    .filter(({ kind }) => kind === 'ValidatingAdmissionPolicy')
    .map((one) => JSON.stringify(one));
  const own = policies.filter(
    (text) => text.includes(`'${controllerIdentity(name)}'`) && text.includes(finalizerOf(name)),
  );
  expect(own).toHaveLength(declaration.finalizes ? 1 : 0);
});
