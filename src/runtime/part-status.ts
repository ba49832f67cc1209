// What a second controller's part of a status should be. A part has no Ready, Reconciling or Stalled of its own, so what goes
// wrong is said in its own conditions: Unknown while it is being tried again, False once it is given up. Pure, as status.ts.
import { reasons } from '../core/conditions.ts';
import { NotOwnedError } from '../core/errors.ts';
import type { AnyResult } from '../api/parse-result.ts';
import { redact } from '../core/redact.ts';
import type { Condition } from '../core/result.ts';
import {
  type Basis,
  conditionsAfter,
  type OwnedStatus,
  type Prospect,
  pick,
  reasonOf,
  standingConditions,
} from './status.ts';

/** A part is known as stalled by these reasons, so in a part they are the runtime's alone. */
const stalling: readonly string[] = [reasons.gaveUp, reasons.terminal, reasons.invalidSpec];

/**
 * After a result. With `retry`, the author's conditions stand while it is being tried again, unless they say that all is
 * well; what is given up is said in those that are not True.
 */
export function partAfterResult(
  { status, conditions, retry }: AnyResult,
  basis: Basis,
  prospect: Prospect = 'retrying',
): OwnedStatus {
  const said: Record<string, Condition> = Object.fromEntries(
    Object.entries(pick(conditions, basis.declared)).map(([type, one]) => [
      type,
      { ...one, reason: reported(one.reason) },
    ]),
  );
  if (retry !== undefined) {
    const wrong = basis.declared.filter((type) => said[type]?.status !== 'True');
    const concerned = wrong.length === 0 ? basis.declared : prospect === 'retrying' ? [] : wrong;
    for (const type of concerned) said[type] = verdict(retry, prospect);
  }
  return { ...status, conditions: conditionsAfter(said, basis) };
}

/** After a throw: the fields that we own are kept, and every condition of ours says what is wrong. */
export function partAfterFailure(error: Error, prospect: Prospect, basis: Basis): OwnedStatus {
  return { ...basis.owned, conditions: conditionsAfter(all(verdict(error, prospect), basis), basis) };
}

/** While the part's own finalizer stays: why, and with an error also whether it is given up. */
export function partWhileFinalizing(finalized: Condition, basis: Basis, prospect?: Prospect): OwnedStatus {
  const isGivenUp = prospect !== undefined && prospect !== 'retrying';
  const reason = isGivenUp ? reasonOf[prospect] : reported(finalized.reason);
  const why: Condition = { status: 'False', reason, message: redact(finalized.message ?? '') };
  return { ...basis.owned, conditions: conditionsAfter(all(why, basis), basis) };
}

/** Tells whether the part is already stalled at this generation. */
export function isPartStalled(owned: Readonly<Record<string, unknown>>, generation: number): boolean {
  return standingConditions(owned).some(
    ({ status, reason, observedGeneration }) =>
      status === 'False' && stalling.includes(reason) && observedGeneration === generation,
  );
}

function verdict(error: Error, prospect: Prospect): Condition {
  const message = redact(error.message);
  if (prospect !== 'retrying') return { status: 'False', reason: reasonOf[prospect], message };
  if (error instanceof NotOwnedError) return { status: 'False', reason: reasons.notOwned, message };
  return { status: 'Unknown', reason: reasons.retrying, message };
}

function all(condition: Condition, { declared }: Basis): Record<string, Condition> {
  return Object.fromEntries(declared.map((type) => [type, condition]));
}

/** An author may hand on what a child says, and the child may have been given up; the part has not. */
function reported(reason: string): string {
  return stalling.includes(reason) ? `Reported${reason}` : reason;
}
