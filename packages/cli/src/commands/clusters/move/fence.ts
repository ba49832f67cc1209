// The permissions of two stages in one cluster: whether one stage's can be taken away without the other's, taking them,
// and giving the other its own. On EKS they are the access entries of the functions' roles; otherwise the bindings of
// the one user that a stage has there.
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import type { ClusterEntry } from 'outrigger/internal/clusters/registry/entry';
import { UserError } from 'outrigger/internal/core/errors';
import { controllerRole } from 'outrigger/internal/core/names';
import type { Wait } from 'outrigger/internal/core/time';
import { accessEntries } from 'outrigger/internal/generate/rbac/access-entries';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { disposable } from '../../command.ts';
import type { EksAccessEntries } from './eks-access-entries.ts';
import type { StageFunction } from './functions.ts';
import { formatPermission, permissionsHeld, permissionsOf, requireRemovable, unbind, whoIs } from './permissions.ts';
import type { MoveDeps } from './run.ts';

/** What the fence needs. */
export type FenceDeps = {
  /** An administrator of the cluster; undefined if none is given, which EKS does not need. */
  readonly admin: KubeClient | undefined;
  /** Connects with the credentials of an entry. */
  readonly connect: (entry: ClusterEntry) => Promise<KubeClient>;
  readonly eks: (access: { readonly cluster: string; readonly region: string }) => EksAccessEntries;
  /** The functions of each stage, which have a role of their own each. */
  readonly functions: { readonly source: readonly StageFunction[]; readonly target: readonly StageFunction[] };
  readonly registry: readonly ControllerDefinition[];
  readonly project: string;
  readonly namespaces: readonly string[] | undefined;
  readonly wait: Wait;
  /** The options of a printed command that name the second stage: ` --stage canary`. */
  readonly at: string;
};

/** API servers know a removed binding within moments. */
const revokedSeconds = 30;

/** Creates the steps of a move that concern permissions. */
export function createFence(
  { admin, connect, eks, functions, registry, project, namespaces, wait, at }: FenceDeps,
  signal: AbortSignal,
): Pick<MoveDeps, 'checkPermissions' | 'takePermissions' | 'grantPermissions'> {
  const permissions = permissionsOf(registry, namespaces);
  const groups = accessEntries(registry, project, namespaces);
  // The first stage may have a controller that this version does not have.
  const roles = new Set([
    ...groups.map(({ clusterRole }) => clusterRole),
    ...functions.source.map(({ name }) => controllerRole(name, project)),
  ]);
  const requireAdmin = () => {
    if (admin !== undefined) return admin;
    throw new UserError('only an administrator of the cluster can take permissions away; give --kubeconfig');
  };
  const identityOf = async (entry: ClusterEntry) => {
    using client = disposable(await connect(entry));
    return await whoIs(client, signal);
  };

  return {
    checkPermissions: async ({ source, target }) => {
      for (const { access } of [source, target]) {
        if (access.type === 'none')
          throw new UserError('the cluster needs no credentials, so no permission of a stage can be taken away');
      }
      if (source.access.type === 'eks' && target.access.type === 'eks') return requireOwnRoles(functions);
      const [from, to] = [source, target].map((one) => (one.access.type === 'eks' ? undefined : identityOf(one)));
      const theirs = await to;
      const ours = await from;
      if (ours !== undefined)
        await requireRemovable(requireAdmin(), { source: ours, target: theirs }, permissions, signal);
      if (theirs !== undefined) {
        const held = await permissionsHeld(requireAdmin(), theirs, permissions, signal);
        const missing = permissions.find((permission) => !held.includes(permission));
        if (missing !== undefined)
          throw new UserError(
            `${theirs.username}, the user of the second stage, may not ${formatPermission(missing)}; ` +
              `bind it first: outrigger clusters access --user USER${at} prints the commands`,
          );
      }
    },
    takePermissions: async (source) => {
      if (source.access.type === 'eks') {
        const entries = eks(source.access);
        for (const { role } of functions.source) await entries.remove(role);
        return;
      }
      const identity = await identityOf(source);
      await unbind(requireAdmin(), identity.username, roles, signal);
      let held = await permissionsHeld(requireAdmin(), identity, permissions, signal);
      for (let waited = 0; held.length > 0 && waited < revokedSeconds; waited += 1) {
        await wait(1, signal);
        held = await permissionsHeld(requireAdmin(), identity, permissions, signal);
      }
      const [left] = held;
      if (left !== undefined)
        throw new UserError(
          `${identity.username} still may ${formatPermission(left)}, by a binding to a role that is not of this ` +
            'project; take that away, and run this again',
        );
    },
    grantPermissions: async ({ access }) => {
      if (access.type !== 'eks') return;
      const entries = eks(access);
      for (const { name, role } of functions.target) {
        const group = groups.find((one) => one.function === name)?.group;
        if (group !== undefined) await entries.put(role, group);
      }
    },
  };
}

function requireOwnRoles({ source, target }: FenceDeps['functions']): void {
  const roles = new Set(target.map(({ role }) => role));
  const shared = source.find(({ role }) => roles.has(role));
  if (shared !== undefined)
    throw new UserError(
      `both stages have the role ${shared.role}, so the permissions of one cannot be taken away without the other's; ` +
        'give the second stage a role of its own',
    );
}
