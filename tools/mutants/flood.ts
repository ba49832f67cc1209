// Each safeguard of the other namespaces and clusters against one with very many changes, removed once.
import { type Mutant, swap } from './mutant.ts';

/** The watcher's rate limit and fair queue. */
export const rateLimitDefences: readonly Mutant[] = [
  swap(
    'no rate limit: one cluster fills the queue of all',
    'src/forwarding/queue-sender.ts',
    'limiter?.spend(accepted, nowMs);',
    '',
  ),
  swap(
    'no fairness: a change waits behind all changes of another namespace',
    'src/forwarding/fair-queue.ts',
    'namespaces.delete(name);',
    'if (namespace.ids.size === 0) namespaces.delete(name);\n      turns = namespaces.entries();',
  ),
];
