// How the readiness of children becomes a condition of their owner: the rules that Knative's Service made for its
// Configuration and Route. Pure; what the API server says of the children comes in as values.
import { isStanding } from './conditions.ts';
import { NotOwnedError, toError } from './errors.ts';
import type { Kind, Meta } from './kind.ts';
import { redact } from './redact.ts';
import type { Condition, StandingCondition } from './result.ts';

/** As much of a child as its readiness is read from. Any object of a kind of ours fits. */
export type Dependent = {
  readonly metadata: Pick<Meta, 'name' | 'generation'>;
  readonly conditions?: readonly StandingCondition[];
  readonly observedGeneration?: number;
};

/** Tells how ready a child is. What was said of an older generation says nothing of this one, whatever it said. */
export function readinessOf({ metadata, conditions, observedGeneration }: Dependent): Condition {
  const named = (message: string) => `${metadata.name}: ${message}`;
  const ready = conditions?.find(({ type }) => type === 'Ready');
  if (ready === undefined) return { status: 'Unknown', reason: 'NotReported', message: named('nothing reported yet') };
  if ((observedGeneration ?? ready.observedGeneration) !== metadata.generation) {
    return { status: 'Unknown', reason: 'OutOfDate', message: named('its status is of an older generation') };
  }
  return { status: ready.status, reason: ready.reason, message: named(ready.message ?? '') };
}

/** Sums up: a False beats an Unknown, nothing at all is Unknown, and only all True is True. The first of the worst speaks. */
export function aggregate(parts: readonly Condition[]): Condition {
  if (parts.length === 0) return { status: 'Unknown', reason: 'NoChildren' };
  const worst = parts.find(({ status }) => status === 'False') ?? parts.find(({ status }) => status !== 'True');
  return worst ?? { status: 'True', reason: 'AllReady' };
}

/** The children that live, as far as they are known, and what kept the others from it. */
export type Settled<O> = {
  readonly live?: readonly O[];
  readonly problem?: { readonly condition: Condition; readonly error: Error };
};

/**
 * Waits for `children`, and turns what it throws into a condition, so that a status can be written although the set is not
 * complete. Return the error as `retry`.
 * @example const { live, problem } = await settleChildren(service, children(service, [wanted]));
 */
export async function settleChildren<O extends object>(
  kind: Kind<O>,
  applying: Promise<readonly O[]>,
): Promise<Settled<O>> {
  try {
    return { live: await applying };
  } catch (thrown) {
    const error = toError(thrown);
    const message = redact(error.message);
    if (error instanceof NotOwnedError) {
      const live = error.live?.map((raw) => kind.read(raw));
      const condition = { status: 'False', reason: 'NotOwned', message } as const;
      return { ...(live === undefined ? {} : { live }), problem: { condition, error } };
    }
    return { problem: { condition: { status: 'False', reason: 'ChildRefused', message }, error } };
  }
}

/**
 * Warns of children that were refused, in one Event each. One that stands in the conditions as it is now has been told.
 * @param settled by the condition that a refusal is shown in
 * @example warnOfRefusals(record, conditions, { ServiceReady: services });
 */
export function warnOfRefusals(
  record: (type: 'Warning', reason: string, message: string) => void,
  standing: readonly StandingCondition[] | undefined,
  settled: Readonly<Record<string, Settled<object>>>,
): void {
  for (const [type, { problem }] of Object.entries(settled)) {
    if (problem === undefined || isStanding(standing, type, problem.condition)) continue;
    const { reason, message = '' } = problem.condition;
    record('Warning', reason === 'NotOwned' ? 'ErrResourceExists' : 'ErrChildRefused', message);
  }
}
