// The shell commands that give the functions access to a cluster. No request is sent to AWS here: a function's role has
// a name that only its stack knows, so the command that needs the name queries it.
import type { ClusterEntry } from '../../clusters/registry/entry.ts';
import { clusterNames, deploymentPrefix } from '../../core/names.ts';
import type { AccessEntry } from '../../generate/rbac/access-entries.ts';

/**
 * What one function needs in one cluster. A step without a command is for the administrator who issues the credentials.
 */
export type AccessStep = AccessEntry & { readonly command?: string };

/** The steps for a cluster. */
export type AccessPlan = {
  readonly cluster: string;
  readonly access: ClusterEntry['access']['type'];
  /** One line: the kind of access, and its precondition. */
  readonly note: string;
  readonly steps: readonly AccessStep[];
};

/** The deployment of the functions, and their user in clusters that are accessed with a token or a certificate. */
export type AccessTarget = {
  readonly project: string;
  readonly stage: string;
  readonly region?: string | undefined;
  readonly user?: string | undefined;
};

/** Plans the access to one cluster. */
export function accessPlan(
  cluster: string,
  { access, decommissioning = false }: ClusterEntry,
  entries: readonly AccessEntry[],
  deployment: AccessTarget,
): AccessPlan {
  const plan = { cluster, access: access.type };
  if (decommissioning)
    return {
      ...plan,
      note: 'is being decommissioned; delete its access entries or bindings when it is gone',
      steps: [],
    };
  switch (access.type) {
    case 'eks':
      return {
        ...plan,
        note: `is the EKS cluster ${access.cluster} in ${access.region}; its authentication mode must include API`,
        steps: entries.map((entry) => ({ ...entry, command: createAccessEntry(access, entry, deployment) })),
      };
    case 'none':
      return { ...plan, note: 'needs no credentials, and so no access', steps: [] };
    case 'token':
    case 'certificate':
    case 'kubeconfig':
    case 'secret':
      return { ...plan, ...shared(entries, deployment) };
  }
}

/** For access types in which all functions have the same credentials. */
function shared(entries: readonly AccessEntry[], { user, project }: AccessTarget): Pick<AccessPlan, 'note' | 'steps'> {
  if (user !== undefined) {
    const note =
      `has one identity for all functions, ${user}; ` +
      'the admission policies apply only to the functions’ own groups';
    return { note, steps: entries.map((entry) => ({ ...entry, command: bind(entry, user, project) })) };
  }
  const note =
    'has one identity for all functions, which must be in these groups (a certificate has them as organizations), ' +
    'or be bound to their roles: --user NAME prints the commands';
  return { note, steps: entries };
}

/** Formats a plan as lines for a shell. A line that is not a command is a comment. */
export function planLines({ cluster, note, steps }: AccessPlan): readonly string[] {
  return [`# ${cluster}: ${note}.`, ...steps.map(({ command, group }) => command ?? `#   ${group}`)];
}

function createAccessEntry(
  { cluster, region }: { readonly cluster: string; readonly region: string },
  entry: AccessEntry,
  deployment: AccessTarget,
): string {
  const name = `--function-name ${deploymentPrefix(deployment.stage, deployment.project)}${entry.function}`;
  const at = deployment.region === undefined ? '' : ` --region ${deployment.region}`;
  const role = `"$(aws lambda get-function-configuration${at} ${name} --query Role --output text)"`;
  return [
    `aws eks create-access-entry --region ${region} --cluster-name ${cluster}`,
    `--kubernetes-groups ${entry.group} --principal-arn ${role}`,
  ].join(' ');
}

/** The resync also reads the watch checkpoint, with a Role of the same name. */
function bind({ clusterRole, group }: AccessEntry, user: string, project: string): string {
  const name = `${clusterRole}-shared`;
  const everywhere = `kubectl create clusterrolebinding ${name} --clusterrole=${clusterRole} --user=${user}`;
  const { resyncIdentity, namespace } = clusterNames(project);
  if (group !== resyncIdentity) return everywhere;
  const inNamespace = `kubectl -n ${namespace} create rolebinding ${name} --role=${clusterRole} --user=${user}`;
  return `${everywhere} && ${inNamespace}`;
}
