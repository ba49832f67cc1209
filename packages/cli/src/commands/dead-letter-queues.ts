// The dead-letter queues by the names under which `outrigger dlq` lists them.
import { type QueuePair, queuesOf } from 'outrigger/internal/core/names';
import { requireController } from './parse-key.ts';

/** Returns the wanted queue, or all. Throws a UserError if there is no such controller. */
export function wantedQueues(
  controllers: readonly { readonly name: string }[],
  wanted: string | undefined,
): readonly QueuePair[] {
  const all = queuesOf(controllers);
  const found = wanted === undefined ? all : all.filter(({ name }) => name === wanted);
  if (found.length === 0) requireController(wanted ?? '', controllers);
  return found;
}
