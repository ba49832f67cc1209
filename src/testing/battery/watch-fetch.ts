// The controller's calls by the global `fetch` during a reconcile, so that a check can fail them, drop their responses,
// or count them.

/** A call by `fetch`. */
export type FetchCall = {
  /** `PUT http://host/path`. */
  readonly line: string;
  /** Whether it can change something: its method is neither GET nor HEAD. */
  readonly changes: boolean;
  /** The signal that the controller passed. */
  readonly signal: AbortSignal | undefined;
};

/** A fault of a call: runs in its place; `send` sends it. */
export type DisturbFetch = (call: FetchCall, send: () => Promise<Response>) => Promise<Response>;

/**
 * Returns a function that begins to run `onCall` in place of each call by the global `fetch`. That ends when all that
 * it has returned are disposed: of two reconciles at once, either may end first.
 */
export function createFetchWatch(onCall: DisturbFetch): () => Disposable {
  let real = globalThis.fetch;
  let running = 0;
  return () => {
    running += 1;
    if (running === 1) {
      real = globalThis.fetch;
      globalThis.fetch = async (...call) => await onCall(describeCall(...call), async () => await real(...call));
    }
    return {
      [Symbol.dispose]: () => {
        running -= 1;
        if (running === 0) globalThis.fetch = real;
      },
    };
  };
}

function describeCall(...[input, init = {}]: Parameters<typeof fetch>): FetchCall {
  const given = input instanceof Request ? input : undefined;
  const method = (init.method ?? given?.method ?? 'GET').toUpperCase();
  return {
    line: `${method} ${given?.url ?? String(input)}`,
    changes: method !== 'GET' && method !== 'HEAD',
    signal: init.signal ?? given?.signal,
  };
}
