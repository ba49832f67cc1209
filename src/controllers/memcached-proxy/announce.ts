// What a proxy's Events say of its children: one for each that was made, changed or deleted, and one for a refusal when it
// begins. A reconcile that changes nothing says nothing.
import { type Settled, settleChildren } from '../../core/aggregate.ts';
import type { Context } from '../../core/context.ts';
import type { Kind } from '../../core/kind.ts';
import type { StandingCondition } from '../../core/result.ts';
import type { Live } from './children.ts';

/** Whose Events they are: its name, and its conditions as they stood before. */
export type Subject = {
  readonly name: string;
  readonly conditions?: readonly StandingCondition[] | undefined;
  readonly record: Context<never, never, object>['record'];
};

/**
 * Waits for the children of a kind, and tells what became of them.
 * @param condition the condition that a refusal is shown in
 * @param make starts making them; calls `seen` with those that there were before
 */
export async function settleAndTell<O extends Live<object>>(
  subject: Subject,
  kind: Kind<O>,
  condition: string,
  make: (seen: (existing: readonly O[]) => void) => Promise<readonly O[]>,
): Promise<Settled<O>> {
  const before = new Map<string, O>();
  const settled = await settleChildren(
    kind,
    make((existing) => {
      for (const one of existing) before.set(one.metadata.uid, one);
    }),
  );
  const say = (verb: string, reason: string, child: string) =>
    subject.record('Normal', reason, `${verb} ${kind.kind} "${child}" for MemcachedProxy "${subject.name}" successful`);
  for (const { metadata } of settled.live ?? []) {
    const old = before.get(metadata.uid);
    before.delete(metadata.uid);
    if (old === undefined) say('create', 'SuccessfulCreate', metadata.name);
    else if (old.metadata.resourceVersion !== metadata.resourceVersion) {
      say('update', 'SuccessfulUpdate', metadata.name);
    }
  }
  for (const { metadata } of settled.live === undefined ? [] : before.values()) {
    if (metadata.deletionTimestamp === undefined) say('delete', 'SuccessfulDelete', metadata.name);
  }
  if (settled.problem !== undefined) {
    const reason = settled.problem.condition.reason === 'NotOwned' ? 'ErrResourceExists' : 'FailedUpdate';
    warnOnce(subject, { ...settled.problem.condition, type: condition }, reason);
  }
  return settled;
}

/** Warns of a condition, unless it stands already and says the same. */
export function warnOnce(
  { conditions, record }: Subject,
  condition: StandingCondition,
  reason = condition.reason,
): void {
  const { type, message = '' } = condition;
  const isKnown = conditions?.some(
    (one) => one.type === type && one.reason === condition.reason && one.message === message,
  );
  if (isKnown !== true) record('Warning', reason, message);
}
