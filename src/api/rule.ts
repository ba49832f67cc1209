// Rules across fields. The API server would not enforce a refinement of zod. A rule therefore has both: the check, and
// the same rule as a CEL expression for the CRD. `generate` refuses a refinement that has no rule.
import * as z from 'zod';
import { uncompiled } from '../core/json.ts';

/** The rule in the CRD: one entry of x-kubernetes-validations. */
export type CelRule = {
  /** The expression; `self` is the value that the rule is attached to. */
  readonly rule: string;
  /** What a user is told whose object breaks the rule. */
  readonly message: string;
  /** Which field an error names, relative to the value: `.targetLevel`. */
  readonly fieldPath?: string | undefined;
};
const celRules: z.ZodType<readonly CelRule[]> = z.array(
  z.object({ rule: z.string(), message: z.string(), fieldPath: z.string().optional() }),
);

/** The key under which a schema's metadata, and so its JSON schema, carries its rules. */
export const rulesKey = 'x-kubernetes-validations';

/** In a schema's metadata: unknown fields are kept, as `z.unknown()` and `z.looseObject()` do where we parse. */
export const preserveKey = 'x-kubernetes-preserve-unknown-fields';

/**
 * Adds a rule to a schema: checked by zod where we parse, and by CEL in the API server.
 * @example withRule(z.object({ low: z.number(), high: z.number() }), { rule: 'self.low < self.high', message: 'low
 *   must be below high', fieldPath: '.low' }, (value) => value.low < value.high)
 */
export function withRule<S extends z.ZodType>(schema: S, cel: CelRule, holds: (value: z.output<S>) => boolean): S {
  const path = cel.fieldPath?.split('.').filter((segment) => segment !== '');
  const refined = schema.refine(holds, { message: cel.message, path });
  return refined.meta({ ...schema.meta(), [rulesKey]: [...rulesOf(schema), cel] });
}

/** The rules that a schema carries, in the order they were added. */
export function rulesOf(schema: z.ZodType): readonly CelRule[] {
  return celRules.parse(schema.meta()?.[rulesKey] ?? [], uncompiled);
}
