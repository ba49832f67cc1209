// The watchers on duty: how many, with which clock, and how they come and go. Each has a supervisor of its own, as a pod has its
// kubelet, so that one that is killed is back at once, however often that happens.
import { startWatchers, type WatcherStart, type Watchers } from '../../src/dev/watchers.ts';

/** Who is to be there. */
export type Shape = {
  readonly count: number;
  /** How far their clocks are off. */
  readonly clockMinutes?: number;
};

/** Watchers that come and go as they are told. */
export type Crew = {
  pids(): readonly number[];
  /** Resolves when so many are there: as they are, where that is so already, else new ones after the old ones have ended. */
  man(shape: Shape): Promise<void>;
  /** Kills the first `count` at once, by default all, and starts as many again; resolves with how many died. */
  kill(count?: number): Promise<number>;
  /** Ends one after the other by SIGTERM, the next when its successor watches; resolves with how many. */
  roll(signal: AbortSignal): Promise<number>;
  close(): Promise<void>;
};

const shiftedClock = new URL('../../tools/chaos/shifted-clock.ts', import.meta.url).href;

/** Creates a crew of nobody. */
export function createCrew(start: WatcherStart): Crew {
  let posts: readonly Watchers[] = [];
  let shape: Shape = { count: 0 };

  function employ(): Watchers {
    const { clockMinutes = 0 } = shape;
    const clock = clockMinutes === 0 ? [] : ['--import', `${shiftedClock}?minutes=${clockMinutes}`];
    return startWatchers({ ...start, nodeArguments: clock }, 1);
  }

  async function end(): Promise<void> {
    await Promise.all(posts.map((post) => post.stop()));
    posts = [];
  }

  return {
    pids: () => posts.flatMap((post) => post.pids()),
    man: async (next) => {
      if (next.count === shape.count && (next.clockMinutes ?? 0) === (shape.clockMinutes ?? 0)) return;
      await end();
      shape = next;
      posts = Array.from({ length: next.count }, employ);
    },
    kill: async (count = posts.length) => {
      const fallen = posts.slice(0, count);
      const pids = fallen.flatMap((post) => post.pids());
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      await Promise.all(fallen.map((post) => post.stop()));
      // Those who were spared are the first next time.
      posts = [...posts.slice(count), ...fallen.map(employ)];
      return pids.length;
    },
    roll: async (signal) => {
      for (const leaving of posts) {
        await leaving.stop();
        const coming = employ();
        posts = posts.map((post) => (post === leaving ? coming : post));
        await coming.ready(signal);
      }
      return posts.length;
    },
    close: end,
  };
}
