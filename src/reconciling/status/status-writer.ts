// Computes a controller's status: with Ready and observedGeneration for the kind's first controller, and as a status
// slice for every other one. The rest of the reconcile need not know which of the two it is. Pure. write-status.ts
// applies the status, if it differs from the status fields that the controller owns.
import { mergeConditions, runtimeConditions } from '../../api/conditions.ts';
import type { ControllerDeclaration } from '../../api/definition.ts';
import type { AnyResult } from '../../api/parse-result.ts';
import type { Condition, DeclaredCondition } from '../../api/result.ts';
import { observedGenerationOf } from '../../api/status-slice.ts';
import { maskSecrets, redact } from '../../core/redact.ts';
import type { OwnStatus } from './own-status.ts';
import { sliceStyle } from './slice-status.ts';
import { type Conditions, currentConditions, type Failure, type Fields, firstStyle } from './status.ts';

/** The status that the controller's field manager applies: all status fields that the controller owns. */
export type OwnedStatus = {
  readonly [field: string]: unknown;
  readonly conditions: readonly Condition[];
  /** Only of a kind's first controller. */
  readonly observedGeneration?: number;
};

/** What every status depends on. */
export type StatusInput = {
  /** The status fields that the controller's field manager owned when the object was read. */
  readonly owned: Fields;
  readonly generation: number;
  readonly now: Date;
};

/** Computes the status of one controller. Each status has all status fields that the controller owns. */
export type StatusWriter = ReturnType<typeof createStatusWriter>;

/** Creates the status writer of a controller. `failure` is that of an error in a result, or of finalize. */
export function createStatusWriter(declaration: Pick<ControllerDeclaration, 'resource' | 'statusSlice'>) {
  const { resource, statusSlice } = declaration;
  const { definition } = resource;
  const declared = statusSlice?.conditions ?? definition?.conditions ?? [];
  const style = statusSlice === undefined ? firstStyle(declared) : sliceStyle(declared);
  // The observedGeneration of a foreign kind is another controller's, and its conditions have none unless its CRD is
  // known to have it: the API server rejects it for most built-in kinds (500, field not declared in schema) [tried on
  // kube-apiserver 1.36.3].
  const showsObserved = definition !== undefined || statusSlice?.isObserved === true;
  const statusOf = (fields: object, said: Conditions, input: StatusInput, keeps = style.keeps): OwnedStatus => {
    const { owned, generation } = input;
    // A transition time stays if the condition's status does, kept or not.
    const current = currentConditions(owned).filter(({ type }) => type in said || keeps(type));
    const merged = mergeConditions(current, said, input);
    const conditions = showsObserved ? merged : merged.map(({ observedGeneration: _, ...one }) => one);
    const observed = statusSlice === undefined ? { observedGeneration: generation } : {};
    return { ...fields, ...observed, conditions };
  };
  return {
    /** What of the status is the controller's, whoever has written it. */
    own: ownOf(declaration),
    /** Whether the controller writes a status. It does not for a foreign kind. */
    writesStatus: definition !== undefined || statusSlice !== undefined,
    /** Whether the status shows what was observed. That of a foreign kind does not. */
    showsObserved,
    afterResult: ({ status, conditions }: AnyResult, input: StatusInput, failure?: Failure) => {
      const reported = declared.map((type) => [type, withoutSecrets(conditions[type] ?? notReported)] as const);
      return statusOf(status, style.afterResult(Object.fromEntries(reported), failure), input, () => false);
    },
    /** The owned fields are kept, because an apply removes fields that it does not repeat. */
    afterFailure: (failure: Failure, input: StatusInput) => statusOf(input.owned, style.afterFailure(failure), input),
    /** Of an object whose finalizer stays. */
    whileFinalizing: ({ message = '', ...rest }: DeclaredCondition, input: StatusInput, failure?: Failure) => {
      const said = style.whileFinalizing({ ...rest, message: redact(message) }, failure);
      return statusOf(input.owned, said, input);
    },
    /** Whether the object is stalled at this generation: then each message gets one attempt and no dead letter. */
    isStalled: (owned: Fields, generation: number) => {
      const stalled = currentConditions(owned).filter(style.isStalled);
      return stalled.some((one) => one.observedGeneration === (showsObserved ? generation : undefined));
    },
    /** Whether the last reconcile has failed, or may have. */
    isFailing: (owned: Fields) => currentConditions(owned).some(style.isFailing),
    /** Returns the generation from which the owned status was computed. */
    observed: (owned: Fields) => (showsObserved ? observedGenerationOf(owned, statusSlice) : undefined),
  };
}

/** What is the first controller's: all of the status but slices. Of a foreign kind it is nothing. */
function ownOf({ resource: { definition }, statusSlice }: Parameters<typeof createStatusWriter>[0]): OwnStatus {
  if (statusSlice !== undefined)
    return { conditions: statusSlice.conditions, fields: statusSlice.status, sharedFields: [] };
  if (definition === undefined) return { conditions: [], fields: [], sharedFields: [] };
  const conditions = [...runtimeConditions, ...definition.conditions];
  return { conditions, fields: ['observedGeneration'], sharedFields: Object.keys(definition.status.shape) };
}

const notReported = { status: 'Unknown', reason: 'NotReported' } as const;

/** An author's message often contains the message of an error. Anyone who can read the object can read it. */
function withoutSecrets({ message, ...rest }: DeclaredCondition): DeclaredCondition {
  return message === undefined ? rest : { ...rest, message: maskSecrets(message) };
}
