// The decision of IAM, as far as our policies need it: statements with actions, resources and wildcards; an explicit
// Deny overrides every Allow; within an account one side is enough, and between accounts both have to allow a call.
// Other conditions and principals than ours are rejected, so that no call is considered allowed by mistake.
import * as z from 'zod';

const oneOrMore = z.union([z.string().transform((one) => [one]), z.array(z.string())]);
const ownAccount = z.strictObject({ StringEquals: z.strictObject({ 'aws:ResourceAccount': z.string() }) });
const statement = z.strictObject({
  Effect: z.enum(['Allow', 'Deny']),
  Action: oneOrMore,
  Resource: oneOrMore,
  Condition: ownAccount.optional(),
});
const document = z.looseObject({ Statement: z.array(statement) });
/** About plain HTTP, which no call here uses. */
const plainHttp = z.looseObject({
  Effect: z.literal('Deny'),
  Condition: z.strictObject({ Bool: z.strictObject({ 'aws:SecureTransport': z.literal('false') }) }),
});
/** About the rules of EventBridge, which calls nothing here. */
const ofService = z.looseObject({ Effect: z.literal('Allow'), Principal: z.strictObject({ Service: z.string() }) });
const queueStatement = z.union([
  plainHttp.transform(() => undefined),
  ofService.transform(() => undefined),
  statement.omit({ Condition: true }).extend({ Principal: z.strictObject({ AWS: oneOrMore }) }),
]);
const queueDocument = z.looseObject({ Statement: z.array(queueStatement) });

/** One statement of a policy. */
export type Statement = z.infer<typeof statement>;

/** One statement of a queue's policy. */
export type QueueStatement = Statement & { readonly Principal: { readonly AWS: readonly string[] } };

/** Who calls: an ARN, and the statements of its own policies. */
export type Principal = { readonly arn: string; readonly statements: readonly Statement[] };

/** A call: `sqs:SendMessage` on an ARN. */
export type Call = { readonly action: string; readonly resource: string };

/** Parses the statements of a policy document. Throws for unsupported ones. */
export function statementsOf(policy: unknown): readonly Statement[] {
  return document.parse(policy).Statement;
}

/** Parses the statements of a queue's policy about roles and users. Throws for unsupported ones. */
export function queueStatementsOf(policy: unknown): readonly QueueStatement[] {
  return queueDocument.parse(policy).Statement.filter((one) => one !== undefined);
}

/** Returns whether a principal may make a call on a queue with this policy (IAM, "Cross-account policy evaluation logic"). */
export function mayCall({ arn, statements }: Principal, call: Call, policy: readonly QueueStatement[]): boolean {
  const ofQueue = policy.filter(({ Principal: { AWS } }) => AWS.includes(arn));
  const [account, owner] = [arn, call.resource].map((one) => one.split(':')[4]);
  if (account === owner) return isAllowed([...statements, ...ofQueue], call);
  return isAllowed(statements, call) && isAllowed(ofQueue, call);
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
