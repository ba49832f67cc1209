// Only what a loop does when something around it fails: whether it counts as working, and what it holds on to. A server that
// answers by script, a clock that is moved by hand.
import { expect, it, onTestFinished } from 'vitest';
import type { WatchedResource } from '../../src/core/watch-list.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { createRestoration } from '../../src/kube/restoration.ts';
import { createForwarder } from '../../src/runtime/forwarder.ts';
import { type Cursor, noCursor } from '../../src/watcher/cursor.ts';
import { createHealth } from '../../src/watcher/health.ts';
import { createWatchLoop } from '../../src/watcher/watch-loop.ts';
import { createTime, frame, listOf, openWatch, startScript, tank } from '../kube/watch/watch-script.ts';
import { sendJson } from '../kube/wire-server.ts';
import { createWitness } from '../support/recorder.ts';

const kind = { group: 'plant.example.com', version: 'v1', plural: 'watertanks', kind: 'WaterTank', namespaced: true };
const tanks: WatchedResource = {
  ...kind,
  subscribers: [{ controller: 'water-tank', as: 'primary', primary: kind, predicate: 'generation' }],
};

/** A loop whose clock is moved by hand. */
function follow(client: KubeClient, { cursor = noCursor }: { readonly cursor?: Cursor } = {}) {
  const time = createTime();
  const clock = { ms: 0 };
  const health = createHealth(() => clock.ms);
  const loopHealth = health.loop('tanks');
  const seen = { opened: 0, trouble: 0, heard: 0, listening: 0, refused: 0, accepted: 0 };
  const looks = new Set<() => void>();
  const count = (what: keyof typeof seen) => {
    seen[what] += 1;
    for (const look of looks) look();
  };
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const { signal } = controller;
  const { log } = createWitness();
  /** Queues that refuse; each refusal is followed by a wait without an end. */
  const refusing = new Set<string>();
  const forwarder = createForwarder({
    send: async (queue, entries) =>
      entries.map(() =>
        refusing.has(queue) ? { accepted: false, reason: 'away' } : { accepted: true, messageId: 'm' },
      ),
    wait: () => new Promise(() => undefined),
    meter: {
      accepted: () => count('accepted'),
      coalesced: () => undefined,
      refused: () => count('refused'),
      paced: () => undefined,
    },
    ...{ log, now: () => clock.ms, random: () => 0, bulkPerSecond: 100, signal },
  });
  const loop = createWatchLoop(
    {
      ...{ client, cursor, forwarder, log, now: () => clock.ms, random: () => 0, nonce: () => 'n' },
      health: {
        ...loopHealth,
        opened: () => {
          loopHealth.opened();
          count('opened');
        },
        heard: () => {
          loopHealth.heard();
          count('heard');
        },
        trouble: (error) => {
          loopHealth.trouble(error);
          count('trouble');
        },
      },
      wait: (seconds, until) => {
        const waited = time.wait(seconds, until);
        if (seconds === 70) count('listening');
        return waited;
      },
      restoration: createRestoration(),
      sweep: () => undefined,
    },
    { resource: tanks, cluster: 'c' },
  );
  void loop.run(signal);
  return {
    ...{ loop, clock, health, refusing, silence: time.silence },
    /** Waits until something has happened so many times. */
    until: (what: keyof typeof seen, times: number) =>
      new Promise<void>((resolve) => {
        const look = () => seen[what] >= times && resolve();
        looks.add(look);
        look();
      }),
  };
}
const bookmark = (resourceVersion: string) => frame('BOOKMARK', { metadata: { resourceVersion } });

it('a watch that its server ends between two bookmarks is neither unready nor dead', async () => {
  const ends: (() => void)[] = [];
  const { server } = await startScript({
    watch: (_, response, count) => {
      openWatch(response, ...(count === 1 ? [bookmark('110')] : []));
      ends.push(() => response.end());
    },
  });
  const { clock, health, until } = follow(server.client());
  // A page, the list's end, a bookmark.
  await until('heard', 3);
  clock.ms = 59_000;
  ends[0]?.();
  await until('opened', 2);
  // The new watch's first bookmark comes a minute after it was opened.
  clock.ms += 65_000;
  expect([health.ready(), health.alive()]).toEqual([true, true]);
});

it('a kind whose watches open and say nothing is not ready, and its loop not dead', async () => {
  const { server } = await startScript({});
  const { clock, health, until, silence } = follow(server.client());
  for (let silences = 1; silences <= 2; silences += 1) {
    await until('listening', silences);
    clock.ms += 70_000;
    silence();
    await until('trouble', silences);
  }
  await until('listening', 3);
  expect([health.ready(), health.alive()]).toEqual([false, true]);
});

it('a cursor that cannot be read is asked again', async () => {
  const { server } = await startScript({});
  let tries = 0;
  const cursor: Cursor = {
    ...noCursor,
    start: async () => {
      tries += 1;
      if (tries < 3) throw new Error('not now');
      return undefined;
    },
  };
  const { until, loop } = follow(server.client(), { cursor });
  await until('opened', 1);
  expect([tries, loop.objects()]).toEqual([3, 1]);
});

it('a key that waits for SQS since before its cluster was restored holds the new versions back', async () => {
  const changed = (version: string, generation: number) => {
    const { metadata } = tank('a', version);
    return frame('MODIFIED', { metadata: { ...metadata, generation } });
  };
  const writes: ((text: string) => void)[] = [];
  const ends: (() => void)[] = [];
  const { server } = await startScript({
    list: (_, response, count) => sendJson(response, 200, listOf(count === 1 ? '900' : '5', tank('a', '4'))),
    probe: (response) => sendJson(response, 200, listOf('5')),
    watch: (_, response) => {
      openWatch(response);
      writes.push((text) => void response.write(text));
      ends.push(() => response.end());
    },
  });
  const { refusing, until, loop } = follow(server.client());
  refusing.add('water-tank.fifo');
  await until('opened', 1);
  writes[0]?.(changed('901', 2));
  await until('refused', 1);
  ends[0]?.();
  await until('opened', 2);
  await until('accepted', 2);
  expect(loop.accepted()).toBe('5');
  writes[1]?.(changed('6', 3) + bookmark('7'));
  // Twice a page and a list's end, then what the frames say.
  await until('heard', 7);
  expect(loop.accepted()).toBe('5');
});
