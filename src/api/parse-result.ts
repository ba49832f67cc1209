// Checks the result of a reconciler at run time. The compiler does not see an extra field, an undeclared condition or a
// delay that is not a number, and the later steps would drop each of them silently.
import * as z from 'zod';
import { InvalidResultError, TerminalError } from '../core/errors.ts';
import { formatZodIssues, uncompiled } from '../core/json.ts';
import { maxRequeueSeconds } from '../core/time.ts';
import type { StatusView } from './kind-definition.ts';
import type { DeclaredCondition, Finalized } from './result.ts';

/** A result without its types: parsed, complete. */
export type AnyResult = {
  readonly status: object;
  readonly conditions: Readonly<Record<string, DeclaredCondition>>;
  readonly requeueAfterSeconds?: number | undefined;
  readonly requeueAt?: Date | undefined;
  readonly error?: Error | undefined;
};

const requeueAfterSeconds = z.number().max(maxRequeueSeconds);
/** The rules of metav1.Condition for a reason. The API server rejects any other status. */
const reason = z
  .string()
  .min(1)
  .max(1024)
  .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/, 'no CamelCase word, such as NotReady');
// Not strict: a condition of a child may be returned unchanged, with its times.
const condition = z.object({
  status: z.enum(['True', 'False', 'Unknown']),
  reason,
  message: z.string().optional(),
});

/**
 * The shape that is checked first. The parts of a result are then parsed one by one, so that errors have their paths.
 */
const returned = z.looseObject({ status: z.unknown().optional(), conditions: z.unknown() });

const nothingReturned =
  'the reconcile returned nothing; a result has `conditions`, and `status` if the kind is the project’s own';

const nothingFinalized = "finalize returned nothing; return 'done', or a `reason` with `requeueAfterSeconds`";

const later = z.strictObject({
  requeueAfterSeconds: requeueAfterSeconds.optional(),
  requeueAt: z.date('is not a valid time').optional(),
  error: z.instanceof(Error).optional(),
});
const finalized = z.strictObject({ ...later.omit({ error: true }).shape, reason, message: z.string().optional() });

/**
 * Makes the check of a view's results. It is made once, because creating a schema costs more than using it. The check
 * throws InvalidResultError, naming the field that is missing or wrong, or TerminalError for one that is unknown.
 */
export function createResultParser({
  conditions: declared,
  parseStatus,
}: Pick<StatusView, 'conditions' | 'parseStatus'>): (result: unknown) => AnyResult {
  if (parseStatus === undefined) return parseWithoutStatus;
  const rest = z.strictObject({
    conditions: z.strictObject(Object.fromEntries(declared.map((type) => [type, condition]))),
    ...later.shape,
  });
  return (result) => {
    if (result === undefined || result === null) throw new InvalidResultError(nothingReturned);
    const { status, conditions: said, ...wish } = parse(returned, result);
    const { conditions, ...when } = parse(rest, { conditions: said, ...wish });
    return {
      status: parseStatus(status),
      conditions: Object.fromEntries(Object.entries(conditions).map(([type, one]) => [type, conditionOf(one)])),
      ...laterOf(when),
    };
  };
}

/** A controller that writes no status returns a requeue time, or nothing. */
function parseWithoutStatus(result: unknown): AnyResult {
  return { status: {}, conditions: {}, ...laterOf(parse(later, result ?? {})) };
}

function laterOf({ requeueAfterSeconds: after, requeueAt, error }: z.output<typeof later>) {
  if (after !== undefined && requeueAt !== undefined) {
    throw new InvalidResultError('requeueAfterSeconds and requeueAt: give one of the two');
  }
  return { requeueAfterSeconds: after, requeueAt, error };
}

/** Checks what finalize returned. Throws as the check of a result does. */
export function parseFinalized(said: Finalized): Finalized {
  if (said === 'done') return said;
  if (said === undefined || said === null) throw new InvalidResultError(nothingFinalized);
  const { reason, message, ...when } = parse(finalized, said);
  const { requeueAfterSeconds, requeueAt } = laterOf(when);
  const why = message === undefined ? { reason } : { reason, message };
  if (requeueAt !== undefined) return { ...why, requeueAt };
  if (requeueAfterSeconds !== undefined) return { ...why, requeueAfterSeconds };
  throw new InvalidResultError('requeueAfterSeconds or requeueAt is needed');
}

/**
 * Parses a value strictly: a field that the schema does not know would be dropped on its way to the API server, so it
 * is an error, at any depth. Throws as the check of a result does, naming the field below `name`.
 */
export function parseStrictly(schema: z.ZodObject, value: unknown, name: string): object {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw refusalOf(parsed.error, name);
  const unknown = unknownPath(value, parsed.data, name);
  if (unknown !== undefined) throw new TerminalError(`${unknown}: unknown field`);
  return parsed.data;
}

function conditionOf({ message, ...rest }: z.output<typeof condition>): DeclaredCondition {
  return message === undefined ? rest : { ...rest, message };
}

function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value, uncompiled);
  if (!parsed.success) throw refusalOf(parsed.error);
  return parsed.data;
}

/** A wrong value may come from outside and be another one later. A field that no schema has is one of the code. */
function refusalOf(error: z.ZodError, name?: string): Error {
  const text = formatZodIssues(error, name);
  const isUnknown = error.issues.some(({ code }) => code === 'unrecognized_keys');
  return isUnknown ? new TerminalError(text) : new InvalidResultError(text);
}

function unknownPath(given: unknown, known: unknown, path: string): string | undefined {
  if (typeof given !== 'object' || given === null || typeof known !== 'object' || known === null) return undefined;
  const kept = new Map(Object.entries(known));
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const at = `${path}.${name}`;
    if (!kept.has(name)) return at;
    const below = unknownPath(value, kept.get(name), at);
    if (below !== undefined) return below;
  }
  return undefined;
}
