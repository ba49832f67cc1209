// What a controller's function may do on AWS beside its own queues, table and log: statements of its role, which the
// generated template has for this function and no other.

/** A statement of the role of a controller's function. */
export type Permission = {
  /** Actions of IAM, such as `route53:ChangeResourceRecordSets`. */
  readonly actions: readonly string[];
  /**
   * ARNs. `${AWS::Partition}`, `${AWS::Region}` and `${AWS::AccountId}` are those of the stack, and `${ZONE_ID}` is the
   * setting ZONE_ID of the controller.
   */
  readonly resources: readonly string[];
  /** Conditions of IAM: operator, key, and values. */
  readonly conditions?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
  /** Accepts `*` in an action, and a resource of all accounts or names. Some actions know no resources. */
  readonly wildcard?: true;
};

/** A problem of a permission: where it is, and what to write. */
export type PermissionProblem = { readonly path: readonly string[]; readonly text: string };

const actionForm = /^[a-z0-9-]+:[A-Za-z0-9*?]+$/;
const operatorForm = /^(?:For(?:Any|All)Values:)?[A-Z][A-Za-z]+$/;
/** ARNs begin with `arn:`, partition, service, region and account, which may be empty or a placeholder. */
const arnForm =
  /^arn:(?:[a-z-]+|\$\{AWS::Partition\}):[a-z0-9-]+:(?:[a-z0-9-]*|\$\{[^}]+\}):(?:\d*|\$\{[^}]+\}|aws):.+$/;
const pseudoParameters = new Set(['AWS::Partition', 'AWS::Region', 'AWS::AccountId', 'AWS::URLSuffix']);

/**
 * Returns the first problem of a controller's permissions; undefined if there is none.
 *
 * @param settings the names of the controller's settings that are no secrets, which resources may name.
 */
export function permissionProblem(
  permissions: readonly Permission[],
  settings: readonly string[],
): PermissionProblem | undefined {
  for (const [index, permission] of permissions.entries()) {
    const problem = problemOf(permission, settings);
    if (problem !== undefined) return { ...problem, path: [String(index), ...problem.path] };
  }
  return undefined;
}

function problemOf(
  { actions, resources, conditions = {}, wildcard }: Permission,
  settings: readonly string[],
): PermissionProblem | undefined {
  if (actions.length === 0) return { path: ['actions'], text: 'name at least one action' };
  if (resources.length === 0) return { path: ['resources'], text: 'name at least one ARN' };
  const accept = 'say `wildcard: true` if that is meant';
  for (const [index, action] of actions.entries()) {
    const path = ['actions', String(index)];
    if (action !== '*' && !actionForm.test(action))
      return { path, text: `${action} is not an action of IAM, which is like route53:ChangeResourceRecordSets` };
    if (wildcard !== true && /[*?]/.test(action))
      return { path, text: `${action} permits every action it matches; ${accept}` };
  }
  for (const [index, resource] of resources.entries()) {
    const path = ['resources', String(index)];
    const unknown = placeholdersOf(resource).find((name) => !pseudoParameters.has(name) && !settings.includes(name));
    if (unknown !== undefined)
      return { path, text: `\${${unknown}} is not a setting of the controller, or is a secret; name a setting` };
    if (resource !== '*' && !arnForm.test(resource)) return { path, text: `${resource} is not an ARN` };
    if (wildcard !== true && isEverything(resource)) return { path, text: `${resource} is every resource; ${accept}` };
  }
  const operator = Object.keys(conditions).find((name) => !operatorForm.test(name));
  return operator === undefined
    ? undefined
    : { path: ['conditions', operator], text: 'is not an operator of IAM, which is like StringEquals' };
}

/** Returns whether nothing of a resource's name is fixed: `*`, `arn:aws:s3:::*`, `arn:aws:sqs:*:*:*`. */
function isEverything(resource: string): boolean {
  if (resource === '*') return true;
  const name = resource.split(':').slice(5).join(':');
  return /^[*?/:]+$/.test(name);
}

/** Lists the names in `${...}`. */
export function placeholdersOf(text: string): readonly string[] {
  return [...text.matchAll(/\$\{([^}]*)\}/g)].map(([, name = '']) => name);
}

/** Returns whether a statement's actions permit an action. IAM compares them without regard to case. */
export function permitsAction({ actions }: Permission, action: string): boolean {
  return actions.some((pattern) => {
    const escaped = pattern.replaceAll(/[.+^$()|[\]\\{}]/g, '\\$&');
    return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'i').test(action);
  });
}
