// The rights of two stages in one cluster: whether one stage's can be taken away without the other's, taking them, and
// giving the other its own. On EKS they are the access entries of the functions' roles; otherwise the bindings of the
// one user that a stage has there.
import type { ControllerDefinition } from '../../../api/definition.ts';
import type { EksAccessEntries } from '../../../clusters/auth/eks-access-entries.ts';
import type { ClusterEntry } from '../../../clusters/registry/entry.ts';
import { UserError } from '../../../core/errors.ts';
import type { Wait } from '../../../core/time.ts';
import { accessEntries } from '../../../generate/rbac/access-entries.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import type { StageFunction } from './functions.ts';
import { formatRight, requireRemovable, rightsHeld, rightsOf, unbind, whoIs } from './rights.ts';
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
};

/** API servers know a removed binding within moments. */
const revokedSeconds = 30;

/** Creates the steps of a move that concern rights. */
export function createFence(
  { admin, connect, eks, functions, registry, project, namespaces, wait }: FenceDeps,
  signal: AbortSignal,
): Pick<MoveDeps, 'checkRights' | 'takeRights' | 'grantRights'> {
  const rights = rightsOf(registry, namespaces);
  const requireAdmin = () => {
    if (admin !== undefined) return admin;
    throw new UserError('only an administrator of the cluster can take rights away; give --kubeconfig');
  };
  const identityOf = async (entry: ClusterEntry) => {
    const client = await connect(entry);
    try {
      return await whoIs(client, signal);
    } finally {
      client.close();
    }
  };

  return {
    checkRights: async ({ source, target }) => {
      for (const { access } of [source, target]) {
        if (access.type === 'none')
          throw new UserError('the cluster needs no credentials, so no stage’s rights can be taken away');
      }
      if (source.access.type === 'eks' && target.access.type === 'eks') return requireOwnRoles(functions);
      const [from, to] = [source, target].map((one) => (one.access.type === 'eks' ? undefined : identityOf(one)));
      const theirs = await to;
      const ours = await from;
      if (ours !== undefined) await requireRemovable(requireAdmin(), { source: ours, target: theirs }, rights, signal);
      if (theirs !== undefined) {
        const held = await rightsHeld(requireAdmin(), theirs, rights, signal);
        const missing = rights.find((right) => !held.includes(right));
        if (missing !== undefined)
          throw new UserError(
            `${theirs.username}, the user of the second stage, may not ${formatRight(missing)}; ` +
              'bind it first: outrigger clusters access --user prints the commands',
          );
      }
    },
    takeRights: async (source) => {
      if (source.access.type === 'eks') {
        const entries = eks(source.access);
        for (const { role } of functions.source) await entries.remove(role);
        return;
      }
      const identity = await identityOf(source);
      await unbind(requireAdmin(), identity.username, project, signal);
      let held = await rightsHeld(requireAdmin(), identity, rights, signal);
      for (let waited = 0; held.length > 0 && waited < revokedSeconds; waited += 1) {
        await wait(1, signal);
        held = await rightsHeld(requireAdmin(), identity, rights, signal);
      }
      const [left] = held;
      if (left !== undefined)
        throw new UserError(
          `${identity.username} still may ${formatRight(left)}, by a binding to a role that is not of this project; ` +
            'take that away, and run this again',
        );
    },
    grantRights: async ({ access }) => {
      if (access.type !== 'eks') return;
      const entries = eks(access);
      const groups = accessEntries(registry, project, namespaces);
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
      `both stages have the role ${shared.role}, so the rights of one cannot be taken away without the other’s`,
    );
}
