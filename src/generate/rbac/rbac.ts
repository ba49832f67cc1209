// Least privilege for each part: the watcher reads metadata, the resync lists, a controller has the permissions of its
// declaration. A controller is its own user or group in the cluster.

import type { PolicyRule } from '../../api/allows.ts';
import { type AnyCustomKind, isCustomKind } from '../../api/custom-kind.ts';
import {
  type ControllerDeclaration,
  type ControllerDefinition,
  marksHeldObjects,
  type PrimaryKind,
} from '../../api/definition.ts';
import { kindOfRead, namespacesOfRead } from '../../api/reads.ts';
import type { JsonObject } from '../../core/json.ts';
import { clusterNames, controllerIdentity, controllerRole } from '../../core/names.ts';
import type { WatchList } from '../../core/watch-list.ts';
import { watchListOf } from '../watch-list.ts';
import { eventsNamespace } from './access-entries.ts';
import { policyKinds } from './admission-policy.ts';
import { childrenPolicy } from './children-policy.ts';
import { execPolicy } from './exec-policy.ts';
import { finalizerPolicy } from './finalizer-policy.ts';
import { referencePolicy } from './reference-policy.ts';
import { statusPolicy } from './status-policy.ts';

/** A rule, and whether its resource is in namespaces. `within`: a Role in each of these, whatever the project has. */
type ScopedRule = PolicyRule & { readonly namespaced: boolean; readonly within?: readonly string[] };

const rbac = 'rbac.authorization.k8s.io';

/**
 * Makes the namespace, the watch checkpoint, roles and bindings, and the admission policies for limits that RBAC cannot
 * express.
 */
export function rbacOf(
  registry: readonly ControllerDefinition[],
  { resources, project, namespaces }: WatchList,
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
    ...roles(
      names.watcher,
      [
        ...resources.map((resource) => ({ ...ruleOf(resource, ['list', 'watch']), ...withinOf(resource.namespaces) })),
        readsClusterUid,
      ],
      { boundTo: watchers, namespaces },
    ),
    ...checkpointRole(names.watcher, names, ['get', 'patch'], watchers),
    ...roles(
      names.resync,
      registry.map(({ declaration: { resource } }) => ruleOf(resource, ['list'])),
      { boundTo: subjects(names.resyncIdentity), namespaces },
    ),
    // For the watcher status.
    ...checkpointRole(names.resync, names, ['get'], subjects(names.resyncIdentity)),
    ...ownKinds(registry).flatMap((kind) => referencePolicy(kind, project)),
    ...registry.flatMap((controller) => [
      ...roles(controllerRole(controller.name, project), controllerRules(controller), {
        boundTo: subjects(controllerIdentity(controller.name, project)),
        namespaces,
        ...(controller.declaration.resource.namespaced ? {} : { eventsIn: eventsNamespace }),
      }),
      ...childrenPolicy(controller, project),
      ...(marksObjects(controller.declaration) ? finalizerPolicy(controller, project) : []),
      ...statusPolicy(controller, project),
      ...(controller.declaration.exec === undefined
        ? []
        : execPolicy({ controller: controller.name, project }, controller.declaration.exec)),
    ]),
  ];
}

/** Makes the admission policies of controllers with their bindings, and nothing else. */
export function policiesOf(registry: readonly ControllerDefinition[]): readonly JsonObject[] {
  return rbacOf(registry, watchListOf(registry)).filter(({ kind }) => policyKinds.includes(String(kind)));
}

/** Whether a controller writes a finalizer, labels or annotations on its objects. */
function marksObjects(declaration: ControllerDeclaration): boolean {
  const { finalizes, sets, evidence } = declaration;
  return finalizes || sets !== undefined || evidence !== undefined || marksHeldObjects(declaration);
}

/** The kind as one of ours; none for a built-in or foreign kind, which gets no CRD. */
function customKindOf(resource: PrimaryKind): readonly AnyCustomKind[] {
  return isCustomKind(resource) ? [resource] : [];
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

function controllerRules({ declaration }: ControllerDefinition): readonly ScopedRule[] {
  const { resource, owns, reads, exec, statusSlice, allows, deletesSelf } = declaration;
  const { clusterRoles = [], grants = [] } = allows ?? {};
  // A ClusterRole may be bound in the whole cluster.
  const grantsCluster = owns.some(({ group, kind }) => group === rbac && kind === 'ClusterRole');
  const subresource = (name: string, verbs: readonly string[]) =>
    ruleOf({ ...resource, plural: `${resource.plural}/${name}` }, verbs);
  return [
    ruleOf(resource, [
      ...['get', 'list'],
      ...(marksObjects(declaration) ? ['patch'] : []),
      ...(deletesSelf === undefined ? [] : ['delete']),
    ]),
    // The status of a foreign kind is written only by conditions that the controller declares.
    ...(resource.definition === undefined && statusSlice === undefined ? [] : [subresource('status', ['patch'])]),
    // Without it OwnerReferencesPermissionEnforcement rejects blockOwnerDeletion.
    ...(owns.length === 0 ? [] : [subresource('finalizers', ['update'])]),
    ...owns.map((kind) => ruleOf(kind, ['get', 'list', 'create', 'patch', 'delete'])),
    ...reads.map((read) => ({ ...ruleOf(kindOfRead(read), ['get', 'list']), ...withinOf(namespacesOfRead(read)) })),
    // A WebSocket is opened by a GET; since 1.35 it also needs create (KEP-4006).
    ...(exec === undefined ? [] : [{ ...rule('', 'pods/exec', ['get', 'create']), namespaced: true }]),
    ...(clusterRoles.length === 0
      ? []
      : [{ ...rule(rbac, 'clusterroles', ['bind']), resourceNames: clusterRoles, namespaced: false }]),
    ...grants.map((one) => ({ ...one, namespaced: !grantsCluster })),
    readsClusterUid,
    // An existing Event is read with an empty patch.
    { ...rule('', 'events', ['create', 'patch']), namespaced: true },
  ];
}

/**
 * Makes a ClusterRole, or if only some namespaces are watched, a Role in each of them and a ClusterRole for the rules
 * of resources outside of namespaces. A rule with namespaces of its own is in Roles there. The Events of an object
 * without a namespace are in `eventsIn`.
 */
function roles(
  name: string,
  rules: readonly ScopedRule[],
  {
    boundTo,
    namespaces,
    eventsIn,
  }: {
    readonly boundTo: readonly JsonObject[];
    readonly namespaces: readonly string[] | undefined;
    readonly eventsIn?: string;
  },
): readonly JsonObject[] {
  const isIn = ({ namespaced, within, resources }: ScopedRule, place: string) => {
    if (within !== undefined || namespaces === undefined) return within?.includes(place) === true;
    return namespaced && (namespaces.includes(place) || (place === eventsIn && resources.includes('events')));
  };
  const plain = (some: readonly ScopedRule[]): readonly PolicyRule[] =>
    some.map(({ namespaced: _, within: __, ...one }) => one);
  const everywhere = rules.filter(
    ({ namespaced, within }) => within === undefined && (namespaces === undefined || !namespaced),
  );
  const places = [...(namespaces ?? []), eventsIn ?? [], rules.map(({ within = [] }) => within)].flat(2);
  return [
    ...(everywhere.length === 0 ? [] : roleWithBinding('ClusterRole', { name }, plain(everywhere), boundTo)),
    ...[...new Set(places)].flatMap((place) => {
      const some = rules.filter((one) => isIn(one, place));
      return some.length === 0 ? [] : roleIn(place, name, plain(some), boundTo);
    }),
  ];
}

function roleIn(
  namespace: string,
  name: string,
  rules: readonly PolicyRule[],
  boundTo: readonly JsonObject[],
): readonly JsonObject[] {
  return roleWithBinding('Role', { name, namespace }, rules, boundTo);
}

function roleWithBinding(
  kind: 'Role' | 'ClusterRole',
  metadata: { readonly name: string; readonly namespace?: string },
  rules: readonly PolicyRule[],
  boundTo: readonly JsonObject[],
): readonly JsonObject[] {
  const { name } = metadata;
  return [
    { apiVersion: `${rbac}/v1`, kind, metadata, rules: merged(rules) },
    {
      apiVersion: `${rbac}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: rbac, kind, name },
      subjects: boundTo,
    },
  ];
}

function checkpointRole(
  name: string,
  { namespace, checkpoint }: ReturnType<typeof clusterNames>,
  verbs: readonly string[],
  boundTo: readonly JsonObject[],
): readonly JsonObject[] {
  return roleIn(namespace, name, [{ ...rule('', 'configmaps', verbs), resourceNames: [checkpoint] }], boundTo);
}

/** An identity is a user (of a token or certificate) or a group (of an EKS access entry). */
function subjects(identity: string): readonly JsonObject[] {
  return ['User', 'Group'].map((kind) => ({ kind, apiGroup: rbac, name: identity }));
}

function ruleOf(
  { group, plural, namespaced }: { readonly group: string; readonly plural: string; readonly namespaced: boolean },
  verbs: readonly string[],
): ScopedRule {
  return { ...rule(group, plural, verbs), namespaced };
}

function withinOf(within: readonly string[] | undefined): Pick<ScopedRule, 'within'> {
  return within === undefined ? {} : { within };
}

/** The uid of kube-system identifies the cluster. */
const readsClusterUid: ScopedRule = {
  ...rule('', 'namespaces', ['get']),
  resourceNames: ['kube-system'],
  namespaced: false,
};

function rule(group: string, resource: string, verbs: readonly string[]): PolicyRule {
  return { apiGroups: [group], resources: [resource], verbs };
}

/** Merges the rules of a resource: a kind may be owned and read, and have two controllers. */
function merged(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const byTarget = new Map<string, PolicyRule>();
  for (const one of rules) {
    const target = JSON.stringify([one.apiGroups, one.resources, one.resourceNames]);
    const before = byTarget.get(target);
    byTarget.set(target, { ...one, verbs: [...new Set([...(before?.verbs ?? []), ...one.verbs])] });
  }
  return [...byTarget.values()];
}
