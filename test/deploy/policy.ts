// What IAM would answer, as far as our policies go: statements with actions, resources and wildcards, where a Deny goes before every
// Allow. No principals, and no conditions: a statement that has one is refused, so that nothing is taken for allowed by mistake.
import * as z from 'zod';

const oneOrMore = z.union([z.string().transform((one) => [one]), z.array(z.string())]);
const statement = z.strictObject({ Effect: z.enum(['Allow', 'Deny']), Action: oneOrMore, Resource: oneOrMore });
const document = z.looseObject({ Statement: z.array(statement) });

/** One statement of a policy. */
export type Statement = z.infer<typeof statement>;

/** What somebody wants to do: `sqs:SendMessage`, on an ARN. */
export type Call = { readonly action: string; readonly resource: string };

/** Reads the statements of a policy document. Throws for what is not understood here. */
export function statementsOf(policy: unknown): readonly Statement[] {
  return document.parse(policy).Statement;
}

/** Whether the statements allow a call. */
export function isAllowed(statements: readonly Statement[], call: Call): boolean {
  const about = statements.filter((one) => matches(one, call));
  return about.some(({ Effect }) => Effect === 'Allow') && !about.some(({ Effect }) => Effect === 'Deny');
}

/** Whether a statement speaks of a call. Actions are written in any case, resources exactly. */
export function matches({ Action, Resource }: Statement, { action, resource }: Call): boolean {
  return (
    Action.some((pattern) => wildcard(pattern.toLowerCase(), action.toLowerCase())) &&
    Resource.some((pattern) => wildcard(pattern, resource))
  );
}

/** `*` is any text, `?` any character. */
function wildcard(pattern: string, text: string): boolean {
  const parts = pattern.split(/([*?])/).map((part) => {
    if (part === '*') return '.*';
    return part === '?' ? '.' : part.replaceAll(/[.\\+^$(){}|[\]/-]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`, 's').test(text);
}
