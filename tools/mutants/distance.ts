// The defences of a fleet against the one of its clusters that is away or slow.
import { type Mutant, swap } from './mutant.ts';

const runtime = 'src/runtime';

/** Each of them removed once. */
export const distanceDefences: readonly Mutant[] = [
  swap(
    'no breaker: a dead cluster is called for each of its keys',
    `${runtime}/breaker.ts`,
    'const isOpen = (state: State) => state.failures >= failures;',
    'const isOpen = (state: State) => state.failures < 0;',
  ),
  swap(
    'a slow cluster takes all the time that there is',
    `${runtime}/breaker.ts`,
    'rests ? now() + restMs(wholeMs) : 0',
    '0',
  ),
  swap(
    'a slow cluster holds each function that does not know it yet for as long as its answers take',
    `${runtime}/handle.ts`,
    "cause.type === 'retry' ? undefined : breaker.patienceMs(cluster)",
    'undefined',
  ),
  swap(
    'a key of a slow cluster is put off again and again',
    `${runtime}/handle.ts`,
    "cause.type === 'retry' ? undefined : breaker.patienceMs(cluster)",
    'breaker.patienceMs(cluster)',
  ),
  swap('all instances give a slow cluster its turn at the same time', `${runtime}/breaker.ts`, '(0.5 + random())', '1'),
  swap(
    'a cluster that is away uses up its objects’ attempts',
    `${runtime}/outcome.ts`,
    'retry(attemptOf(message), postponements, wait)',
    'retry(attemptOf(message) + 1, postponements, wait)',
  ),
];
