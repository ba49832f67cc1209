// One reconcile of one key: read the object, finalize or make it so, write the status if it differs. Decides nothing about
// messages: it returns an outcome, and outcome.ts says what that means for the message.

import type { Log } from '../core/context.ts';
import type { Declaration, Running } from '../core/controller.ts';
import { toError } from '../core/errors.ts';
import { pausedAnnotation } from '../core/words.ts';
import type { KubeClient } from '../kube/client.ts';
import { isNotFound } from '../kube/errors.ts';
import { getObject } from '../kube/read.ts';
import type { Message } from '../queue/message.ts';
import { failureOf, type Stage } from './failure.ts';
import type { Outcome } from './outcome.ts';
import { createVisit } from './visit.ts';

/** What a reconcile did, for logs and metrics. */
export type Report = {
  readonly outcome: Outcome;
  /** Writes to children and to the object's own status or finalizers. */
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

/** Tries on fresh reads before a stale version puts the message off. */
const conflictTries = 3;

/** Makes the reconcile of one controller. It never throws, except for its signal's reason when that is aborted. */
export function createReconcile(parts: ReconcileParts): (job: Job) => Promise<Report> {
  return async (job) => {
    for (let tries = 1; ; tries += 1) {
      const report = await pass(parts, job);
      const stale = report.outcome.type === 'deferred' && report.outcome.why === 'conflict';
      if (!stale || tries === conflictTries || job.signal.aborted) return report;
      job.log.debug('stale version, reading again', { tries });
    }
  };
}

async function pass(parts: ReconcileParts, job: Job): Promise<Report> {
  const { message, client, signal } = job;
  const { resource } = parts.declares;
  let stage: Stage = 'first-read';
  let writes = 0;
  try {
    const object = await getObject(client, resource, message, { signal });
    stage = 'later';
    if (object === undefined) return { outcome: { type: 'nothing', why: 'gone' }, writes };
    if (object.metadata.annotations?.[pausedAnnotation] === 'true') {
      return { outcome: { type: 'nothing', why: 'paused' }, writes };
    }
    const visit = createVisit(parts, job, object);
    try {
      return {
        outcome: await visit.run(),
        writes: visit.writes(),
        noops: visit.noops(),
        observedBefore: visit.observedBefore,
        ...(object.metadata.generation === undefined ? {} : { generation: object.metadata.generation }),
      };
    } finally {
      writes = visit.writes();
      await visit.sendEvents();
    }
  } catch (thrown) {
    if (signal.aborted) throw signal.reason;
    return { outcome: outcomeOf(thrown, stage), writes };
  }
}

/** The outcome of an error that no status was written for. */
function outcomeOf(thrown: unknown, stage: Stage): Outcome {
  const error = toError(thrown);
  switch (failureOf(thrown, stage)) {
    case 'unreachable':
      return { type: 'deferred', why: 'unreachable', error };
    case 'conflict':
      return { type: 'deferred', why: 'conflict', error };
    case 'namespace-terminating':
      return { type: 'nothing', why: 'namespace-terminating' };
    default:
      return isNotFound(thrown) ? { type: 'nothing', why: 'gone' } : { type: 'failed', error, stalledBefore: false };
  }
}
