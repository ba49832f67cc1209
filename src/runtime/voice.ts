// How a controller speaks in an object's status: the kind's first controller with Ready and all that sums it up, a second one
// within its part. Whoever writes a status asks the voice what to write, and never which of the two it is.
import type { Declaration } from '../core/controller.ts';
import type { AnyResult } from '../api/parse-result.ts';
import type { Condition } from '../core/result.ts';
import { observedGenerationOf } from './observed.ts';
import { isPartStalled, partAfterFailure, partAfterResult, partWhileFinalizing } from './part-status.ts';
import {
  type Basis,
  isStalled,
  type OwnedStatus,
  type Prospect,
  statusAfterFailure,
  statusAfterResult,
  statusWhileFinalizing,
} from './status.ts';

/** A voice. Each status is all that its controller owns. */
export type Voice = {
  /** The conditions that the author answers for. */
  readonly declared: readonly string[];
  afterResult(result: AnyResult, basis: Basis, prospect?: Prospect): OwnedStatus;
  afterFailure(error: Error, prospect: Prospect, basis: Basis): OwnedStatus;
  whileFinalizing(finalized: Condition, basis: Basis, prospect?: Prospect): OwnedStatus;
  isStalled(owned: Readonly<Record<string, unknown>>, generation: number): boolean;
  /** The generation that the owned status was made from. */
  observed(owned: Readonly<Record<string, unknown>>): number | undefined;
};

/** The voice of a controller. */
export function voiceOf({ resource, part }: Pick<Declaration, 'resource' | 'part'>): Voice {
  const observed = (owned: Readonly<Record<string, unknown>>) => observedGenerationOf(owned, part);
  return part === undefined
    ? {
        declared: resource.definition.conditions,
        afterResult: statusAfterResult,
        afterFailure: statusAfterFailure,
        whileFinalizing: statusWhileFinalizing,
        isStalled,
        observed,
      }
    : {
        declared: part.conditions,
        afterResult: partAfterResult,
        afterFailure: partAfterFailure,
        whileFinalizing: partWhileFinalizing,
        isStalled: isPartStalled,
        observed,
      };
}
