// A pass is one read of an object and what follows from it: observe, hold, call, settle, commit (reconcile.ts). Its
// parts are data. What changes during a pass is in two places: `primary`, and the scope of the author's call.
import { type ControllerDeclaration, type ControllerInstance, marksHeldObjects } from '../../api/definition.ts';
import type { AnyResult } from '../../api/parse-result.ts';
import type { Finalized } from '../../api/result.ts';
import type { IgnoredSignalError } from '../../core/errors.ts';
import { fieldManagerOf, finalizerOf, heldLabelOf } from '../../core/names.ts';
import { sleep, type Wait } from '../../core/time.ts';
import type { EventRequest } from '../../kube/apply/events.ts';
import type { Marks } from '../../kube/apply/finalizers.ts';
import { observationOf } from '../../kube/apply/observation.ts';
import type { KubeObject } from '../../kube/client/object.ts';
import type { Outcome } from '../outcome.ts';
import type { PrimaryObject } from '../primary-object.ts';
import type { ReconcileInput } from '../report.ts';
import type { Fields } from '../status/status.ts';
import { createStatusWriter, type OwnedStatus } from '../status/status-writer.ts';

/** The controller whose objects are reconciled, its clients, and the clock. */
export type ReconcileDeps = {
  readonly name: string;
  /** Its project, which is part of its names in a cluster. Absent: the default project. */
  readonly project?: string | undefined;
  readonly declaration: ControllerDeclaration;
  readonly instance: ControllerInstance;
  readonly now: () => Date;
  /** Absent: real time. */
  readonly wait?: Wait;
};

/** Who reconciles: what is the same for every object of a controller. */
export type Identity = ReturnType<typeof identityOf>;

/** Makes the identity of a controller. */
export function identityOf(deps: ReconcileDeps) {
  const { name, project, declaration, wait = sleep } = deps;
  const finalizer = finalizerOf(name, project);
  const observation = observationOf(deps, project);
  /** What marks an object as held: with a selector also a label, by which the resync finds those that have left it. */
  const marks: Marks = {
    finalizer: declaration.finalizes ? finalizer : undefined,
    label: marksHeldObjects(declaration) ? heldLabelOf(name, project) : undefined,
    annotation: observation?.annotation,
  };
  const [fieldManager, statusWriter] = [fieldManagerOf(name, project), createStatusWriter(declaration)];
  return { ...deps, wait, finalizer, fieldManager, marks, statusWriter, observation };
}

/** `leave`: it is not selected any more, so its children are deleted, and the controller gives it up. */
export type Task = 'reconcile' | 'finalize' | 'leave';

/** One object as it was read, and its task. */
export type Pass = ReconcileInput & {
  readonly type: 'pass';
  readonly identity: Identity;
  readonly task: Task;
  readonly read: KubeObject;
  /** The status fields that the controller owned when the object was read. */
  readonly ownedBefore: Fields;
  /** The object as it is by now, and the writes so far. */
  readonly primary: PrimaryObject;
};

/** How the call of the author's code ended. */
export type Ended =
  | { readonly type: 'returned'; readonly result: AnyResult }
  | { readonly type: 'finalized'; readonly said: Finalized }
  /** `isLate`: its time ended before it did. */
  | { readonly type: 'threw'; readonly error: unknown; readonly isLate: boolean }
  | { readonly type: 'still-running'; readonly error: IgnoredSignalError };

/** A call of the author's code that has ended, and what it has done. */
export type Called = {
  readonly ended: Ended;
  readonly events: readonly PendingEvent[];
  /** Writes to children and commands that changed something. */
  readonly writes: number;
  /** Applies to children that changed nothing. */
  readonly noops: number;
};

/** What is known of a pass so far. */
export type Progress = {
  readonly identity: Identity;
  /** The effects of the passes before (effectsOf). The last of them has not found its object, or a stale one. */
  readonly earlier: Pass | undefined;
  /** Undefined: its first read threw, or its object needs nothing. */
  pass?: Pass;
  /** The call of the author's code, once it has ended. */
  called?: Called;
};

/** A recorded Event. It is sent after the status was written. */
export type PendingEvent = Pick<EventRequest, 'type' | 'reason' | 'message' | 'aggregated'>;

/** What is written, and what follows for the message. */
export type Verdict =
  | {
      readonly type: 'written';
      readonly outcome: Outcome;
      readonly status?: OwnedStatus | undefined;
      /** Whether the object notes what was observed of it (the option `evidence`). Absent: it does not. */
      readonly evidence?: 'needed' | 'if possible' | undefined;
      readonly release?: 'finalizer' | 'marks';
      /** The Warning about a failure. */
      readonly warning?: PendingEvent | undefined;
    }
  /** No status can be written for this error: the cluster is unreachable, or the object has changed. */
  | { readonly type: 'unwritten'; readonly error: unknown };
