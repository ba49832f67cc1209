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
  /** Conditions of IAM: operator, key, and values, which may have the same names. Variables of IAM are left to it. */
  readonly conditions?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
  /** Accepts `*` in an action, and a resource of all accounts or names. Some actions know no resources. */
  readonly wildcard?: true;
};

/** Whether a placeholder is for the template: `AWS::Region`, a setting. Others are variables of IAM: `aws:userid`. */
export function isParameter(name: string): boolean {
  return /^(?:AWS::[A-Za-z]+|[A-Z][A-Z0-9_]*)$/.test(name);
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
