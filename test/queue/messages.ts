// Messages for tests: one valid key, to be varied.
import type { Message } from '../../src/queue/message.ts';

/** A message for `shop/one` of controller `gadget` on cluster `alpha`. */
export function aMessage(changes: Partial<Message> = {}): Message {
  return {
    v: 1,
    controller: 'gadget',
    cluster: 'alpha',
    group: 'example.com',
    resource: 'gadgets',
    namespace: 'shop',
    name: 'one',
    lane: 'requeue',
    attempt: 0,
    deferrals: 0,
    seenAt: 1_700_000_000_000,
    ...changes,
  };
}
