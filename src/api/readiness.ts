// Converts the state of children to a condition of their owner: that of a workload or of a custom kind, and the summary
// of several (the rules that Knative's Service has for its Configuration and Route). Pure.
import type { Applied } from './apply.ts';
import { hasCondition, notOk, ok, unknown } from './conditions.ts';
import type { Meta } from './kind.ts';
import type { Condition, DeclaredCondition } from './result.ts';

/** A workload, as far as its availability is read from it. A V1Deployment fits. */
export type Workload = {
  /** Its name, generation and whether it is being deleted. */
  readonly metadata?:
    | {
        /** The name, with which messages begin. */
        readonly name?: string;
        /** The generation of the spec. */
        readonly generation?: number;
        /** Present while it is being deleted. */
        readonly deletionTimestamp?: unknown;
      }
    | undefined;
  /** What its own controller says. */
  readonly status?: {
    /** The generation that the status is of. */
    readonly observedGeneration?: number | undefined;
    /** Its conditions. */
    readonly conditions?: readonly {
      /** The type, such as `Available`. */
      readonly type: string;
      /** `True`, `False` or `Unknown`. */
      readonly status: string;
      /** A word for programs. */
      readonly reason?: string;
      /** A sentence for people. */
      readonly message?: string;
    }[];
  };
};

/**
 * Returns whether a workload's status is of its current spec. Until then, no field of the status is about that spec.
 * @example if (!isCurrent(deployment)) return { status, conditions, requeueAfterSeconds: 5 };
 */
export function isCurrent(workload: Workload | undefined): boolean {
  const { metadata, status } = workload ?? {};
  return status?.observedGeneration !== undefined && status.observedGeneration >= (metadata?.generation ?? 0);
}

/** A StatefulSet, as far as its readiness is read from it. A V1StatefulSet fits. */
export type ReplicatedWorkload = Workload & {
  /** What is desired. */
  readonly spec?: {
    /** The desired replicas. Absent: 1. */
    readonly replicas?: number;
  };
  /** What its own controller says. */
  readonly status?: {
    /** The replicas that are ready. */
    readonly readyReplicas?: number;
  };
};

/**
 * Makes a condition of a StatefulSet: True when it has all desired replicas ready. It has no Available condition, only
 * counts. False for one without a report, which has no replicas yet, and otherwise Unknown as deploymentAvailable is.
 * @example conditions: { NodesReady: statefulSetReady(await apply(StatefulSet, desired)) }
 */
export function statefulSetReady(set: ReplicatedWorkload | undefined): DeclaredCondition {
  const { metadata, spec, status } = set ?? {};
  const [desired, ready] = [spec?.replicas ?? 1, status?.readyReplicas ?? 0];
  const message = `${ready} of ${desired} replicas are ready`;
  // A report without a generation is one of the present spec.
  const observedGeneration =
    status?.observedGeneration ?? (status?.readyReplicas === undefined ? undefined : metadata?.generation);
  if (metadata !== undefined && observedGeneration === undefined && ready < desired)
    return notOk('NotAllReady', `${metadata.name}: ${message}`);
  const readiness =
    ready >= desired ? { status: 'True', reason: 'AllReady' } : { status: 'False', reason: 'NotAllReady' };
  return deploymentAvailable({
    metadata,
    status: { observedGeneration, conditions: [{ type: 'Available', ...readiness, message }] },
  });
}

/**
 * Makes a condition of a Deployment from its condition Available. It is Unknown while there is none, while the status
 * is of an older generation, and while the Deployment is being deleted.
 * @example conditions: { Served: deploymentAvailable(await apply(Deployment, desired)) }
 */
export function deploymentAvailable(workload: Workload | undefined): DeclaredCondition {
  const { metadata, status } = workload ?? {};
  const named = (message: string) => afterName(metadata?.name ?? 'none yet', message);
  const notKnown = (reason: string, message: string) => unknown(reason, named(message));
  if (status?.observedGeneration === undefined) return notKnown('NotReported', 'nothing reported yet');
  if (!isCurrent(workload)) return notKnown('OutOfDate', 'its status is of an older generation');
  if (metadata?.deletionTimestamp !== undefined) return notKnown('Deleting', 'it is being deleted');
  const available = status.conditions?.find(({ type }) => type === 'Available');
  const { reason = 'NoReason', message = '' } = available ?? {};
  switch (available?.status) {
    case 'True':
      return ok(reason, named(message));
    case 'False':
      return notOk(reason, named(message));
    default:
      return notKnown(available?.reason ?? 'NotReported', available?.message ?? 'its availability is not reported yet');
  }
}

/** A child of a kind with Ready, as far as its readiness is read from it. Every object of a custom kind fits. */
export type Dependent = {
  /** Its name and generation. */
  readonly metadata: Pick<Meta, 'name' | 'generation'>;
  /** Its conditions. */
  readonly conditions?: readonly Condition[];
  /** The generation that the conditions are of. */
  readonly observedGeneration?: number;
};

/**
 * Makes a condition of an object's Ready; Unknown when that is of an older generation, or when there is no object.
 * @example conditions: { DatabaseReady: readyCondition(await get(Database, { name: spec.database })) }
 */
export function readyCondition(dependent: Dependent | undefined): DeclaredCondition {
  const { metadata, conditions, observedGeneration } = dependent ?? {};
  const named = (message: string) => afterName(metadata?.name ?? 'none yet', message);
  const ready = conditions?.find(({ type }) => type === 'Ready');
  if (ready === undefined) return unknown('NotReported', named('nothing reported yet'));
  if ((observedGeneration ?? ready.observedGeneration) !== metadata?.generation) {
    return unknown('OutOfDate', named('its status is of an older generation'));
  }
  return { status: ready.status, reason: ready.reason, message: named(ready.message ?? '') };
}

/** A Ready that is True has no message. */
function afterName(name: string, message: string): string {
  return message === '' ? name : `${name}: ${message}`;
}

/**
 * Summarizes conditions: False if one is False, otherwise Unknown if one is Unknown or there are none, otherwise True.
 * Returns the first condition with that status.
 * @example conditions: { Available: summarize(deployments.map(deploymentAvailable)) }
 */
export function summarize(conditions: readonly DeclaredCondition[]): DeclaredCondition {
  if (conditions.length === 0) return unknown('NoChildren');
  const worst =
    conditions.find(({ status }) => status === 'False') ?? conditions.find(({ status }) => status !== 'True');
  return worst ?? ok('AllReady');
}

/**
 * Records one Warning Event for each set of children that could not be applied, unless the object has that condition
 * already.
 * @param applied by the condition that reports the failure
 * @example recordApplyFailures(recordEvent, conditions, { ServiceReady: services });
 */
export function recordApplyFailures(
  recordEvent: (type: 'Warning', reason: string, message: string) => void,
  current: readonly Condition[] | undefined,
  applied: Readonly<Record<string, Pick<Applied<object>, 'failure'>>>,
): void {
  for (const [type, { failure }] of Object.entries(applied)) {
    if (failure === undefined || hasCondition(current, type, failure.condition)) continue;
    const { reason, message = '' } = failure.condition;
    recordEvent('Warning', reason === 'NotOwned' ? 'ErrResourceExists' : 'ErrChildRefused', message);
  }
}
