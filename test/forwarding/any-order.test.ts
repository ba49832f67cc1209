// Promise 1 for the watcher as a whole: whatever its world does in whatever order (changes, deletions, servers and queues that fail
// in every way, kills, restarts, two at a time, compactions), SQS has accepted a key after every change. Each single thing has its
// own test: restart.test.ts, watch-loop.test.ts, test/runtime/forwarder.test.ts.
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { StreamFault } from '../../tools/chaos/streams.ts';
import { type Kitchen, openKitchen, type Trouble } from '../watcher/watcher-harness.ts';
import type { MortalWatcher } from '../watcher/killable-watcher.ts';

type Step =
  | { readonly do: 'pot' | 'no pot' | 'no lid'; readonly which: number }
  | { readonly do: 'lid'; readonly which: number; readonly owner: number }
  | { readonly do: 'accept' | 'stall' | 'refuse' | 'forget' }
  | { readonly do: 'stream'; readonly fault: StreamFault['type'] }
  | { readonly do: 'spoil'; readonly requests: number; readonly how: Trouble }
  | { readonly do: 'write' | 'kill' | 'start'; readonly which: number }
  | { readonly do: 'pass'; readonly turns: number };

/** So little that changes wait for it all the time. */
const pace = { perSecond: 1, burst: 2 };
const which = fc.nat(1);
const trouble: fc.Arbitrary<Trouble> = fc.constantFrom(
  'reset' as const,
  'swallow' as const,
  { status: 401 },
  { status: 403 },
  { status: 429, headers: { 'retry-after': '7' } },
  { status: 500 },
  { status: 503 },
);
const watcherIndex = fc.nat(1);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('pot', 'no pot', 'no lid'), which }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('lid'), which, owner: which }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('accept', 'stall', 'refuse', 'forget', 'forget') }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('stream'), fault: fc.constantFrom('stall', 'reset', 'cut', 'gone') }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('spoil'), requests: fc.integer({ min: 1, max: 6 }), how: trouble }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('write', 'kill', 'start', 'start'), which: watcherIndex }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass'), turns: fc.nat(40) }) },
);

async function play(kitchen: Kitchen, steps: readonly Step[]): Promise<void> {
  const watchers = new Map<number, MortalWatcher>();
  for (const one of steps) {
    switch (one.do) {
      case 'pot':
        await kitchen.putPot(`pot-${one.which}`);
        break;
      case 'no pot':
        await kitchen.removePot(`pot-${one.which}`);
        break;
      case 'lid':
        await kitchen.putLid(`lid-${one.which}`, `pot-${one.owner}`);
        break;
      case 'no lid':
        await kitchen.removeLid(`lid-${one.which}`);
        break;
      case 'forget':
        kitchen.server.expireWindow();
        break;
      case 'stream':
        kitchen.breakStreams({ type: one.fault });
        break;
      case 'spoil':
        kitchen.spoil(one.requests, one.how);
        break;
      case 'write':
        await watchers.get(one.which)?.writeCursor();
        break;
      case 'kill': {
        const watcher = watchers.get(one.which);
        if (watcher !== undefined) kitchen.kill(watcher);
        watchers.delete(one.which);
        break;
      }
      case 'start':
        if (!watchers.has(one.which)) watchers.set(one.which, kitchen.start(pace));
        break;
      case 'pass':
        for (let turns = 0; turns < one.turns; turns += 1) await turn();
        break;
      default:
        kitchen.sqs(one.do);
    }
  }
  for (const watcher of watchers.values()) kitchen.kill(watcher);
  kitchen.sqs('accept');
  kitchen.spoil(0, 'reset');
}

it('whatever happens in whatever order, every change is accepted in the end', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
      const kitchen = await openKitchen();
      try {
        // There is a cursor: of what came and went before the first there is no trace.
        for (const [lid, pot] of [
          ['lid-0', 'pot-0'],
          ['lid-1', 'pot-1'],
        ] as const) {
          await kitchen.putPot(pot);
          await kitchen.putLid(lid, pot);
        }
        const first = kitchen.start();
        await kitchen.caughtUp(first);
        await first.writeCursor();
        kitchen.kill(first);
        await play(kitchen, steps);
        await kitchen.caughtUp(kitchen.start(pace));
        // A list cannot show what was deleted; nobody is left to reconcile it either.
        const remembered = !steps.some((one) => one.do === 'forget');
        expect(await kitchen.lost({ ofGone: remembered })).toEqual([]);
      } finally {
        await kitchen.close();
      }
    }),
    { numRuns: 40 },
  );
});
