// Permissions of a user in a cluster, as an administrator sees and takes them: for stages whose functions have one
// identity there, of a token or a certificate. RBAC only adds permissions, so they are gone when no binding names the
// user, and the API server itself confirms it (SubjectAccessReview) before a move goes on.
//
// Sources: Kubernetes API reference, SelfSubjectReview (1.28), SubjectAccessReview, RoleBinding.

import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { UserError } from 'outrigger/internal/core/errors';
import { describeKind } from 'outrigger/internal/core/kind-names';
import { placesOf } from 'outrigger/internal/core/namespaces';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { objectPath } from 'outrigger/internal/kube/client/path';
import { listPages } from 'outrigger/internal/kube/client/read';
import * as z from 'zod';

/** Who a client is to the API server. */
export type Identity = { readonly username: string; readonly groups: readonly string[] };

/** One permission that a stage needs. */
export type Permission = {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
};

const review = z.object({
  status: z.object({ userInfo: z.object({ username: z.string(), groups: z.array(z.string()).default([]) }) }),
});
const decision = z.object({ status: z.object({ allowed: z.boolean() }) });
const subjects = z
  .array(z.object({ kind: z.string(), name: z.string(), namespace: z.string().optional() }).loose())
  .nullish();
const roleRef = z.object({ name: z.string() });
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' } as const;
const bindings = [
  describeKind({ ...rbac, kind: 'ClusterRoleBinding', scope: 'Cluster' }),
  describeKind({ ...rbac, kind: 'RoleBinding' }),
];

/** Asks the API server who a client is. Throws the client's errors. */
export async function whoIs(client: KubeClient, signal: AbortSignal): Promise<Identity> {
  const { body } = await client.request({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    signal,
  });
  return review.parse(body).status.userInfo;
}

/**
 * Lists the permissions without which a function reconciles nothing: to read objects, and to write status and children.
 */
export function permissionsOf(
  registry: readonly ControllerDefinition[],
  namespaces: readonly string[] | undefined,
): readonly Permission[] {
  return registry.flatMap(({ declaration: { resource, owns } }) => {
    const { group, plural } = resource;
    return placesOf(resource, namespaces).flatMap((place): readonly Permission[] => {
      const within = place === undefined ? {} : { namespace: place };
      return [
        { verb: 'get', group, resource: plural, ...within },
        { verb: 'patch', group, resource: plural, subresource: 'status', ...within },
        ...owns.map((kind) => ({ verb: 'patch', group: kind.group, resource: kind.plural, ...within })),
      ];
    });
  });
}

/** Returns which of these permissions someone has. Without a name: by the groups alone. */
export async function permissionsHeld(
  admin: KubeClient,
  who: { readonly username?: string; readonly groups: readonly string[] },
  permissions: readonly Permission[],
  signal: AbortSignal,
): Promise<readonly Permission[]> {
  const held: Permission[] = [];
  for (const permission of permissions) {
    const { body } = await admin.request({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: { resourceAttributes: permission, groups: who.groups, user: who.username },
      },
      signal,
    });
    if (decision.parse(body).status.allowed) held.push(permission);
  }
  return held;
}

/** Formats a permission as `kubectl auth can-i` takes it. */
export function formatPermission({ verb, group, resource, subresource, namespace }: Permission): string {
  const name = group === '' ? resource : `${resource}.${group}`;
  const part = subresource === undefined ? name : `${name}/${subresource}`;
  return `${verb} ${part}${namespace === undefined ? '' : ` in ${namespace}`}`;
}

/**
 * Removes a user from every binding to one of these roles. A binding without another subject is deleted. Returns how
 * many bindings named the user. Throws the client's errors, and isConflict if one was changed in between.
 */
export async function unbind(
  admin: KubeClient,
  username: string,
  roles: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  for (const kind of bindings) {
    for await (const { items } of listPages(admin, kind, { signal })) {
      for (const binding of items) {
        if (!roles.has(roleRef.parse(binding.roleRef).name)) continue;
        const all = subjects.parse(binding.subjects) ?? [];
        const others = all.filter((one) => !isSubject(one, username));
        if (others.length === all.length) continue;
        count += 1;
        const { resourceVersion } = binding.metadata;
        const path = objectPath(kind, binding.metadata);
        if (others.length > 0) {
          const body = { metadata: { resourceVersion }, subjects: others };
          await admin.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body, signal });
        } else {
          const body = { preconditions: { resourceVersion } };
          await admin.request({ method: 'DELETE', path, body, signal });
        }
      }
    }
  }
  return count;
}

/** Throws a UserError if two stages have the same identity, or one that has its permissions by its groups. */
export async function requireRemovable(
  admin: KubeClient,
  { source, target }: { readonly source: Identity; readonly target: Identity | undefined },
  permissions: readonly Permission[],
  signal: AbortSignal,
): Promise<void> {
  if (source.username === target?.username)
    throw new UserError(
      `both stages are ${source.username} there, so the permissions of one cannot be taken away without the other's; ` +
        'give the second stage a token of its own',
    );
  const [byGroup] = await permissionsHeld(admin, { groups: source.groups }, permissions, signal);
  if (byGroup !== undefined)
    throw new UserError(
      `${source.username} may ${formatPermission(byGroup)} by its groups (${source.groups.join(', ')}), ` +
        'which its credential keeps; bind the user itself, and issue it without the groups',
    );
}

function isSubject(
  { kind, name, namespace }: { readonly kind: string; readonly name: string; readonly namespace?: string | undefined },
  username: string,
): boolean {
  if (kind === 'User') return name === username;
  return kind === 'ServiceAccount' && username === `system:serviceaccount:${namespace}:${name}`;
}
