// The conditions of a status slice. It has no Reconciling or Stalled, so an error appears in its declared conditions,
// of which Ready stands for all others: Unknown while the error is retried, False when it is no longer retried. Pure.
import { reasons } from '../../api/conditions.ts';
import type { DeclaredCondition } from '../../api/result.ts';
import { type ConditionStyle, type Conditions, type Failure, readyAfter } from './status.ts';

const { retriesExhausted, terminal, invalidSpec, policyDenied } = reasons;
/** The reasons of a stalled slice. Only the runtime writes them: an author's of the same name is renamed. */
const stalledReasons: readonly string[] = [retriesExhausted, terminal, invalidSpec, policyDenied];

/** Makes the conditions of a slice. */
export function sliceStyle(declared: readonly string[]): ConditionStyle {
  const showing = declared.includes('Ready') ? ['Ready'] : declared;
  return {
    // With an error that is retried, the author's conditions stay, unless all of them are True. With one that is no
    // longer retried, the conditions that are not True report it.
    afterResult: (reported, failure) => {
      const renamed = Object.entries(reported).map(([type, one]) => [type, withOwnReason(one)] as const);
      const conditions = Object.fromEntries(renamed);
      if (failure === undefined) return conditions;
      const notTrue = showing.filter((type) => conditions[type]?.status !== 'True');
      if (failure.isRetried && notTrue.length > 0) return conditions;
      return { ...conditions, ...all(notTrue.length > 0 ? notTrue : showing, conditionAfter(failure)) };
    },
    afterFailure: (failure) => all(showing, conditionAfter(failure)),
    whileFinalizing: (finalized, failure) => {
      const isStalled = failure !== undefined && !failure.isRetried;
      const said = isStalled ? { ...finalized, reason: failure.reason } : withOwnReason(finalized);
      return all(showing, { ...said, status: 'False' });
    },
    keeps: (type) => declared.includes(type),
    isStalled: ({ status, reason }) => status === 'False' && stalledReasons.includes(reason),
    // An author's condition that is not True may be one of a failure.
    isFailing: ({ type, status }) => showing.includes(type) && status !== 'True',
  };
}

/** Once it is not retried, its reason is that of its class, by which the slice is known as stalled. */
function conditionAfter(failure: Failure): DeclaredCondition {
  const condition = readyAfter(failure);
  return failure.isRetried ? condition : { ...condition, reason: failure.reason };
}

function all(types: readonly string[], condition: DeclaredCondition): Conditions {
  return Object.fromEntries(types.map((type) => [type, condition]));
}

/** An author may copy the reason of a child, and the child may be stalled when the slice is not. */
function withOwnReason(condition: DeclaredCondition): DeclaredCondition {
  const { reason } = condition;
  return stalledReasons.includes(reason) ? { ...condition, reason: `Reported${reason}` } : condition;
}
