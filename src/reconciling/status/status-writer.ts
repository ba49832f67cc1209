// The two ways of writing a controller's status: with Ready and observedGeneration for the kind's first controller, and
// as a status slice for every other one. The rest of the reconcile uses a StatusWriter and need not know which of the
// two it is.
import { runtimeConditions } from '../../api/conditions.ts';
import type { ControllerDeclaration } from '../../api/definition.ts';
import type { KindDefinition } from '../../api/kind-definition.ts';
import type { AnyResult } from '../../api/parse-result.ts';
import type { DeclaredCondition } from '../../api/result.ts';
import { observedGenerationOf, type StatusSlice } from '../../api/status-slice.ts';
import type { OwnStatus } from './own-status.ts';
import {
  isSliceFailing,
  isSliceStalled,
  sliceAfterFailure,
  sliceAfterResult,
  sliceWhileFinalizing,
} from './slice-status.ts';
import {
  isFailing,
  isStalled,
  type OwnedStatus,
  type RetryState,
  type StatusInput,
  statusAfterFailure,
  statusAfterResult,
  statusWhileFinalizing,
} from './status.ts';

/** Computes the status of one controller. Each result contains all status fields that the controller owns. */
export type StatusWriter = {
  /** The types of the conditions that the author reports. */
  readonly declared: readonly string[];
  /** What of the status is the controller's, whoever has written it. */
  readonly own: OwnStatus;
  /** Whether the controller writes a status. It does not for a foreign kind. */
  readonly writesStatus: boolean;
  afterResult(result: AnyResult, input: StatusInput, retryState?: RetryState): OwnedStatus;
  afterFailure(error: Error, retryState: RetryState, input: StatusInput): OwnedStatus;
  whileFinalizing(finalized: DeclaredCondition, input: StatusInput, retryState?: RetryState): OwnedStatus;
  isStalled(owned: Readonly<Record<string, unknown>>, generation: number): boolean;
  /** Whether the status shows that the last reconcile of the generation has failed, or may have. */
  isFailing(owned: Readonly<Record<string, unknown>>, generation: number): boolean;
  /** Whether the status shows what was observed. That of a foreign kind does not. */
  readonly showsObserved: boolean;
  /** Returns the generation from which the owned status was computed. */
  observed(owned: Readonly<Record<string, unknown>>): number | undefined;
};

/** Creates the status writer of a controller. */
export function createStatusWriter({
  resource,
  statusSlice,
}: Pick<ControllerDeclaration, 'resource' | 'statusSlice'>): StatusWriter {
  const observed = (owned: Readonly<Record<string, unknown>>) => observedGenerationOf(owned, statusSlice);
  const { definition } = resource;
  return statusSlice === undefined
    ? {
        declared: definition?.conditions ?? [],
        own: ownOf(definition),
        writesStatus: definition !== undefined,
        showsObserved: definition !== undefined,
        afterResult: statusAfterResult,
        afterFailure: statusAfterFailure,
        whileFinalizing: statusWhileFinalizing,
        isStalled,
        isFailing,
        // The observedGeneration of a foreign kind is another controller's.
        observed: definition === undefined ? () => undefined : observed,
      }
    : definition === undefined && statusSlice.isObserved === undefined
      ? foreignSliceWriter(statusSlice)
      : {
          declared: statusSlice.conditions,
          own: { conditions: statusSlice.conditions, fields: statusSlice.status, sharedFields: [] },
          writesStatus: true,
          showsObserved: true,
          afterResult: sliceAfterResult,
          afterFailure: sliceAfterFailure,
          whileFinalizing: sliceWhileFinalizing,
          isStalled: isSliceStalled,
          isFailing: (owned) => isSliceFailing(owned, { declared: statusSlice.conditions }),
          observed,
        };
}

/** What is the first controller's: all of the status but slices. Of a foreign kind it is nothing. */
function ownOf(definition: KindDefinition | undefined): OwnStatus {
  if (definition === undefined) return { conditions: [], fields: [], sharedFields: [] };
  return {
    conditions: [...runtimeConditions, ...definition.conditions],
    fields: ['observedGeneration'],
    sharedFields: Object.keys(definition.status.shape),
  };
}

/**
 * The conditions of a foreign kind have no observedGeneration, unless its CRD is known to have it: the API server
 * rejects it for most built-in kinds (500, field not declared in schema) [tried on kube-apiserver 1.36.3].
 */
function foreignSliceWriter({ conditions: declared, status: fields }: StatusSlice): StatusWriter {
  const foreign = ({ conditions, ...rest }: OwnedStatus): OwnedStatus => ({
    ...rest,
    conditions: conditions.map(({ observedGeneration: _, ...one }) => one),
  });
  return {
    declared,
    own: { conditions: declared, fields, sharedFields: [] },
    writesStatus: true,
    showsObserved: false,
    afterResult: (...given) => foreign(sliceAfterResult(...given)),
    afterFailure: (...given) => foreign(sliceAfterFailure(...given)),
    whileFinalizing: (...given) => foreign(sliceWhileFinalizing(...given)),
    isStalled: () => false,
    isFailing: () => true,
    observed: () => undefined,
  };
}
