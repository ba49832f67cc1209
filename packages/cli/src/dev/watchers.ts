// Runs watchers as separate processes, from the same bundle as in the Deployment. A watcher that ends is restarted, so
// a developer can kill one and check that no change is lost.
import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { isRecord, parseJson } from 'outrigger/internal/core/json';
import { ownModule } from '../project/own-module.ts';

/** An event of a watcher's process. */
export type WatcherEvent =
  | { readonly type: 'started'; readonly pid: number }
  | { readonly type: 'ended'; readonly pid: number; readonly how: string; readonly again: boolean }
  | { readonly type: 'watching'; readonly pid: number; readonly text: string }
  | { readonly type: 'line'; readonly pid: number; readonly text: string };

/** How watchers are started. */
export type WatcherStart = {
  /** The bundle. */
  readonly file: string;
  /** The complete environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly onEvent: (event: WatcherEvent) => void;
  readonly nodeArguments?: readonly string[];
};

/** Running watchers. */
export type Watchers = {
  /** The processes that run now. A watcher that has just ended is missing until it is restarted. */
  pids(): readonly number[];
  /** Resolves when each watcher has logged that it watches every kind, or after a timeout. */
  ready(signal: AbortSignal): Promise<void>;
  /** Drains and restarts every watcher, for a new bundle. */
  restart(): void;
  /** Drains and ends every watcher; resolves when all have ended. */
  stop(): Promise<void>;
};

const exitWithParent = pathToFileURL(ownModule(import.meta, './exit-with-parent')).href;
/** Kubernetes gives a pod 30 s; at a terminal that is too long. */
const drainMilliseconds = 5_000;
/** The timeout of `ready`. A watcher that cannot watch every kind logs it. */
const readyMilliseconds = 10_000;
/** The backoff of restarts. A watcher that ends at its start is not restarted in a hot loop. */
const restartMilliseconds = { first: 100, most: 5_000, healthyAfter: 10_000 };

/** Starts `count` watchers. */
export function startWatchers(
  { file, environment, onEvent, nodeArguments = [] }: WatcherStart,
  count: number,
): Watchers {
  const running = new Set<ChildProcess>();
  const timers = new Set<NodeJS.Timeout>();
  let stopping = false;
  const watching = new Set<number>();
  const changes = new EventEmitter();
  for (let index = 0; index < count; index += 1) start(restartMilliseconds.first);

  function start(delayMilliseconds: number): void {
    const startedAt = performance.now();
    const child = fork(file, {
      execArgv: ['--disable-warning=ExperimentalWarning', '--import', exitWithParent, ...nodeArguments],
      env: { ...environment },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // A terminal sends Ctrl-C to its whole process group. A detached process is ended from here only.
      detached: true,
    });
    const pid = child.pid ?? 0;
    running.add(child);
    onEvent({ type: 'started', pid });
    for (const readable of [child.stdout, child.stderr]) {
      if (readable !== null) createInterface(readable).on('line', (text) => readLine(pid, text));
    }
    child.once('exit', (code, signal) => {
      running.delete(child);
      watching.delete(pid);
      onEvent({ type: 'ended', pid, how: signal ?? `exit status ${code}`, again: !stopping });
      if (stopping) return;
      const lived = performance.now() - startedAt;
      const next =
        lived > restartMilliseconds.healthyAfter
          ? restartMilliseconds.first
          : Math.min(delayMilliseconds * 2, restartMilliseconds.most);
      const timer = setTimeout(() => {
        timers.delete(timer);
        start(next);
      }, delayMilliseconds);
      timers.add(timer);
    });
  }

  function readLine(pid: number, text: string): void {
    if (!isWatchingEntry(text)) {
      onEvent({ type: 'line', pid, text });
      return;
    }
    watching.add(pid);
    onEvent({ type: 'watching', pid, text });
    changes.emit('watching');
  }

  return {
    ready: async (signal) => {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(readyMilliseconds)]);
      while (watching.size < count && !limit.aborted)
        await once(changes, 'watching', { signal: limit }).catch(() => undefined);
    },
    pids: () => [...running].map(({ pid }) => pid ?? 0),
    restart: () => {
      for (const child of running) child.kill('SIGTERM');
    },
    stop: async () => {
      stopping = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.all([...running].map(end));
    },
  };
}

/** Whether a line is the watcher's log entry that every kind is watched. */
function isWatchingEntry(text: string): boolean {
  const entry = parseJson(text);
  return isRecord(entry) && entry.message === 'watching';
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), drainMilliseconds);
  child.kill('SIGTERM');
  // It rejects if a signal cannot be sent: the process is gone.
  await once(child, 'exit').catch(() => undefined);
  clearTimeout(timer);
}
