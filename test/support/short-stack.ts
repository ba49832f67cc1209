// The deployed stack for tests that kill functions: only some of its functions, without schedules, and with short
// timeouts, so that the messages of a killed function are soon received again.
import type { Stack } from '@outrigger/cli/dev/lambda/stack';

/**
 * Which functions are included, by their ARN, and their timeout; a killed function's message is received again after
 * `visibility`. Seconds.
 */
export type ShortStackOptions = {
  readonly includes: (arn: string) => boolean;
  readonly timeout: number;
  readonly visibility: number;
};

/** Shortens a stack. */
export function shortStack(
  { queues, functions, mappings }: Stack,
  { includes, timeout, visibility }: ShortStackOptions,
): Stack {
  return {
    queues: queues.map((queue) => ({
      ...queue,
      attributes: { ...queue.attributes, VisibilityTimeout: String(visibility) },
    })),
    functions: functions
      .filter(({ arn }) => includes(arn))
      .map((definition) => ({ ...definition, timeoutSeconds: timeout })),
    mappings: mappings.filter(({ functionArn }) => includes(functionArn)),
    schedules: [],
  };
}
