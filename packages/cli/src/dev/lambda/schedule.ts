// Invokes a function on a schedule, as EventBridge Scheduler does. Runs start at multiples of the interval on the
// clock, so that a restart does not add a run. The resync derives the name of its run from the scheduled time.
import { randomUUID } from 'node:crypto';
import { toError } from 'outrigger/internal/core/errors';
import { localAccountId, localRegion } from './account.ts';
import type { ScheduleDefinition } from './stack.ts';

/** The dependencies of a schedule. */
export type ScheduleDeps = {
  readonly invoke: (event: unknown) => Promise<unknown>;
  readonly onFailure: (error: Error) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/** A running schedule. */
export type Schedule = {
  /** Stops the schedule; resolves when the running invocations are done. */
  stop(): Promise<void>;
};

/** Starts a schedule. A failed invocation is not retried: the next run does the same. */
export function startSchedule({ invoke, onFailure, now }: ScheduleDeps, definition: ScheduleDefinition): Schedule {
  const everyMilliseconds = definition.everySeconds * 1000;
  const running = new Set<Promise<void>>();
  let timer = arm();

  function arm(): NodeJS.Timeout {
    const nowMs = now();
    const next = (Math.floor(nowMs / everyMilliseconds) + 1) * everyMilliseconds;
    return setTimeout(() => {
      timer = arm();
      const run = invokeAt(new Date(next)).finally(() => running.delete(run));
      running.add(run);
    }, next - nowMs);
  }
  async function invokeAt(time: Date): Promise<void> {
    try {
      await invoke(scheduledEvent(definition, time));
    } catch (error) {
      onFailure(toError(error));
    }
  }
  return {
    stop: async () => {
      clearTimeout(timer);
      await Promise.all(running);
    },
  };
}

/**
 * Makes the event of a run: the schedule's input with Scheduler's context attributes filled in, or a scheduled event.
 */
function scheduledEvent({ name, input }: Pick<ScheduleDefinition, 'name' | 'input'>, time: Date): unknown {
  const scheduledTime = time.toISOString().replace(/\.\d{3}Z$/, 'Z');
  const id = randomUUID();
  const arn = `arn:aws:scheduler:${localRegion}:${localAccountId}:schedule/default/${name}`;
  if (input === undefined) {
    return {
      version: '0',
      id,
      'detail-type': 'Scheduled Event',
      source: 'aws.scheduler',
      account: localAccountId,
      time: scheduledTime,
      region: localRegion,
      resources: [arn],
      detail: '{}',
    };
  }
  return JSON.parse(
    input
      .replaceAll('<aws.scheduler.scheduled-time>', scheduledTime)
      .replaceAll('<aws.scheduler.execution-id>', id)
      .replaceAll('<aws.scheduler.attempt-number>', '1')
      .replaceAll('<aws.scheduler.schedule-arn>', arn),
  );
}
