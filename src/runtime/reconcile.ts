// One reconcile of one key: read the object, finalize or make it so, write the status if it differs. Decides nothing about
// messages: it returns an outcome, and outcome.ts says what that means for the message.

import { toError } from '../core/errors.ts';
import { pausedAnnotation } from '../core/names.ts';
import { isNotFound } from '../kube/client/errors.ts';
import { getObject } from '../kube/client/read.ts';
import { failureOf, type Stage } from './failure.ts';
import type { Job, ReconcileParts, Report } from './job.ts';
import { misplaced } from './misplaced.ts';
import type { Outcome } from './outcome.ts';
import { createVisit } from './visit.ts';

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
  const wrong = misplaced(resource, message);
  if (wrong !== undefined) return { outcome: { type: 'refused', error: wrong }, writes: 0 };
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
