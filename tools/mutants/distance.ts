// Each safeguard against an unreachable or slow cluster of a fleet removed once.
import { type Mutant, swap } from './mutant.ts';

const breaker = 'src/reconciling/breaker.ts';
const dispatch = 'src/reconciling/dispatch-key.ts';

/** The circuit breaker and its users. */
export const distanceDefences: readonly Mutant[] = [
  swap(
    'no circuit breaker: calls an unreachable cluster for each of its keys',
    breaker,
    'return failures >= maxFailures;',
    'return failures < 0;',
  ),
  swap('does not throttle a slow cluster', breaker, 'isThrottled ? now() + throttleMs(durationMs) : 0', '0'),
  swap(
    'waits for the whole response time of a slow cluster in each new function',
    dispatch,
    "cause.type === 'retry' ? undefined : breaker.firstResponseTimeoutMs(cluster)",
    'undefined',
  ),
  swap(
    'postpones a key of a slow cluster again and again',
    dispatch,
    "cause.type === 'retry' ? undefined : breaker.firstResponseTimeoutMs(cluster)",
    'breaker.firstResponseTimeoutMs(cluster)',
  ),
  swap('calls a slow cluster from all instances at the same time', breaker, '(0.5 + random())', '1'),
  swap(
    'counts attempts while a cluster is unreachable',
    'src/reconciling/outcome.ts',
    'time.retry({ ...counts, ...more }',
    'time.retry({ ...counts, ...more, attempt: counts.attempt + 1 }',
  ),
];
