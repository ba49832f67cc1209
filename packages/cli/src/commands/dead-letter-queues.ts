// The dead-letter queues by the names under which `outrigger dlq` lists them.
import { controllerDeadLetterQueue, resyncDeadLetterQueue, timersDeadLetterQueue } from 'outrigger/internal/core/names';
import { requireController } from './parse-key.ts';

/**
 * The dead-letter queues of timers and resync, by the name under which they are listed. They belong to no controller.
 */
export const sharedQueues: ReadonlyMap<string, string> = new Map([
  ['timers', timersDeadLetterQueue],
  ['resync', resyncDeadLetterQueue],
]);

/** Returns the wanted queue, or all of these names. Throws a UserError if there is no such controller. */
export function queuesOf(
  controllers: readonly { readonly name: string }[],
  wanted: string | undefined,
  all: readonly string[] = [...controllers.map(({ name }) => name), ...sharedQueues.keys()],
): readonly { of: string; queue: string }[] {
  const names = wanted === undefined ? all : [wanted];
  return names.map((of) => ({
    of,
    queue: sharedQueues.get(of) ?? controllerDeadLetterQueue(requireController(of, controllers).name),
  }));
}
