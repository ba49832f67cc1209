// The running watchers: how many, with which clock, and how they are restarted. Each has a supervisor of its own, as a
// pod has its kubelet, so a killed watcher is restarted at once, however often that happens.
import { startWatchers, type WatcherStart, type Watchers } from '@outrigger/cli/dev/watchers';

/** The number and the clocks of the watchers. */
export type PoolShape = {
  readonly count: number;
  /** By how much their clocks are wrong. */
  readonly clockMinutes?: number;
};

/** Watchers that are started, killed and replaced on request. */
export type WatcherPool = {
  pids(): readonly number[];
  /**
   * Resolves when the pool has this shape. If it already has, the watchers stay; otherwise all are stopped and new ones
   * started.
   */
  scale(shape: PoolShape): Promise<void>;
  /**
   * Kills the first `count` with SIGKILL, by default all, and starts as many new ones; resolves with the number of
   * killed processes.
   */
  kill(count?: number): Promise<number>;
  /**
   * Stops one after the other with SIGTERM, each when the successor of the one before watches; resolves with the
   * number.
   */
  roll(signal: AbortSignal): Promise<number>;
  close(): Promise<void>;
};

const shiftedClock = new URL('./shifted-clock.ts', import.meta.url).href;

/** Creates an empty pool. */
export function createWatcherPool(start: WatcherStart): WatcherPool {
  let supervisors: readonly Watchers[] = [];
  let shape: PoolShape = { count: 0 };

  function startOne(): Watchers {
    const { clockMinutes = 0 } = shape;
    const clock = clockMinutes === 0 ? [] : ['--import', `${shiftedClock}?minutes=${clockMinutes}`];
    return startWatchers({ ...start, nodeArguments: clock }, 1);
  }

  async function stopAll(): Promise<void> {
    await Promise.all(supervisors.map((supervisor) => supervisor.stop()));
    supervisors = [];
  }

  return {
    pids: () => supervisors.flatMap((supervisor) => supervisor.pids()),
    scale: async (next) => {
      if (next.count === shape.count && (next.clockMinutes ?? 0) === (shape.clockMinutes ?? 0)) return;
      await stopAll();
      shape = next;
      supervisors = Array.from({ length: next.count }, startOne);
    },
    kill: async (count = supervisors.length) => {
      const killed = supervisors.slice(0, count);
      const pids = killed.flatMap((supervisor) => supervisor.pids());
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      await Promise.all(killed.map((supervisor) => supervisor.stop()));
      // The spared watchers are the first to be killed next time.
      supervisors = [...supervisors.slice(count), ...killed.map(startOne)];
      return pids.length;
    },
    roll: async (signal) => {
      for (const old of supervisors) {
        await old.stop();
        const successor = startOne();
        supervisors = supervisors.map((supervisor) => (supervisor === old ? successor : supervisor));
        await successor.ready(signal);
      }
      return supervisors.length;
    },
    close: stopAll,
  };
}
