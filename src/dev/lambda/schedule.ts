// Invokes a function by the clock, as EventBridge Scheduler does. Ticks lie on a grid of the clock, so that a restart in
// between does not make a second tick of its own; the scheduled time is what the resync makes its run's name of.
import { randomUUID } from 'node:crypto';
import { toError } from '../../core/errors.ts';
import { localAccountId, localRegion } from '../../local/lambda/account.ts';
import type { ScheduleDefinition } from './stack.ts';

/** What a schedule needs. */
export type ScheduleNeeds = {
  readonly invoke: (event: unknown) => Promise<unknown>;
  readonly onFailure: (error: Error) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/** A schedule that ticks. */
export type Schedule = {
  /** No further tick; resolves when those in hand are done. */
  stop(): Promise<void>;
};

/** Starts a schedule. An invocation that fails is not repeated: the next tick does the same. */
export function startSchedule({ invoke, onFailure, now }: ScheduleNeeds, definition: ScheduleDefinition): Schedule {
  const everyMilliseconds = definition.everySeconds * 1000;
  const inHand = new Set<Promise<void>>();
  let timer = arm();

  function arm(): NodeJS.Timeout {
    const next = (Math.floor(now() / everyMilliseconds) + 1) * everyMilliseconds;
    return setTimeout(() => {
      timer = arm();
      const run = tick(new Date(next)).finally(() => inHand.delete(run));
      inHand.add(run);
    }, next - now());
  }
  async function tick(time: Date): Promise<void> {
    try {
      await invoke(scheduledEvent(definition, time));
    } catch (error) {
      onFailure(toError(error));
    }
  }
  return {
    stop: async () => {
      clearTimeout(timer);
      await Promise.all(inHand);
    },
  };
}

/** The event of a tick: the schedule's own input with Scheduler's context attributes filled in, or the scheduled event. */
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
