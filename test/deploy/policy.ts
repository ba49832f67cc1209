// The decision of IAM, as far as our policies need it: statements with actions, resources and wildcards; an explicit
// Deny overrides every Allow. Principals and conditions are not supported: a statement with one is rejected, so that no
// call is considered allowed by mistake. The account of the resource is the only one here, so its condition holds.
import * as z from 'zod';

const oneOrMore = z.union([z.string().transform((one) => [one]), z.array(z.string())]);
const ownAccount = z.strictObject({ StringEquals: z.strictObject({ 'aws:ResourceAccount': z.string() }) });
const statement = z.strictObject({
  ...{ Effect: z.enum(['Allow', 'Deny']), Action: oneOrMore, Resource: oneOrMore },
  Condition: ownAccount.optional(),
});
const document = z.looseObject({ Statement: z.array(statement) });

/** One statement of a policy. */
export type Statement = z.infer<typeof statement>;

/** A call: `sqs:SendMessage` on an ARN. */
export type Call = { readonly action: string; readonly resource: string };

/** Parses the statements of a policy document. Throws for unsupported ones. */
export function statementsOf(policy: unknown): readonly Statement[] {
  return document.parse(policy).Statement;
}

/** Returns whether the statements allow a call. */
export function isAllowed(statements: readonly Statement[], call: Call): boolean {
  const applicable = statements.filter((one) => appliesTo(one, call));
  return applicable.some(({ Effect }) => Effect === 'Allow') && !applicable.some(({ Effect }) => Effect === 'Deny');
}

/** Returns whether a statement applies to a call. Actions are compared without case, resources exactly. */
export function appliesTo({ Action, Resource }: Statement, { action, resource }: Call): boolean {
  return (
    Action.some((pattern) => wildcard(pattern.toLowerCase(), action.toLowerCase())) &&
    Resource.some((pattern) => wildcard(pattern, resource))
  );
}

/** Matches `*` with any text and `?` with any character. */
function wildcard(pattern: string, text: string): boolean {
  const parts = pattern.split(/([*?])/).map((part) => {
    if (part === '*') return '.*';
    return part === '?' ? '.' : part.replaceAll(/[.\\+^$(){}|[\]/-]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`, 's').test(text);
}
