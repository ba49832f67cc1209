// What a controller takes from the global object during a reconcile of the battery, instead of from its context: the
// time of `Date`, which a check moves, and the calls by `fetch`, which a check fails or counts. Only the code that the
// reconcile runs sees the change, so that one that a check has given up does not change the next one.
import { AsyncLocalStorage } from 'node:async_hooks';

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

/** What the code of a reconcile sees. */
export type Globals = {
  /** How much later `Date` is, in milliseconds. The timers of Node are not changed. */
  readonly aheadMs: number;
  /** Runs in place of each call by `fetch`. */
  readonly onFetch: DisturbFetch;
};

const current = new AsyncLocalStorage<Globals>();
let running = 0;
let restore = () => {};

/** Runs code that sees these globals, and so does all that it starts. */
export async function withGlobals<T>(globals: Globals, run: () => Promise<T>): Promise<T> {
  if (running === 0) restore = replaceGlobals();
  running += 1;
  try {
    return await current.run(globals, run);
  } finally {
    running -= 1;
    if (running === 0) restore();
  }
}

function replaceGlobals(): () => void {
  const { Date: RealDate, fetch: realFetch } = globalThis;
  const aheadMs = () => current.getStore()?.aheadMs ?? 0;
  const now = () => RealDate.now() + aheadMs();
  globalThis.Date = new Proxy(RealDate, {
    apply: () => new RealDate(now()).toString(),
    construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
    get: (target, name) => (name === 'now' && aheadMs() !== 0 ? now : Reflect.get(target, name)),
  });
  globalThis.fetch = async (...call) => {
    const send = async () => await realFetch(...call);
    return await (current.getStore()?.onFetch(describeCall(...call), send) ?? send());
  };
  return () => {
    globalThis.Date = RealDate;
    globalThis.fetch = realFetch;
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
