// Messages for tests: one valid key, and each cause with values that a test can override.
import { groupIdOf } from '../../src/sqs/deduplication.ts';
import { type CauseOf, type CauseType, type Message, parseMessage } from '../../src/sqs/message.ts';

const observedAt = 1_700_000_000_000;
const dueAt = observedAt / 1000;

/** A message for `shop/one` of controller `gadget` on cluster `alpha`, because of a change. */
export function aMessage(changes: Partial<Message> = {}): Message {
  return {
    controller: 'gadget',
    cluster: 'alpha',
    group: 'example.com',
    resource: 'gadgets',
    namespace: 'shop',
    name: 'one',
    ...asChange(),
    ...changes,
  };
}

type Changes<T extends CauseType> = Partial<Omit<CauseOf<T>, 'type'>>;
type Caused<T extends CauseType> = { readonly cause: CauseOf<T> };

/** Each of these returns a cause, as an override of aMessage. */
export const asChange = (changes: Changes<'change'> = {}): Caused<'change'> => ({
  cause: { type: 'change', observedAt, ...changes },
});
export const asRequeue = (changes: Changes<'requeue'> = {}): Caused<'requeue'> => ({
  cause: { type: 'requeue', slot: '30/7', dueAt, ...changes },
});
export const asRetry = (changes: Changes<'retry'> = {}): Caused<'retry'> => ({
  cause: { type: 'retry', observedAt, attempt: 0, postponements: 0, slot: '2/1', dueAt, ...changes },
});
export const asResync = (changes: Changes<'resync'> = {}): Caused<'resync'> => ({
  cause: { type: 'resync', run: 'r', ...changes },
});
export const asCommand = (changes: Changes<'command'> = {}): Caused<'command'> => ({
  cause: { type: 'command', observedAt, id: 'm', ...changes },
});

/** Returns the group id of a body's key, or another one for a body that is no message. */
export function groupOf(body: string): string {
  try {
    return groupIdOf(parseMessage(body));
  } catch {
    return 'group';
  }
}
