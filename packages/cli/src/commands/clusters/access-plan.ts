// The shell commands that give the functions access to a cluster, or take it away. No request is sent to AWS here: a
// function's role has an ARN that only its account knows, so the command that needs the ARN queries it.
import type { ClusterEntry } from 'outrigger/internal/clusters/registry/entry';
import { clusterNames, deploymentPrefix } from 'outrigger/internal/core/names';
import type { WatchList } from 'outrigger/internal/core/watch-list';
import { type AccessEntry, fleetWatcherAccess } from 'outrigger/internal/generate/rbac/access-entries';

/**
 * What one function, or a fleet watcher, needs in one cluster. A step without a command is for the administrator who
 * issues the credentials.
 */
export type AccessStep = Omit<AccessEntry, 'function'> & { readonly function?: string; readonly command?: string };

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
  /** Takes the access away: the fence before another region goes on. Needs the region. */
  readonly revoke?: boolean | undefined;
  /** A fleet watcher needs access too. `role` is the ARN of its role on AWS; absent: it has none. */
  readonly fleetWatcher?: { readonly role?: string } | undefined;
  readonly watchList: WatchList;
};

/** Plans the access to one cluster. */
export function accessPlan(
  cluster: string,
  { access, decommissioning = false }: ClusterEntry,
  entries: readonly AccessEntry[],
  deployment: AccessTarget,
): AccessPlan {
  const plan = { cluster, access: access.type };
  // What is being decommissioned is fenced like any other.
  if (decommissioning && deployment.revoke !== true)
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
        steps: [
          ...entries.map((entry) => ({
            ...entry,
            command: accessEntry(access, { group: entry.group, role: roleOf(entry, deployment) }, deployment),
          })),
          ...fleetWatcherSteps(access, deployment),
        ],
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
function shared(
  functions: readonly AccessEntry[],
  { user, fleetWatcher, watchList, ...target }: AccessTarget,
): Pick<AccessPlan, 'note' | 'steps'> {
  const entries = fleetWatcher === undefined ? functions : [...functions, fleetWatcherAccess(watchList)];
  if (user !== undefined) {
    const note =
      `has one identity for all functions, ${user}; ` +
      'the admission policies apply only to the functions’ own groups; kubectl uses its current context';
    return { note, steps: entries.map((entry) => ({ ...entry, command: bind(entry, user, target) })) };
  }
  if (target.revoke === true) return { note: 'is not fenced: all functions have one identity', steps: [] };
  const note =
    'has one identity for all functions, which must be in these groups (a certificate has them as organizations), ' +
    'or be bound to their roles: --user NAME prints the commands';
  return { note, steps: entries };
}

/** Formats a plan as lines for a shell. A line that is not a command is a comment. */
export function planLines({ cluster, note, steps }: AccessPlan): readonly string[] {
  return [`# ${cluster}: ${note}.`, ...steps.map(({ command, group }) => command ?? `#   ${group}`)];
}

/** A fleet watcher on AWS has a role of its own. One elsewhere cannot sign the tokens of EKS. */
function fleetWatcherSteps(
  access: { readonly cluster: string; readonly region: string },
  target: AccessTarget,
): readonly AccessStep[] {
  const { fleetWatcher, watchList } = target;
  if (fleetWatcher === undefined) return [];
  const entry = fleetWatcherAccess(watchList);
  const { role } = fleetWatcher;
  if (role === undefined) return [entry];
  return [{ ...entry, command: accessEntry(access, { group: entry.group, role: `"${role}"` }, target) }];
}

function accessEntry(
  { cluster, region }: { readonly cluster: string; readonly region: string },
  { group, role }: { readonly group: string; readonly role: string },
  { revoke = false }: AccessTarget,
): string {
  const at = `--region ${region} --cluster-name ${cluster}`;
  if (revoke) return `aws eks delete-access-entry ${at} --principal-arn ${role}`;
  return `aws eks create-access-entry ${at} --kubernetes-groups ${group} --principal-arn ${role}`;
}

/**
 * Returns a shell expression for the ARN of a function's role. A region that is lost does not answer for its functions,
 * but IAM has no region.
 */
function roleOf(entry: AccessEntry, { stage, project, region, revoke }: AccessTarget): string {
  const name = `${deploymentPrefix(stage, project)}${entry.function}`;
  if (revoke) return `"$(aws iam get-role --role-name ${name}-${region} --query Role.Arn --output text)"`;
  const at = region === undefined ? '' : ` --region ${region}`;
  return `"$(aws lambda get-function-configuration${at} --function-name ${name} --query Role --output text)"`;
}

function bind(
  { clusterRole, hasRole = false, namespaces = [] }: Omit<AccessEntry, 'function'>,
  user: string,
  { project, revoke }: Pick<AccessTarget, 'project' | 'revoke'>,
): string {
  // A cluster may have the users of two stages. A name of RBAC has no slash.
  const name = `${clusterRole}-${user.replaceAll('/', '-')}`;
  const command = (kind: string, role: string) =>
    revoke
      ? `delete ${kind} ${name} --ignore-not-found`
      : `create ${kind} ${name} --${role}=${clusterRole} --user=${user}`;
  const everywhere = `kubectl ${command('clusterrolebinding', 'clusterrole')}`;
  const places = [...namespaces, ...(hasRole ? [clusterNames(project).namespace] : [])];
  const within = places.map((place) => `kubectl -n ${place} ${command('rolebinding', 'role')}`);
  return [everywhere, ...within].join(revoke === true ? '; ' : ' && ');
}
