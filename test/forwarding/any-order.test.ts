// Guarantee 1 for the watcher as a whole: SQS accepts a key after every change, whatever happens in whatever order. The
// steps are changes, deletions, failures of the API server and of SQS, kills, restarts, two replicas and compactions.
// Each single step has its own tests: watch-loop-checkpoint.test.ts, watch-loop.test.ts, forwarder.test.ts.
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { StreamFault } from '../../tools/chaos/streams.ts';
import type { KillableWatcher } from '../watcher/killable-watcher.ts';
import { openWatcherFixture, type WatcherFault, type WatcherFixture } from '../watcher/watcher-harness.ts';

type Step =
  | { readonly do: 'pot' | 'no pot' | 'no lid'; readonly which: number }
  | { readonly do: 'lid'; readonly which: number; readonly owner: number }
  | { readonly do: 'accept' | 'stall' | 'reject' | 'compact' }
  | { readonly do: 'stream'; readonly fault: StreamFault['type'] }
  | { readonly do: 'fail requests'; readonly requests: number; readonly fault: WatcherFault }
  | { readonly do: 'write' | 'kill' | 'start'; readonly which: number }
  | { readonly do: 'idle'; readonly turns: number };

/** So low that keys wait for it all the time. */
const rateLimit = { perSecond: 1, burst: 2 };
const which = fc.nat(1);
const fault: fc.Arbitrary<WatcherFault> = fc.constantFrom(
  'reset' as const,
  'drop-response' as const,
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
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('accept', 'stall', 'reject', 'compact', 'compact') }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('stream'), fault: fc.constantFrom('stall', 'reset', 'cut', 'gone') }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('fail requests'), requests: fc.integer({ min: 1, max: 6 }), fault }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('write', 'kill', 'start', 'start'), which: watcherIndex }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('idle'), turns: fc.nat(40) }) },
);

async function run(fixture: WatcherFixture, steps: readonly Step[]): Promise<void> {
  const watchers = new Map<number, KillableWatcher>();
  for (const one of steps) {
    switch (one.do) {
      case 'pot':
        await fixture.putPot(`pot-${one.which}`);
        break;
      case 'no pot':
        await fixture.removePot(`pot-${one.which}`);
        break;
      case 'lid':
        await fixture.putLid(`lid-${one.which}`, `pot-${one.owner}`);
        break;
      case 'no lid':
        await fixture.removeLid(`lid-${one.which}`);
        break;
      case 'compact':
        fixture.server.expireWindow();
        break;
      case 'stream':
        fixture.breakStreams({ type: one.fault });
        break;
      case 'fail requests':
        fixture.failRequests(one.requests, one.fault);
        break;
      case 'write':
        await watchers.get(one.which)?.writeCheckpoint();
        break;
      case 'kill': {
        const watcher = watchers.get(one.which);
        if (watcher !== undefined) fixture.kill(watcher);
        watchers.delete(one.which);
        break;
      }
      case 'start':
        if (!watchers.has(one.which)) watchers.set(one.which, fixture.start(rateLimit));
        break;
      case 'idle':
        for (let turns = 0; turns < one.turns; turns += 1) await turn();
        break;
      default:
        fixture.sqs(one.do);
    }
  }
  for (const watcher of watchers.values()) fixture.kill(watcher);
  fixture.sqs('accept');
  fixture.failRequests(0, 'reset');
}

/** The API server refuses the checkpoint to a watcher, which then writes its own over it. */
const refusedCheckpoint: readonly Step[] = [
  { do: 'fail requests', requests: 1, fault: { status: 403 } },
  { do: 'lid', which: 0, owner: 1 },
  { do: 'no lid', which: 1 },
  { do: 'no pot', which: 0 },
  { do: 'start', which: 0 },
  { do: 'idle', turns: 40 },
  { do: 'write', which: 0 },
];

it('every change is finally accepted, whatever happens in whatever order', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
      const fixture = await openWatcherFixture();
      try {
        // A first watcher writes the checkpoint. Without one, objects that were created and deleted before the start
        // leave no trace.
        for (const [lid, pot] of [
          ['lid-0', 'pot-0'],
          ['lid-1', 'pot-1'],
        ] as const) {
          await fixture.putPot(pot);
          await fixture.putLid(lid, pot);
        }
        const first = fixture.start();
        await fixture.caughtUp(first);
        await first.writeCheckpoint();
        fixture.kill(first);
        await run(fixture, steps);
        await fixture.caughtUp(fixture.start(rateLimit));
        // A list does not show deleted objects. A deleted primary has nothing left to reconcile.
        // Without history, after a compaction or a 403 for the checkpoint, nothing else shows that it was there.
        const historyKept = !steps.some((one) => one.do === 'compact') && !fixture.ignoredCheckpoint();
        expect(await fixture.lost({ ofGone: historyKept })).toEqual([]);
      } finally {
        await fixture.close();
      }
    }),
    { numRuns: 40, examples: [[[...refusedCheckpoint]]] },
  );
});
