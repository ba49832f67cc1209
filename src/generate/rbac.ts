// Least rights for each part: the watcher reads metadata, the resync lists, a controller does what it declared and no more.
// Each controller is a group of its own in the cluster, `outrigger:controller:<name>`, bound to whatever identity runs it.
import type { Registered } from '../core/controller.ts';
import type { WatchList } from '../core/watch-list.ts';
import type { JsonObject } from './schema.ts';

type Rule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
};

/** Where the watcher lives in its cluster. */
export const watcherNamespace = 'outrigger-system';
const watcherAccount = 'outrigger-watcher';
const cursorName = 'outrigger-cursor';

/** The group of a controller's identity, as RBAC and admission policies know it. */
export function controllerGroup(controller: string): string {
  return `outrigger:controller:${controller}`;
}

/** Makes roles, bindings and, for controllers with a finalizer, the policies that narrow them. */
export function rbacOf(registry: readonly Registered[], watchList: WatchList): readonly JsonObject[] {
  return [
    ...watcherAccess(watchList),
    ...resyncAccess(registry),
    ...registry.flatMap((controller) => [
      ...bound(`outrigger-${controller.name}`, controllerRules(controller), {
        kind: 'Group',
        apiGroup: 'rbac.authorization.k8s.io',
        name: controllerGroup(controller.name),
      }),
      ...(controller.declares.finalizes ? finalizerPolicy(controller) : []),
    ]),
  ];
}

function watcherAccess({ resources }: WatchList): readonly JsonObject[] {
  const rules = resources.map(({ group, plural }) => rule(group, [plural], ['list', 'watch']));
  const account = { kind: 'ServiceAccount', name: watcherAccount, namespace: watcherNamespace };
  const metadata = { name: watcherAccount, namespace: watcherNamespace };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: watcherNamespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    // Whose cluster this is: the uid of kube-system.
    ...bound(
      watcherAccount,
      [...rules, { ...rule('', ['namespaces'], ['get']), resourceNames: ['kube-system'] }],
      account,
    ),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, name: cursorName } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata,
      rules: [{ ...rule('', ['configmaps'], ['get', 'patch']), resourceNames: [cursorName] }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: watcherAccount },
      subjects: [account],
    },
  ];
}

function resyncAccess(registry: readonly Registered[]): readonly JsonObject[] {
  const rules = registry.map(({ declares: { resource } }) => rule(resource.group, [resource.plural], ['list']));
  const subject = { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'outrigger:resync' };
  return bound('outrigger-resync', rules, subject);
}

function controllerRules({ declares }: Registered): readonly Rule[] {
  const { resource, owns, reads, finalizes } = declares;
  return [
    rule(resource.group, [resource.plural], finalizes ? ['get', 'list', 'patch'] : ['get', 'list']),
    rule(resource.group, [`${resource.plural}/status`], ['patch']),
    // Without it blockOwnerDeletion is refused under OwnerReferencesPermissionEnforcement.
    ...(owns.length === 0 ? [] : [rule(resource.group, [`${resource.plural}/finalizers`], ['update'])]),
    ...owns.map(({ group, plural }) => rule(group, [plural], ['get', 'list', 'create', 'patch', 'delete'])),
    ...reads.map(({ group, plural }) => rule(group, [plural], ['get', 'list'])),
    rule('', ['events'], ['create', 'patch']),
  ];
}

/** RBAC cannot say "only the finalizers": an admission policy does, for this controller's identity. */
function finalizerPolicy({ name, declares: { resource } }: Registered): readonly JsonObject[] {
  const policy = `outrigger-${name}-finalizers`;
  const group = controllerGroup(name);
  const untouched = ['spec', 'metadata.?labels', 'metadata.?annotations', 'metadata.?ownerReferences'];
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: policy },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: [resource.group],
              apiVersions: ['*'],
              operations: ['UPDATE'],
              resources: [resource.plural],
            },
          ],
        },
        matchConditions: [{ name: 'is-the-controller', expression: `'${group}' in request.userInfo.groups` }],
        validations: untouched.map((path) => ({
          expression: `object.?${path} == oldObject.?${path}`,
          message: `${name} may change nothing but metadata.finalizers`,
        })),
      },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: policy },
      spec: { policyName: policy, validationActions: ['Deny'] },
    },
  ];
}

function bound(name: string, rules: readonly Rule[], subject: JsonObject): readonly JsonObject[] {
  return [
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [subject],
    },
  ];
}

function rule(group: string, resources: readonly string[], verbs: readonly string[]): Rule {
  return { apiGroups: [group], resources, verbs };
}

/** The kinds that a registry brings along: what `generate` writes CRDs for. */
export function ownKinds(registry: readonly Registered[]): readonly Registered['declares']['resource'][] {
  const byName = new Map(
    registry.map(({ declares: { resource } }) => [`${resource.plural}.${resource.group}`, resource]),
  );
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, resource]) => resource);
}
