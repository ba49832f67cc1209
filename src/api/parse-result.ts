// What a reconciler returned, checked at run time: the compiler does not see an extra field, a condition that was never
// declared or a delay that is not a number, and past this point each of them would be lost without a word.
import * as z from 'zod';
import { InvalidResultError } from '../core/errors.ts';
import type { Side } from '../core/part.ts';
import type { Condition, Finalized } from '../core/result.ts';
import { formatProblems } from '../core/zod-problems.ts';

/** A result without its types: parsed, complete. */
export type AnyResult = {
  readonly status: object;
  readonly conditions: Readonly<Record<string, Condition>>;
  readonly requeueAfterSeconds?: number;
  readonly retry?: Error;
};

/** A year. What is due later is the resync's to find; what is not a number would be due never. */
const maxRequeueSeconds = 31_536_000;

const requeueAfterSeconds = z.number().max(maxRequeueSeconds);
// Not strict: a condition of a child, with its times, may be handed on as it stands.
const condition = z.object({
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string().min(1),
  message: z.string().optional(),
});

const finalized = z.strictObject({ requeueAfterSeconds, reason: z.string().min(1), message: z.string().optional() });

/**
 * Makes the check of a side's results, once: a schema costs more to make than to ask. The check throws InvalidResultError, naming the
 * field that is unknown, missing or wrong.
 */
export function createResultParser({
  conditions: declared,
  parseStatus,
}: Pick<Side<unknown, unknown>, 'conditions' | 'parseStatus'>): (result: {
  readonly status: unknown;
  readonly conditions: unknown;
}) => AnyResult {
  const rest = z.strictObject({
    conditions: z.strictObject(Object.fromEntries(declared.map((type) => [type, condition]))),
    requeueAfterSeconds: requeueAfterSeconds.optional(),
    retry: z.instanceof(Error).optional(),
  });
  return ({ status, conditions: said, ...wish }) => {
    const { conditions, requeueAfterSeconds: after, retry } = parse(rest, { conditions: said, ...wish });
    return {
      status: parseStatus(status),
      conditions: Object.fromEntries(Object.entries(conditions).map(([type, one]) => [type, conditionOf(one)])),
      ...(after === undefined ? {} : { requeueAfterSeconds: after }),
      ...(retry === undefined ? {} : { retry }),
    };
  };
}

/** Checks what finalize returned. Throws InvalidResultError. */
export function parseFinalized(said: Finalized): Finalized {
  if (said === 'done') return said;
  const { message, ...rest } = parse(finalized, said);
  return message === undefined ? rest : { ...rest, message };
}

function conditionOf({ message, ...rest }: z.output<typeof condition>): Condition {
  return message === undefined ? rest : { ...rest, message };
}

function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new InvalidResultError(formatProblems(parsed.error));
  return parsed.data;
}
