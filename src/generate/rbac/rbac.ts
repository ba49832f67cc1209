// Least privilege for each part: the watcher reads metadata, the resync lists, a controller has the permissions of its
// declaration. A controller is its own user or group in the cluster.

import type { AnyCustomKind } from '../../api/custom-kind.ts';
import type { ControllerDefinition, PrimaryKind } from '../../api/definition.ts';
import type { JsonObject } from '../../core/json.ts';
import { type ClusterNames, clusterNames, controllerIdentity, controllerRole } from '../../core/names.ts';
import type { WatchList } from '../../core/watch-list.ts';
import { childrenPolicy } from './children-policy.ts';
import { execPolicy } from './exec-policy.ts';
import { finalizerPolicy } from './finalizer-policy.ts';
import { referencePolicy } from './reference-policy.ts';

type Rule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
};

const rbac = 'rbac.authorization.k8s.io';

/**
 * Makes the namespace, the watch checkpoint, roles and bindings, and the admission policies for limits that RBAC cannot
 * express.
 */
export function rbacOf(
  registry: readonly ControllerDefinition[],
  { resources, project }: WatchList,
): readonly JsonObject[] {
  const names = clusterNames(project);
  const { namespace } = names;
  // The watcher in the cluster, and a fleet watcher outside of it.
  const account = { kind: 'ServiceAccount', name: names.watcher, namespace };
  const watchers = [account, ...subjects(names.watcherIdentity)];
  return [
    // Only pods without privileges run in this namespace.
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: names.watcher, namespace } },
    // Created empty, so that the watcher does not need create, which RBAC cannot limit to a name.
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: names.checkpoint, namespace } },
    ...clusterRole(
      names.watcher,
      [
        ...resources.map(({ group, plural }) => rule(group, plural, ['list', 'watch'])),
        // The uid of kube-system identifies the cluster.
        { ...rule('', 'namespaces', ['get']), resourceNames: ['kube-system'] },
      ],
      watchers,
    ),
    ...checkpointRole(names.watcher, names, ['get', 'patch'], watchers),
    ...clusterRole(
      names.resync,
      registry.map(({ declaration: { resource } }) => rule(resource.group, resource.plural, ['list'])),
      subjects(names.resyncIdentity),
    ),
    // For the watcher status.
    ...checkpointRole(names.resync, names, ['get'], subjects(names.resyncIdentity)),
    ...ownKinds(registry).flatMap((kind) => referencePolicy(kind, project)),
    ...registry.flatMap((controller) => [
      ...clusterRole(
        controllerRole(controller.name, project),
        controllerRules(controller),
        subjects(controllerIdentity(controller.name, project)),
      ),
      ...childrenPolicy(controller, project),
      ...(marksObjects(controller.declaration) ? finalizerPolicy(controller, project) : []),
      ...(controller.declaration.exec === undefined
        ? []
        : execPolicy({ controller: controller.name, project }, controller.declaration.exec)),
    ]),
  ];
}

/** Whether a controller writes a finalizer or a label on its objects. */
function marksObjects({
  finalizes,
  selector,
  owns,
}: Pick<ControllerDefinition['declaration'], 'finalizes' | 'selector' | 'owns'>): boolean {
  return finalizes || (selector !== undefined && owns.length > 0);
}

/** The kind as one of ours; none for a built-in or foreign kind, which gets no CRD. */
function customKindOf(resource: PrimaryKind): readonly AnyCustomKind[] {
  return isCustomKind(resource) ? [resource] : [];
}

function isCustomKind(resource: PrimaryKind): resource is AnyCustomKind {
  return resource.definition !== undefined;
}

/** Lists the custom kinds with and without a controller, each once. `generate` writes their CRDs. */
export function ownKinds(
  registry: readonly ControllerDefinition[],
  kinds: readonly AnyCustomKind[] = [],
): readonly AnyCustomKind[] {
  const all = [...kinds, ...registry.flatMap(({ declaration }) => customKindOf(declaration.resource))];
  const byName = new Map(all.map((resource) => [`${resource.plural}.${resource.group}`, resource]));
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, resource]) => resource);
}

function controllerRules({ declaration }: ControllerDefinition): readonly Rule[] {
  const { resource, owns, reads, exec } = declaration;
  const { group, plural } = resource;
  return [
    rule(group, plural, marksObjects(declaration) ? ['get', 'list', 'patch'] : ['get', 'list']),
    // The status of a kind that is not ours is never written.
    ...(resource.definition === undefined ? [] : [rule(group, `${plural}/status`, ['patch'])]),
    // Without it OwnerReferencesPermissionEnforcement rejects blockOwnerDeletion.
    ...(owns.length === 0 ? [] : [rule(group, `${plural}/finalizers`, ['update'])]),
    ...owns.map((kind) => rule(kind.group, kind.plural, ['get', 'list', 'create', 'patch', 'delete'])),
    ...reads.map((kind) => rule(kind.group, kind.plural, ['get', 'list'])),
    // A WebSocket is opened by a GET; since 1.35 it also needs create (KEP-4006).
    ...(exec === undefined ? [] : [rule('', 'pods/exec', ['get', 'create'])]),
    // An existing Event is read with an empty patch.
    rule('', 'events', ['create', 'patch']),
  ];
}

function clusterRole(name: string, rules: readonly Rule[], boundTo: readonly JsonObject[]): readonly JsonObject[] {
  return [
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name }, rules: merged(rules) },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
      subjects: boundTo,
    },
  ];
}

function checkpointRole(
  name: string,
  { namespace, checkpoint }: ClusterNames,
  verbs: readonly string[],
  boundTo: readonly JsonObject[],
): readonly JsonObject[] {
  const metadata = { name, namespace };
  return [
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata,
      rules: [{ ...rule('', 'configmaps', verbs), resourceNames: [checkpoint] }],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects: boundTo,
    },
  ];
}

/** An identity is a user (of a token or certificate) or a group (of an EKS access entry). */
function subjects(identity: string): readonly JsonObject[] {
  return ['User', 'Group'].map((kind) => ({ kind, apiGroup: rbac, name: identity }));
}

function rule(group: string, resource: string, verbs: readonly string[]): Rule {
  return { apiGroups: [group], resources: [resource], verbs };
}

/** Merges the rules of a resource: a kind may be owned and read, and have two controllers. */
function merged(rules: readonly Rule[]): readonly Rule[] {
  const byTarget = new Map<string, Rule>();
  for (const one of rules) {
    const target = JSON.stringify([one.apiGroups, one.resources, one.resourceNames]);
    const before = byTarget.get(target);
    byTarget.set(target, { ...one, verbs: [...new Set([...(before?.verbs ?? []), ...one.verbs])] });
  }
  return [...byTarget.values()];
}
