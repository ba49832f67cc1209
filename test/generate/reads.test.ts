// Only what is generated for kinds that are read in named namespaces: Roles, the namespaces of access entries, the watch
// list, and what is refused. What the context refuses is test/api/reads.test.ts, and what the watcher sends is
// test/forwarding/watch-loops.test.ts.

import { generatedFiles } from '@outrigger/cli/project/manifests';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import type { ControllerDeclaration, ControllerDefinition } from '../../src/api/definition.ts';
import { accessEntries, fleetWatcherAccess } from '../../src/generate/rbac/access-entries.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { ConfigMap, Namespace, Pod, Secret } from '../../src/kubernetes.ts';
import { foreignKind, inNamespaces } from '../../src/outrigger.ts';
import { allowedBy, lackedGrant } from '../../src/testing/battery/least-rbac.ts';

const more = { spec: z.object({}), status: z.object({}), conditions: [] };
const Zone = defineKind({ group: 'reads.example.com', version: 'v1', kind: 'Zone', scope: 'Cluster', ...more });
const zone = Zone.controller('zone', {
  reads: [inNamespaces(Secret, ['platform', 'certs'])],
  reconcile: async () => ({ status: {}, conditions: {} }),
});
const zoneWith = (declaration: Partial<ControllerDeclaration>) => ({
  ...zone,
  declaration: { ...zone.declaration, ...declaration },
});

const watching = zoneWith({ watches: [{ kind: Secret }] });
const secretsOf = (registry: readonly ControllerDefinition[], namespaces?: readonly string[]) =>
  watchListOf(registry, undefined, namespaces).resources.find(({ plural }) => plural === 'secrets');

const role = z.object({
  kind: z.enum(['Role', 'ClusterRole', 'RoleBinding']),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }),
  rules: z.array(z.object({ resources: z.array(z.string()), verbs: z.array(z.string()) })).optional(),
});

/** `kind namespace: verbs resource, ...` of each role and binding of the controller, or of the watcher. */
function rolesOf(
  namespaces?: readonly string[],
  { registry = [zone], name = 'outrigger-zone' }: { registry?: readonly ControllerDefinition[]; name?: string } = {},
): readonly string[] {
  return rbacOf(registry, watchListOf(registry, undefined, namespaces))
    .flatMap((one) => role.safeParse(one).data ?? [])
    .filter(({ metadata }) => metadata.name === name)
    .map(({ kind, metadata, rules = [] }) => {
      const permitted = rules.map(({ resources, verbs }) => `${verbs.join('+')} ${resources.join('+')}`);
      return [kind, ...(metadata.namespace === undefined ? [] : [metadata.namespace]), ...permitted].join(' ');
    });
}

it('a kind that is read in named namespaces is in a Role and RoleBinding of each, and in no ClusterRole', () => {
  expect(rolesOf()).toEqual([
    'ClusterRole get+list zones patch zones/status get namespaces create+patch events',
    'Role platform get+list secrets',
    'RoleBinding platform',
    'Role certs get+list secrets',
    'RoleBinding certs',
  ]);
});

it('a project with namespaces reads a kind in the namespaces that its controller names, also in others', () => {
  expect(rolesOf(['shop', 'certs'])).toEqual([
    'ClusterRole get+list zones patch zones/status get namespaces',
    'Role shop create+patch events',
    'RoleBinding shop',
    'Role certs get+list secrets create+patch events',
    'RoleBinding certs',
    'Role default create+patch events',
    'RoleBinding default',
    'Role platform get+list secrets',
    'RoleBinding platform',
  ]);
  expect(generatedFiles([zone], [], undefined, ['shop'])).toBeInstanceOf(Map);
  const ofAnotherGroup = foreignKind({ group: 'vault.example.com', version: 'v1', kind: 'Secret' });
  expect(generatedFiles([zoneWith({ owns: [ofAnotherGroup] })])).toBeInstanceOf(Map);
});

it('the access of a function includes the namespaces in which it has a Role', () => {
  const placesOf = (namespaces?: readonly string[]) =>
    accessEntries([zone], undefined, namespaces).find((one) => one.function === 'zone')?.namespaces;
  expect(placesOf()).toEqual(['platform', 'certs']);
  expect(placesOf(['shop', 'certs'])).toEqual(['shop', 'certs', 'default', 'platform']);
});

it('a kind that is watched, and read in named namespaces, is in a Role of the watcher in each, as for a fleet watcher', () => {
  expect(rolesOf(undefined, { registry: [watching], name: 'outrigger-watcher' })).toEqual([
    'ClusterRole list+watch zones get namespaces',
    'Role platform list+watch secrets',
    'RoleBinding platform',
    'Role certs list+watch secrets',
    'RoleBinding certs',
    'Role outrigger-system get+patch configmaps',
    'RoleBinding outrigger-system',
  ]);
  const placesOf = (namespaces?: readonly string[]) =>
    fleetWatcherAccess(watchListOf([watching], undefined, namespaces)).namespaces;
  expect(placesOf()).toEqual(['platform', 'certs']);
  expect(placesOf(['shop', 'certs'])).toEqual(['shop', 'certs', 'platform']);
});

it('a kind that another controller watches, too, is watched where either of them does, and each is sent its own', () => {
  const other = { ...ConfigMap.controller('other', { reconcile: async () => undefined }) };
  const all = { ...other, declaration: { ...other.declaration, reads: [Secret], watches: [{ kind: Secret }] } };
  const of = (namespaces?: readonly string[]) => {
    const secrets = secretsOf([watching, all], namespaces);
    return [secrets?.namespaces, ...(secrets?.subscribers ?? []).map((one) => one.namespaces)];
  };
  expect(of()).toEqual([undefined, ['platform', 'certs'], undefined]);
  expect(of(['shop', 'certs'])).toEqual([
    ['platform', 'certs', 'shop'],
    ['platform', 'certs'],
    ['shop', 'certs'],
  ]);
});

it('a watched label that names an object of a kind that is read in named namespaces is sent from these alone', () => {
  const pods = { kind: Pod, label: 'secret', via: Secret };
  const sentFrom = (more: object) => {
    const reads = [inNamespaces(Secret, ['platform', 'certs'])];
    const { resources } = watchListOf([zoneWith({ reads, watches: [{ ...pods, ...more }, { kind: Secret }] })]);
    return resources.find(({ plural }) => plural === 'pods')?.subscribers[0]?.namespaces;
  };
  expect(sentFrom({})).toEqual(['platform', 'certs']);
  expect(sentFrom({ selector: { namespaces: ['shop', 'certs'] } })).toEqual(['certs']);
  const labelled = zoneWith({
    reads: [inNamespaces(Secret, ['platform', 'certs'])],
    watches: [pods, { kind: Secret }],
  });
  const other = { ...zoneWith({ reads: [inNamespaces(Pod, ['certs'])], watches: [{ kind: Pod }] }), name: 'other' };
  const { resources } = watchListOf([labelled, other], undefined, ['shop', 'platform']);
  const watched = resources.find(({ plural }) => plural === 'pods');
  expect(watched?.subscribers.map(({ namespaces }) => namespaces)).toEqual([['platform'], ['certs']]);
});

it('a kind is watched in at most 20 namespaces, those of all controllers and of the project together', () => {
  const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `n${from + index}`);
  const watchingIn = (...lists: readonly (readonly string[])[]) =>
    lists.map((places, index) => ({
      ...zoneWith({ reads: [inNamespaces(Secret, places)], watches: [{ kind: Secret }] }),
      name: `zone-${index}`,
    }));
  expect(secretsOf(watchingIn(numbered(0, 15), numbered(5, 20)))?.namespaces).toHaveLength(20);
  const message = 'watches of secrets: reads name 21 namespaces in all, and each would have a watch; name 20 at most';
  expect(() => secretsOf(watchingIn(numbered(0, 15), numbered(5, 21)))).toThrow(message);
  const maps = ConfigMap.controller('maps', { watches: [{ kind: Secret, label: 'map' }], reconcile: async () => {} });
  expect(() => secretsOf([...watchingIn(numbered(0, 20)), maps], ['shop'])).toThrow(message);
  expect(secretsOf([...watchingIn(numbered(0, 21)), maps])?.namespaces).toBeUndefined();
});

it('the battery takes the Roles of the namespace of a request, and of a Role that a controller makes', () => {
  const secrets = (namespace: string) => ({ method: 'GET', path: `/api/v1/namespaces/${namespace}/secrets` }) as const;
  const isAllowed = allowedBy(zone);
  expect(['platform', 'certs', 'default'].map((namespace) => isAllowed(secrets(namespace)))).toEqual([
    true,
    true,
    false,
  ]);
  expect(isAllowed({ method: 'GET', path: '/api/v1/secrets' })).toBe(false);
  const lacked = lackedGrant(zone);
  const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];
  const granting = (kind: string, metadata: object) => lacked({ kind, metadata, rules });
  expect(granting('Role', { namespace: 'certs' })).toBeUndefined();
  expect(granting('Role', { namespace: 'default' })).toBe('get secrets');
  expect(granting('ClusterRole', {})).toBe('get secrets');
});

const secrets = inNamespaces(Secret, ['certs']);
it.each<[string, Partial<ControllerDeclaration>, string]>([
  ['a kind without a namespace', { reads: [inNamespaces(Namespace, ['a'])] }, 'Namespace has no namespace'],
  ['no namespace', { reads: [inNamespaces(Secret, [])] }, 'names no namespace; use the kind itself for all'],
  ['what is no name', { reads: [inNamespaces(Secret, ['a', '*'])] }, '"*" is not a name of a namespace'],
  ['a kind twice', { reads: [secrets, inNamespaces(Secret, ['a'])] }, 'secrets are in reads twice; keep one entry'],
  ['a kind that is also read in all', { reads: [Secret, secrets] }, 'secrets are in reads twice; keep one entry'],
  [
    'a kind that is owned',
    { reads: [secrets], owns: [ConfigMap, Secret] },
    'reconciles or owns secrets, so it reads all',
  ],
  ['the kind that it reconciles', { resource: Secret, reads: [secrets] }, 'reconciles or owns secrets'],
  [
    'a kind that is watched in others',
    { reads: [secrets], watches: [{ kind: Secret, selector: { namespaces: ['certs', 'shop'] } }] },
    'a selector in watches names shop, where secrets are not read; add it here',
  ],
  [
    'a kind that is watched in the namespace of the watcher',
    { reads: [inNamespaces(Secret, ['certs', 'outrigger-system'])], watches: [{ kind: Secret }] },
    'watches has secrets, and outrigger-system is the namespace of a watcher; drop either',
  ],
])('generate refuses reads in named namespaces of %s', (_, declaration, text) => {
  expect(() => generatedFiles([zoneWith(declaration)])).toThrow(text);
});
