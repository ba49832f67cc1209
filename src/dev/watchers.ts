// Watchers as processes of their own, from the same bundle as in the Deployment, started again when they die: so that
// anyone can kill one and look what is lost.
import { type ChildProcess, fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { isRecord } from '../kube/record.ts';
import { ownModule } from '../local/own-module.ts';

/** What a watcher's process did. */
export type WatcherEvent =
  | { readonly type: 'started'; readonly pid: number }
  | { readonly type: 'ended'; readonly pid: number; readonly how: string; readonly again: boolean }
  | { readonly type: 'watching'; readonly pid: number; readonly text: string }
  | { readonly type: 'line'; readonly pid: number; readonly text: string };

/** How to start watchers. */
export type WatcherStart = {
  /** The bundle. */
  readonly file: string;
  /** The whole environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly onEvent: (event: WatcherEvent) => void;
  readonly nodeArguments?: readonly string[];
};

/** Watchers that run. */
export type Watchers = {
  /** Those that live now; one that just died is missing until it is back. */
  pids(): readonly number[];
  /** Resolves when each has said that it watches everything, or has had its time. */
  ready(signal: AbortSignal): Promise<void>;
  /** Ends one, drained, and starts it again (with a new bundle). */
  restart(): void;
  /** Lets them drain, then ends them; resolves when all are gone. */
  stop(): Promise<void>;
};

const leash = pathToFileURL(ownModule(import.meta, './exit-with-parent')).href;
/** As Kubernetes gives a pod, but nobody at a terminal waits 30 s. */
const drainMilliseconds = 5_000;
/** A watcher that cannot watch everything is reported by its lines; nobody waits for it for ever. */
const readyMilliseconds = 10_000;
/** A watcher that dies at its start is not started in a hot loop. */
const backMilliseconds = { first: 100, most: 5_000, healthyAfter: 10_000 };

/** Starts `count` watchers. */
export function startWatchers(
  { file, environment, onEvent, nodeArguments = [] }: WatcherStart,
  count: number,
): Watchers {
  const running = new Set<ChildProcess>();
  const timers = new Set<NodeJS.Timeout>();
  let stopping = false;
  const watching = new Set<number>();
  const listeners = new Set<() => void>();
  for (let index = 0; index < count; index += 1) start(backMilliseconds.first);

  function start(backAfter: number): void {
    const startedAt = performance.now();
    const child = fork(file, {
      execArgv: ['--enable-source-maps', '--disable-warning=ExperimentalWarning', '--import', leash, ...nodeArguments],
      env: { ...environment },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // A terminal's Ctrl-C goes to its whole process group; whether this one ends, and when, is decided here.
      detached: true,
    });
    const pid = child.pid ?? 0;
    running.add(child);
    onEvent({ type: 'started', pid });
    for (const readable of [child.stdout, child.stderr]) {
      if (readable !== null) createInterface(readable).on('line', (text) => hear(pid, text));
    }
    child.once('exit', (code, signal) => {
      running.delete(child);
      watching.delete(pid);
      onEvent({ type: 'ended', pid, how: signal ?? `exit status ${code}`, again: !stopping });
      if (stopping) return;
      const lived = performance.now() - startedAt;
      const next =
        lived > backMilliseconds.healthyAfter ? backMilliseconds.first : Math.min(backAfter * 2, backMilliseconds.most);
      const timer = setTimeout(() => {
        timers.delete(timer);
        start(next);
      }, backAfter);
      timers.add(timer);
    });
  }

  function hear(pid: number, text: string): void {
    if (!saysWatching(text)) {
      onEvent({ type: 'line', pid, text });
      return;
    }
    watching.add(pid);
    onEvent({ type: 'watching', pid, text });
    for (const listener of listeners) listener();
  }

  return {
    ready: (signal) =>
      new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          listeners.delete(look);
          signal.removeEventListener('abort', done);
          resolve();
        };
        const look = () => {
          if (watching.size >= count) done();
        };
        const timer = setTimeout(done, readyMilliseconds);
        listeners.add(look);
        signal.addEventListener('abort', done);
        look();
      }),
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

/** The watcher's line when every kind that it watches is served. */
function saysWatching(text: string): boolean {
  try {
    const entry: unknown = JSON.parse(text);
    return isRecord(entry) && entry.message === 'watching';
  } catch {
    return false;
  }
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), drainMilliseconds);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    if (child.exitCode !== null || child.signalCode !== null) child.emit('exit', child.exitCode, child.signalCode);
    else child.kill('SIGTERM');
  });
}
