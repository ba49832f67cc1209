// Trouble, one kind after the other, at random and for a few seconds each: at the API server, at SQS, and death. Between two of them
// is some peace, so that the system is seen to recover over and over.
import { setTimeout as wait } from 'node:timers/promises';
import type { Asked, Rule } from '../chaos/chaos-proxy.ts';
import { createDice, type Dice } from '../../tools/chaos/random.ts';
import type { SoakSystem } from './system.ts';

/** What can go wrong. It heals what it did before it resolves. */
type Trouble = {
  readonly name: string;
  readonly weight: number;
  /** Resolves with how often it did something that the proxies do not count. */
  run(system: SoakSystem, dice: Dice, last: () => Promise<void>): Promise<number>;
};

/** How often each kind of trouble came, and how often it hit. */
export type Struck = ReadonlyMap<string, { readonly times: number; readonly hits: number }>;

const longest = { peaceMilliseconds: 8_000, troubleMilliseconds: 6_000 };
const isWatch = ({ url }: Asked) => /[?&]watch=(true|1)/.test(url);
const isSend = ({ headers }: Asked) => String(headers['x-amz-target'] ?? '').includes('SendMessage');
const failure = (code: number, reason: string) => ({
  ...{ type: 'answer' as const, status: code },
  body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason, code }),
});

const troubles: readonly Trouble[] = [
  { name: 'watches reset', weight: 3, run: strike('reset') },
  { name: 'frames cut', weight: 3, run: strike('cut') },
  { name: '410 in the stream', weight: 3, run: strike('gone') },
  // Found by silence, after more than a minute.
  { name: 'watches stalled', weight: 1, run: strike('stall') },
  {
    name: '410 at connect',
    weight: 2,
    run: async (system, _, last) => {
      system.api.breakStreams({ type: 'reset' });
      return await during(system.api, (asked) => (isWatch(asked) ? failure(410, 'Expired') : undefined), last);
    },
  },
  { name: '429 storm', weight: 3, run: storm(failure(429, 'TooManyRequests')) },
  { name: '503 storm', weight: 3, run: storm(failure(503, 'ServiceUnavailable')) },
  {
    name: 'API answers lost',
    weight: 3,
    run: async (system, dice, last) =>
      await during(
        system.api,
        ({ method }) => (method !== 'GET' && dice.number() < 0.4 ? { type: 'swallow' } : undefined),
        last,
      ),
  },
  {
    name: 'API server slow',
    weight: 2,
    run: async (system, dice, last) =>
      await during(system.api, () => ({ type: 'delay', milliseconds: dice.below(1500) }), last),
  },
  {
    name: 'SQS away',
    weight: 3,
    run: async (system, _, last) => await during(system.sqs, () => ({ type: 'reset' }), last),
  },
  {
    name: 'SQS throttles',
    weight: 2,
    run: async (system, dice, last) =>
      await during(
        system.sqs,
        () => (dice.number() < 0.6 ? { type: 'answer', status: 503, body: '{}' } : undefined),
        last,
      ),
  },
  {
    name: 'SQS answers lost',
    weight: 3,
    run: async (system, dice, last) =>
      await during(
        system.sqs,
        (asked) => (isSend(asked) && dice.number() < 0.5 ? { type: 'swallow' } : undefined),
        last,
      ),
  },
  { name: 'watcher killed', weight: 3, run: async ({ mortal }) => kill(mortal.watchers(), 'SIGKILL') },
  { name: 'watcher ended', weight: 2, run: async ({ mortal }) => kill(mortal.watchers(), 'SIGTERM') },
  {
    name: 'function killed',
    weight: 5,
    run: async ({ mortal }, dice) => {
      const pids = mortal.functions();
      return pids.length === 0 ? 0 : kill([dice.pick(pids)], 'SIGKILL');
    },
  },
];

/** Makes trouble until the signal aborts; everything is healed when it resolves. `seed` decides what, and for how long. */
export async function makeTrouble(
  system: SoakSystem,
  {
    seed,
    signal,
    onStruck,
  }: { readonly seed: number; readonly signal: AbortSignal; readonly onStruck: (name: string, hits: number) => void },
): Promise<void> {
  const dice = createDice(seed);
  const weighted = troubles.flatMap((trouble) => Array.from({ length: trouble.weight }, () => trouble));
  const pause = async (most: number): Promise<void> => {
    const milliseconds = Math.ceil(most * (0.2 + 0.8 * dice.number()));
    await wait(milliseconds, undefined, { signal }).catch(() => undefined);
  };
  system.api.fired();
  system.sqs.fired();
  while (!signal.aborted) {
    await pause(longest.peaceMilliseconds);
    if (signal.aborted) break;
    const { name, run } = dice.pick(weighted);
    const own = await run(system, dice, async () => await pause(longest.troubleMilliseconds));
    onStruck(name, own + system.api.fired() + system.sqs.fired());
  }
}

async function during(proxy: SoakSystem['api'], rule: Rule, last: () => Promise<void>): Promise<number> {
  proxy.rule(rule);
  await last();
  proxy.rule();
  return 0;
}

function strike(type: 'stall' | 'reset' | 'cut' | 'gone'): Trouble['run'] {
  return async ({ api }, _, last) => {
    api.breakStreams({ type });
    // A cut comes with the next frame.
    await last();
    return 0;
  };
}

function storm(answer: ReturnType<typeof failure>): Trouble['run'] {
  return async ({ api }, dice, last) =>
    await during(api, () => (dice.number() < 0.6 ? { ...answer, headers: { 'retry-after': '1' } } : undefined), last);
}

function kill(pids: readonly number[], signal: NodeJS.Signals): number {
  let hits = 0;
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
      hits += 1;
    } catch {
      // It was dead already.
    }
  }
  return hits;
}
