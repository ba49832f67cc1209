// The health of the watcher, for its two probes. Readiness: does every kind still receive events? Liveness: would a
// restart help? A watcher that runs but receives no events is the most common way in which controllers fail, so
// readiness checks the age of the last event and nothing else.
import { toError } from '../core/errors.ts';
import { redact } from '../core/redact.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { IdleError, isForbidden, isKindNotServed } from '../kube/client/errors.ts';

/**
 * Bookmarks arrive every 60 s. A kind without any event for this long is not being watched. A watch of a server without
 * bookmarks is closed as idle after 70 s, and the successful request after it counts as an event. A stream that was
 * opened after the previous one had ended cleanly counts as an event until it fails: its first bookmark is a minute
 * away too.
 */
const maxEventAgeSeconds = 90;
/**
 * A loop with neither an event nor an attempt for this long is dead. An outage of the API server must not look like
 * this: a restart would lose the work queue.
 */
const maxAttemptAgeSeconds = 120;

/** What a loop reports about itself. */
export type LoopHealth = {
  /** A request is sent to the server. */
  attempted(): void;
  /** A request begins or ends to wait in this process for other requests. The loop is alive for as long as it takes. */
  queued(isQueued: boolean): void;
  /** The server has opened a stream, on which nothing has arrived yet. */
  opened(): void;
  /** The server has responded to a request that is not a stream. */
  responded(): void;
  /** A list begins. */
  listing(): void;
  /** Something arrived from the server. */
  received(): void;
  /** An attempt failed. */
  recordError(error: unknown): void;
  /** The loop itself failed and is restarted. */
  restarted(): void;
  /** Returns whether an error differs from the last one, so that it is logged once. */
  isNewError(message: string): boolean;
};

/** The health of one kind. */
export type KindReport = {
  readonly kind: string;
  readonly lastEventAgeSeconds: number | undefined;
  readonly attemptAgeSeconds: number;
  /** Whether the server serves the kind; undefined before it says so. */
  readonly served: boolean | undefined;
  /** The last error, until the next event arrives. */
  readonly error?: string;
  /** Lists that were started, watches and lists that failed, loops that were restarted. */
  readonly lists: number;
  readonly watchErrors: number;
  readonly restarts: number;
};

/** The health of the watcher. */
export type Health = {
  loop(kind: string): LoopHealth;
  report(): readonly KindReport[];
  /** Whether every served kind had a recent event, and at least one kind is served. */
  ready(): boolean;
  /**
   * The time up to which every served kind had an event, in milliseconds; undefined if one had none, or none is served.
   */
  lastSeenAt(): number | undefined;
  /**
   * For how long a watch of a served kind has failed without an event since; in milliseconds. Undefined: none has. A
   * stream that is open again sends what was missed, and may stay silent until its bookmark. It counts as whole for as
   * long as a kind may have no event.
   */
  failingMs(): number | undefined;
  /** Whether no loop is dead. */
  alive(): boolean;
};

class LoopState {
  readonly kind: string;
  eventAt: number | undefined;
  openedAt: number | undefined;
  /** When a stream was opened after a failure. */
  reopenedAt: number | undefined;
  attemptAt: number;
  /** The number of requests that wait in this process. */
  queued = 0;
  /** Whether the last watch was closed because it was idle, and no request has succeeded since. */
  isIdle = false;
  error = '';
  errorAt = 0;
  loggedError = '';
  served: boolean | undefined;
  lists = 0;
  watchErrors = 0;
  restarts = 0;

  constructor(kind: string, attemptAt: number) {
    [this.kind, this.attemptAt] = [kind, attemptAt];
  }
}

/**
 * Creates the health of a watcher. `now` is in milliseconds.
 * @param onTurned called when a watch has failed, and when its stream is open again or its events arrive again
 */
export function createHealth(now: () => number, onTurned: () => void = () => undefined): Health {
  const loops: LoopState[] = [];
  const since = (at: number) => (now() - at) / 1000;

  const report = (): readonly KindReport[] =>
    loops.map(({ kind, eventAt, attemptAt, queued, error, served, lists, watchErrors, restarts }) => ({
      kind,
      lastEventAgeSeconds: eventAt === undefined ? undefined : since(eventAt),
      attemptAgeSeconds: queued > 0 ? 0 : since(attemptAt),
      served,
      ...(error === '' ? {} : { error }),
      lists,
      watchErrors,
      restarts,
    }));

  /** The oldest of the last events of all kinds, except those that are not served; minus infinity if there is none. */
  const oldestEventAt = (): number => {
    const never = Number.NEGATIVE_INFINITY;
    const expected = loops.filter(({ served }) => served !== false);
    if (expected.length === 0) return never;
    return Math.min(...expected.map(({ eventAt = never, openedAt = never }) => Math.max(eventAt, openedAt)));
  };

  return {
    loop: (kind) => {
      const state = new LoopState(kind, now());
      loops.push(state);
      return {
        attempted: () => {
          state.attemptAt = now();
        },
        queued: (isQueued) => {
          state.attemptAt = now();
          state.queued += isQueued ? 1 : -1;
        },
        opened: () => {
          state.served = true;
          // After a failure, only an event shows that events arrive again.
          if (state.error === '') state.openedAt = now();
          else {
            state.reopenedAt = now();
            onTurned();
          }
        },
        responded: () => {
          // The watch was quiet because nothing had changed, or its reopened stream sends what has: the request between
          // them, a quorum read, shows that the server is reachable. A server without bookmarks sends nothing else.
          if (state.isIdle) Object.assign(state, { eventAt: now(), attemptAt: now(), error: '', isIdle: false });
        },
        listing: () => {
          state.lists += 1;
        },
        received: () => {
          if (state.error !== '') onTurned();
          Object.assign(state, { eventAt: now(), attemptAt: now(), error: '', served: true, loggedError: '' });
        },
        recordError: (thrown) => {
          const isFirst = state.error === '' || state.isIdle;
          const isNews = isFirst || state.reopenedAt !== undefined;
          const isIdle = thrown instanceof IdleError;
          Object.assign(state, { attemptAt: now(), openedAt: undefined, reopenedAt: undefined, isIdle });
          state.watchErrors += 1;
          if (isFirst) state.errorAt = now();
          if (isNews && !isIdle) onTurned();
          state.error = redact(toError(thrown).message);
          if (isKindNotServed(thrown)) state.served = false;
          // A server refuses before it looks whether it has the kind.
          else if (isForbidden(thrown)) state.served = undefined;
        },
        restarted: () => {
          state.attemptAt = now();
          state.restarts += 1;
        },
        isNewError: (message) => {
          const isNew = state.loggedError !== message;
          state.loggedError = message;
          return isNew;
        },
      };
    },
    report,
    ready: () => since(oldestEventAt()) <= maxEventAgeSeconds,
    lastSeenAt: () => (Number.isFinite(oldestEventAt()) ? oldestEventAt() : undefined),
    failingMs: () => {
      const isOpenAgain = ({ reopenedAt }: LoopState) =>
        reopenedAt !== undefined && since(reopenedAt) <= maxEventAgeSeconds;
      // An idle watch is opened again after a read that succeeds.
      const failing = loops.filter(
        (loop) => loop.error !== '' && !loop.isIdle && loop.served !== false && !isOpenAgain(loop),
      );
      return failing.length === 0 ? undefined : now() - Math.min(...failing.map(({ errorAt }) => errorAt));
    },
    alive: () => report().every(({ attemptAgeSeconds }) => attemptAgeSeconds <= maxAttemptAgeSeconds),
  };
}

/**
 * Creates a client that reports every request as an attempt, its response, and every stream that was opened. A loop's
 * events do not show this. kube-apiserver sends a last bookmark before it ends a watch because of its age [seen on
 * 1.36]. An API server that is restarted, or a proxy, ends a watch at any time, and the first bookmark of the next one
 * is a minute away again. Closing the client closes the given one.
 */
export function observedClient(
  client: KubeClient,
  health: Pick<LoopHealth, 'attempted' | 'queued' | 'opened' | 'responded'>,
): KubeClient {
  return {
    request: async (request) => {
      health.attempted();
      const response = await client.request({ ...request, onQueued: health.queued });
      health.responded();
      return response;
    },
    stream: async (request) => {
      health.attempted();
      const stream = await client.stream(request);
      health.opened();
      return stream;
    },
    webSocket: client.webSocket,
    close: client.close,
  };
}
