// What goes into the handling of one key, and what comes out: shared by the reconcile, by mapping functions and by batches.
import type { Log } from '../core/context.ts';
import type { Declaration, Running } from '../core/controller.ts';
import type { KubeClient } from '../kube/client/client.ts';
import type { Wait } from '../core/time.ts';
import type { Message } from '../queue/message.ts';
import type { Outcome } from './outcome.ts';

/** What a reconcile did, for logs and metrics. */
export type Report = {
  readonly outcome: Outcome;
  /** Writes to children and to the object's own status or finalizers, and commands that changed something. */
  readonly writes: number;
  /** Applies that changed nothing: a difference was seen where there is none. */
  readonly noops?: number;
  readonly generation?: number;
  /** Whether the generation that was read had been observed before: what is changed then was missed, or has drifted. */
  readonly observedBefore?: boolean;
};

/** The controller that is run, and its surroundings. */
export type ReconcileParts = {
  readonly name: string;
  readonly declares: Declaration;
  readonly running: Running;
  readonly now: () => Date;
  /** Absent: real time. */
  readonly wait?: Wait;
};

/** One key to reconcile: where, and until when. */
export type Job = {
  readonly client: KubeClient;
  readonly message: Message;
  /** The queue's own id of the message in hand. */
  readonly messageId: string;
  readonly log: Log;
  readonly signal: AbortSignal;
};
