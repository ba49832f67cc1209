// Random faults, one after the other, for a few seconds each: at the API server, at SQS, and kills of processes.
// Between two of them is a pause, so the system has to recover again and again.
import { setTimeout as wait } from 'node:timers/promises';
import { isWatch, type ProxiedRequest, type Rule, statusFault } from '../chaos/chaos-proxy.ts';
import { createSeededRandom, type SeededRandom } from '../chaos/random.ts';
import type { SoakSystem } from './system.ts';

/** A fault. It is removed before `run` resolves. */
type SoakFault = {
  readonly name: string;
  readonly weight: number;
  /** Resolves with how often it occurred, in addition to the proxies' counts. */
  run(system: SoakSystem, random: SeededRandom, untilEnd: () => Promise<void>): Promise<number>;
};

/** How often each fault was injected, and how often it took effect. */
export type FaultCounts = ReadonlyMap<string, { readonly times: number; readonly hits: number }>;

const maxMilliseconds = { pause: 8_000, fault: 6_000 };
const isSend = ({ headers }: ProxiedRequest) => String(headers['x-amz-target'] ?? '').includes('SendMessage');

const faults: readonly SoakFault[] = [
  { name: 'watches reset', weight: 3, run: streamFault('reset') },
  { name: 'watch events cut', weight: 3, run: streamFault('cut') },
  { name: '410 in the stream', weight: 3, run: streamFault('gone') },
  // Detected by an idle timeout, after more than a minute.
  { name: 'watches stalled', weight: 1, run: streamFault('stall') },
  {
    name: '410 at connect',
    weight: 2,
    run: async (system, _, untilEnd) => {
      system.api.breakStreams({ type: 'reset' });
      return await during(
        system.api,
        (request) => (isWatch(request) ? statusFault(410, 'Expired') : undefined),
        untilEnd,
      );
    },
  },
  { name: '429 storm', weight: 3, run: requestFaults(statusFault(429, 'TooManyRequests', { 'retry-after': '1' })) },
  { name: '503 storm', weight: 3, run: requestFaults(statusFault(503, 'ServiceUnavailable')) },
  {
    name: 'API responses lost',
    weight: 3,
    run: async (system, random, untilEnd) =>
      await during(
        system.api,
        ({ method }) => (method !== 'GET' && random.number() < 0.4 ? { type: 'drop-response' } : undefined),
        untilEnd,
      ),
  },
  {
    name: 'API server slow',
    weight: 2,
    run: async (system, random, untilEnd) =>
      await during(system.api, () => ({ type: 'delay', milliseconds: random.below(1500) }), untilEnd),
  },
  {
    name: 'SQS unavailable',
    weight: 3,
    run: async (system, _, untilEnd) => await during(system.sqs, () => ({ type: 'reset' }), untilEnd),
  },
  {
    name: 'SQS throttles',
    weight: 2,
    run: async (system, random, untilEnd) =>
      await during(
        system.sqs,
        () => (random.number() < 0.6 ? { type: 'respond', status: 503, body: '{}' } : undefined),
        untilEnd,
      ),
  },
  {
    name: 'SQS responses lost',
    weight: 3,
    run: async (system, random, untilEnd) =>
      await during(
        system.sqs,
        (request) => (isSend(request) && random.number() < 0.5 ? { type: 'drop-response' } : undefined),
        untilEnd,
      ),
  },
  { name: 'watcher killed', weight: 3, run: async ({ killable }) => kill(killable.watchers(), 'SIGKILL') },
  { name: 'watcher terminated', weight: 2, run: async ({ killable }) => kill(killable.watchers(), 'SIGTERM') },
  {
    name: 'function killed',
    weight: 5,
    run: async ({ killable }, random) => {
      const pids = killable.functions();
      return pids.length === 0 ? 0 : kill([random.pick(pids)], 'SIGKILL');
    },
  },
];

/**
 * Injects faults until the signal aborts; all are removed when it resolves. `seed` determines the faults and their
 * durations.
 */
export async function injectRandomFaults(
  system: SoakSystem,
  {
    seed,
    signal,
    onFault,
  }: { readonly seed: number; readonly signal: AbortSignal; readonly onFault: (name: string, hits: number) => void },
): Promise<void> {
  const random = createSeededRandom(seed);
  const weighted = faults.flatMap((fault) => Array.from({ length: fault.weight }, () => fault));
  const pause = async (max: number): Promise<void> => {
    const milliseconds = Math.ceil(max * (0.2 + 0.8 * random.number()));
    await wait(milliseconds, undefined, { signal }).catch(() => undefined);
  };
  system.api.firedCount();
  system.sqs.firedCount();
  while (!signal.aborted) {
    await pause(maxMilliseconds.pause);
    if (signal.aborted) break;
    const { name, run } = random.pick(weighted);
    const ownCount = await run(system, random, async () => await pause(maxMilliseconds.fault));
    onFault(name, ownCount + system.api.firedCount() + system.sqs.firedCount());
  }
}

async function during(proxy: SoakSystem['api'], rule: Rule, untilEnd: () => Promise<void>): Promise<number> {
  proxy.rule(rule);
  await untilEnd();
  proxy.rule();
  return 0;
}

function streamFault(type: 'stall' | 'reset' | 'cut' | 'gone'): SoakFault['run'] {
  return async ({ api }, _, untilEnd) => {
    api.breakStreams({ type });
    // A cut takes effect at the next event.
    await untilEnd();
    return 0;
  };
}

function requestFaults(fault: ReturnType<typeof statusFault>): SoakFault['run'] {
  return async ({ api }, random, untilEnd) =>
    await during(
      api,
      () => (random.number() < 0.6 ? { ...fault, headers: { 'retry-after': '1' } } : undefined),
      untilEnd,
    );
}

function kill(pids: readonly number[], signal: NodeJS.Signals): number {
  let killed = 0;
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
      killed += 1;
    } catch {
      // The process has ended already.
    }
  }
  return killed;
}
