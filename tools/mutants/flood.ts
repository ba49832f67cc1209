// Defences of everybody else against a flood, each removed once.
import { type Mutant, swap } from './mutant.ts';

/** Of the watcher. */
export const rateLimitDefences: readonly Mutant[] = [
  swap(
    'no pace: a flood fills the queue that other clusters wait on',
    'src/forwarding/queue-sender.ts',
    'bucket?.spend(accepted, nowMs);',
    '',
  ),
  swap(
    'no turns: a fresh change waits behind all that another namespace has brought',
    'src/forwarding/fair-queue.ts',
    'namespaces.delete(namespace);',
    'if (entries.size === 0) namespaces.delete(namespace);',
  ),
];
