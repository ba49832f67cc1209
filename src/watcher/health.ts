// Whether the watcher is of any use, and whether starting it anew would help: two questions, two probes. A watcher that runs
// but hears nothing is the commonest way in which controllers fail, so readiness asks for frames and nothing else.
import { toError } from '../core/errors.ts';
import { redact } from '../core/redact.ts';
import { isForbidden, isNotFound } from '../kube/client/errors.ts';

/**
 * Bookmarks come every 60 s; without any frame for so long, a kind is not being watched. A stream that was opened where
 * another had ended well counts as one, until it breaks: its first bookmark is a minute away too.
 */
const frameSeconds = 90;
/** A loop with neither frame nor attempt for so long is dead. An outage must not look like this: it would lose the dirty set. */
const attemptSeconds = 120;

/** What a loop tells of itself. */
export type LoopHealth = {
  /** Something is asked of the server. */
  attempted(): void;
  /** The server has opened a stream; nothing came on it yet. */
  opened(): void;
  /** A list begins. */
  listing(): void;
  /** Something came from the server. */
  heard(): void;
  /** An attempt failed. */
  trouble(error: unknown): void;
  /** The loop itself broke. */
  restarted(): void;
  /** Tells whether a problem is another one than was told last, so that it is logged once. */
  isNew(problem: string): boolean;
};

/** How one kind stands. */
export type KindReport = {
  readonly kind: string;
  readonly frameAgeSeconds: number | undefined;
  readonly attemptAgeSeconds: number;
  /** Whether the server serves it to us; undefined while it has not said. */
  readonly served: boolean | undefined;
  /** The last failure, until a frame comes. */
  readonly problem?: string;
  /** Lists that were begun, watches and lists that failed, loops that broke. */
  readonly lists: number;
  readonly interruptions: number;
  readonly restarts: number;
};

/** How the watcher stands. */
export type Health = {
  loop(kind: string): LoopHealth;
  report(): readonly KindReport[];
  /** Every served kind had a frame of late, and there is one. */
  ready(): boolean;
  /** Up to when every served kind had a frame, in milliseconds; undefined while one has had none, or none is served. */
  framesAt(): number | undefined;
  /** No loop is dead. */
  alive(): boolean;
};

type Standing = {
  frameAt: number | undefined;
  openedAt: number | undefined;
  attemptAt: number;
  problem: string;
  served: boolean | undefined;
  told: string;
  lists: number;
  interruptions: number;
  restarts: number;
};

/** Creates the health of a watcher. `now` is in milliseconds. */
export function createHealth(now: () => number): Health {
  const kinds = new Map<string, Standing>();
  const since = (at: number) => (now() - at) / 1000;

  const report = (): readonly KindReport[] =>
    [...kinds].map(([kind, { frameAt, attemptAt, problem, served, lists, interruptions, restarts }]) => ({
      kind,
      frameAgeSeconds: frameAt === undefined ? undefined : since(frameAt),
      attemptAgeSeconds: since(attemptAt),
      served,
      ...(problem === '' ? {} : { problem }),
      lists,
      interruptions,
      restarts,
    }));

  /** The oldest of every asked kind's last; minus infinity while there is none. */
  const framesAt = (): number => {
    const never = Number.NEGATIVE_INFINITY;
    const asked = [...kinds.values()].filter(({ served }) => served !== false);
    if (asked.length === 0) return never;
    return Math.min(...asked.map(({ frameAt = never, openedAt = never }) => Math.max(frameAt, openedAt)));
  };

  return {
    loop: (kind) => {
      const standing: Standing = {
        frameAt: undefined,
        openedAt: undefined,
        attemptAt: now(),
        problem: '',
        served: undefined,
        told: '',
        lists: 0,
        interruptions: 0,
        restarts: 0,
      };
      kinds.set(kind, standing);
      return {
        attempted: () => {
          standing.attemptAt = now();
        },
        opened: () => {
          standing.served = true;
          // After a failure only a frame shows that frames arrive again.
          if (standing.problem === '') standing.openedAt = now();
        },
        listing: () => {
          standing.lists += 1;
        },
        heard: () => {
          Object.assign(standing, { frameAt: now(), attemptAt: now(), problem: '', served: true, told: '' });
        },
        trouble: (error) => {
          Object.assign(standing, { attemptAt: now(), openedAt: undefined });
          standing.interruptions += 1;
          standing.problem = redact(toError(error).message);
          if (isForbidden(error) || isNotFound(error)) standing.served = false;
        },
        restarted: () => {
          standing.attemptAt = now();
          standing.restarts += 1;
        },
        isNew: (problem) => {
          const fresh = standing.told !== problem;
          standing.told = problem;
          return fresh;
        },
      };
    },
    report,
    ready: () => since(framesAt()) <= frameSeconds,
    framesAt: () => (Number.isFinite(framesAt()) ? framesAt() : undefined),
    alive: () => report().every(({ attemptAgeSeconds }) => attemptAgeSeconds <= attemptSeconds),
  };
}
