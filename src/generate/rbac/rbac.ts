// Least rights for each part: the watcher reads metadata, the resync lists, a controller does what it declared and no more.
// A controller is a user or a group of its own in the cluster, bound to whatever identity runs it.
import type { Registered } from '../../core/controller.ts';
import type { AnyResource } from '../../core/resource.ts';
import type { WatchList } from '../../core/watch-list.ts';
import { controllerIdentity, cursorName, resyncIdentity, systemNamespace, watcherAccount } from '../../core/names.ts';
import { execPolicy } from './exec-policy.ts';
import { finalizerPolicy } from './finalizer-policy.ts';
import type { JsonObject } from '../json.ts';

type Rule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
};

const rbac = 'rbac.authorization.k8s.io';
const watcher = { kind: 'ServiceAccount', name: watcherAccount, namespace: systemNamespace };

/** Makes the namespace, the cursor, roles and bindings, and where RBAC gives too much the policies that narrow it. */
export function rbacOf(registry: readonly Registered[], { resources }: WatchList): readonly JsonObject[] {
  return [
    // Nothing that runs here needs any privilege, and nothing that does shall run here.
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: systemNamespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: watcherAccount, namespace: systemNamespace } },
    // Shipped empty, so that the watcher needs no create, which RBAC cannot narrow to a name.
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: cursorName, namespace: systemNamespace } },
    ...clusterRole(
      watcherAccount,
      [
        ...resources.map(({ group, plural }) => rule(group, plural, ['list', 'watch'])),
        // Whose cluster this is: the uid of kube-system.
        { ...rule('', 'namespaces', ['get']), resourceNames: ['kube-system'] },
      ],
      [watcher],
    ),
    ...cursorRole(watcherAccount, ['get', 'patch'], [watcher]),
    ...clusterRole(
      'outrigger-resync',
      registry.map(({ declares: { resource } }) => rule(resource.group, resource.plural, ['list'])),
      subjects(resyncIdentity),
    ),
    // Since when the watchers have been silent.
    ...cursorRole('outrigger-resync', ['get'], subjects(resyncIdentity)),
    ...registry.flatMap((controller) => [
      ...clusterRole(
        `outrigger-${controller.name}`,
        controllerRules(controller),
        subjects(controllerIdentity(controller.name)),
      ),
      ...(controller.declares.finalizes ? finalizerPolicy(controller) : []),
      ...(controller.declares.exec === undefined ? [] : execPolicy(controller.name, controller.declares.exec)),
    ]),
  ];
}

/** The kinds that come along, with a controller or without, each once: what `generate` writes CRDs for. */
export function ownKinds(registry: readonly Registered[], kinds: readonly AnyResource[] = []): readonly AnyResource[] {
  const all = [...kinds, ...registry.map(({ declares }) => declares.resource)];
  const byName = new Map(all.map((resource) => [`${resource.plural}.${resource.group}`, resource]));
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, resource]) => resource);
}

function controllerRules({ declares: { resource, owns, reads, exec, finalizes } }: Registered): readonly Rule[] {
  const { group, plural } = resource;
  return [
    rule(group, plural, finalizes ? ['get', 'list', 'patch'] : ['get', 'list']),
    rule(group, `${plural}/status`, ['patch']),
    // Without it blockOwnerDeletion is refused under OwnerReferencesPermissionEnforcement.
    ...(owns.length === 0 ? [] : [rule(group, `${plural}/finalizers`, ['update'])]),
    ...owns.map((kind) => rule(kind.group, kind.plural, ['get', 'list', 'create', 'patch', 'delete'])),
    ...reads.map((kind) => rule(kind.group, kind.plural, ['get', 'list'])),
    // A WebSocket is opened by a GET, and since 1.35 asks for create as well (KEP-4006).
    ...(exec === undefined ? [] : [rule('', 'pods/exec', ['get', 'create'])]),
    // An Event that is there is read by an empty patch.
    rule('', 'events', ['create', 'patch']),
  ];
}

function clusterRole(name: string, rules: readonly Rule[], who: readonly JsonObject[]): readonly JsonObject[] {
  return [
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name }, rules: merged(rules) },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
      subjects: who,
    },
  ];
}

function cursorRole(name: string, verbs: readonly string[], who: readonly JsonObject[]): readonly JsonObject[] {
  const metadata = { name, namespace: systemNamespace };
  return [
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata,
      rules: [{ ...rule('', 'configmaps', verbs), resourceNames: [cursorName] }],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects: who,
    },
  ];
}

/** An identity may come as a user (a token's, a certificate's) or as a group (an EKS access entry's). */
function subjects(identity: string): readonly JsonObject[] {
  return ['User', 'Group'].map((kind) => ({ kind, apiGroup: rbac, name: identity }));
}

function rule(group: string, resource: string, verbs: readonly string[]): Rule {
  return { apiGroups: [group], resources: [resource], verbs };
}

/** Says each rule once: a kind may be owned and read, and have two controllers. */
function merged(rules: readonly Rule[]): readonly Rule[] {
  const byTarget = new Map<string, Rule>();
  for (const one of rules) {
    const target = JSON.stringify([one.apiGroups, one.resources, one.resourceNames]);
    const before = byTarget.get(target);
    byTarget.set(target, { ...one, verbs: [...new Set([...(before?.verbs ?? []), ...one.verbs])] });
  }
  return [...byTarget.values()];
}
