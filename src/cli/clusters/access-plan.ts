// What a person must do so that the functions get into a cluster, as shell commands. Nothing here asks AWS: a function's role has a
// name that only its stack knows, so the command that needs it asks for it.
import type { ClusterEntry } from '../../clusters/registry/entry.ts';
import { resyncIdentity, systemNamespace } from '../../core/names.ts';
import type { AccessEntry } from '../../generate/rbac/access-entries.ts';

/** What one function needs in one cluster; without a command it is for whoever gives out the cluster's credentials. */
export type AccessStep = AccessEntry & { readonly command?: string };

/** What a cluster needs. */
export type AccessPlan = {
  readonly cluster: string;
  readonly access: ClusterEntry['access']['type'];
  /** One line: what the steps are about, and what else must be so. */
  readonly note: string;
  readonly steps: readonly AccessStep[];
};

/** Where the functions are, and who they are to clusters that are entered by a token or a certificate. */
export type Deployment = {
  readonly stage: string;
  readonly region?: string | undefined;
  readonly user?: string | undefined;
};

/** Plans the access to one cluster. */
export function accessPlan(
  cluster: string,
  { access, leaving = false }: ClusterEntry,
  entries: readonly AccessEntry[],
  deployment: Deployment,
): AccessPlan {
  const plan = { cluster, access: access.type };
  if (leaving)
    return { ...plan, note: 'is being left; delete its access entries or bindings once it is gone', steps: [] };
  switch (access.type) {
    case 'eks':
      return {
        ...plan,
        note: `is the EKS cluster ${access.cluster} in ${access.region}; its authentication mode must include API`,
        steps: entries.map((entry) => ({ ...entry, command: createAccessEntry(access, entry, deployment) })),
      };
    case 'none':
      return { ...plan, note: 'asks for no credentials, so there is nobody to let in', steps: [] };
    case 'token':
    case 'certificate':
    case 'kubeconfig':
    case 'secret':
      return { ...plan, ...shared(entries, deployment.user) };
  }
}

/** All functions come with the same credentials. */
function shared(entries: readonly AccessEntry[], user: string | undefined): Pick<AccessPlan, 'note' | 'steps'> {
  if (user !== undefined) {
    const note = `has one identity for all functions, ${user}; the admission policies narrow what comes in their groups alone`;
    return { note, steps: entries.map((entry) => ({ ...entry, command: bind(entry, user) })) };
  }
  const note =
    'has one identity for all functions, which must come in these groups (a certificate has them as organizations), or be ' +
    'bound to their roles: --user NAME says how';
  return { note, steps: entries };
}

/** Writes a plan as lines for a shell, in which everything that is not a command is a comment. */
export function planLines({ cluster, note, steps }: AccessPlan): readonly string[] {
  return [`# ${cluster}: ${note}.`, ...steps.map(({ command, group }) => command ?? `#   ${group}`)];
}

function createAccessEntry(
  { cluster, region }: { readonly cluster: string; readonly region: string },
  entry: AccessEntry,
  deployment: Deployment,
): string {
  const name = `--function-name outrigger-${deployment.stage}-${entry.function}`;
  const at = deployment.region === undefined ? '' : ` --region ${deployment.region}`;
  const role = `"$(aws lambda get-function-configuration${at} ${name} --query Role --output text)"`;
  return [
    `aws eks create-access-entry --region ${region} --cluster-name ${cluster}`,
    `--kubernetes-groups ${entry.group} --principal-arn ${role}`,
  ].join(' ');
}

/** The resync reads the watchers' cursor too, by a Role of the same name. */
function bind({ clusterRole, group }: AccessEntry, user: string): string {
  const name = `${clusterRole}-shared`;
  const everywhere = `kubectl create clusterrolebinding ${name} --clusterrole=${clusterRole} --user=${user}`;
  if (group !== resyncIdentity) return everywhere;
  return `${everywhere} && kubectl -n ${systemNamespace} create rolebinding ${name} --role=${clusterRole} --user=${user}`;
}
