// The deployed stack for machines where functions are killed: of its functions only some, with times so short that what a dead one had in
// hand is soon seen again, and without the schedule.
import type { Stack } from '../../src/dev/lambda/stack.ts';

/** Which functions run, by their ARN, and how long they may; a killed one's message comes back after `visibility`. Seconds. */
export type ShortTimes = {
  readonly runs: (arn: string) => boolean;
  readonly timeout: number;
  readonly visibility: number;
};

/** Shortens a stack. */
export function shortStack({ queues, functions, mappings }: Stack, { runs, timeout, visibility }: ShortTimes): Stack {
  return {
    queues: queues.map((queue) => ({
      ...queue,
      attributes: { ...queue.attributes, VisibilityTimeout: String(visibility) },
    })),
    functions: functions
      .filter(({ arn }) => runs(arn))
      .map((definition) => ({ ...definition, timeoutSeconds: timeout })),
    mappings: mappings.filter(({ functionArn }) => runs(functionArn)),
    schedules: [],
  };
}
