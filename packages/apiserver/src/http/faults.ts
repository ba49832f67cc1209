// Faults that a test injects into requests: what a real API server does on a bad day. A fault is decided before the
// request is handled, so that the objects of the server are as if the request had not arrived.
import type { ServerResponse } from 'node:http';
import { StatusError, statusOf } from '../status-error.ts';

/** What a fault does to a request. */
export type FaultEffect =
  /** No response, and the connection stays open until the client or the server closes it. */
  | 'stall'
  /** The connection is closed without a response. */
  | 'reset'
  /** 410 Expired: the resourceVersion of a watch or list is compacted. */
  | 'expired'
  /** 409 Conflict, as for a resourceVersion that has changed. */
  | 'conflict'
  /** 429 with `Retry-After: 1`, as API Priority and Fairness answers. */
  | 'throttled'
  /** 503, as behind a load balancer without a backend. */
  | 'unavailable'
  /** The response comes this many milliseconds later. */
  | { readonly delayMilliseconds: number };

/** A fault, and the requests that it concerns. */
export type Fault = {
  /** What happens to the requests. */
  readonly does: FaultEffect;
  /** Default: every method. */
  readonly method?: string;
  /** The path without its query. A text is a prefix. Default: every path. */
  readonly path?: string | RegExp;
  /** Only watches (true), or only requests that are none (false). Default: both. */
  readonly watch?: boolean;
  /** The User-Agent of the client. A text is a prefix. Default: every client. */
  readonly userAgent?: string | RegExp;
  /** How many requests. Default: until the fault is disposed. */
  readonly times?: number;
};

/** What is needed of a request to decide about it. */
export type FaultTarget = {
  readonly method: string;
  readonly path: string;
  readonly watch: boolean;
  readonly userAgent: string;
};

/** The injected faults of one server. */
export type Faults = {
  /** Injects a fault. Disposing ends it. */
  inject(fault: Fault): Disposable;
  /** Returns the fault of a request, the latest one first, and counts it. */
  next(target: FaultTarget): FaultEffect | undefined;
};

/** Creates the list of faults, which is empty. */
export function createFaults(): Faults {
  const active = new Map<Fault, number>();
  return {
    inject: (fault) => {
      const own = { ...fault };
      active.set(own, fault.times ?? Number.POSITIVE_INFINITY);
      return { [Symbol.dispose]: () => void active.delete(own) };
    },
    next: (target) => {
      const found = [...active].reverse().find(([fault, left]) => left > 0 && concerns(fault, target));
      if (found === undefined) return undefined;
      const [fault, left] = found;
      active.set(fault, left - 1);
      return fault.does;
    },
  };
}

function concerns(fault: Fault, { method, path, watch, userAgent }: FaultTarget): boolean {
  if (fault.method !== undefined && fault.method !== method) return false;
  if (fault.watch !== undefined && fault.watch !== watch) return false;
  return matches(fault.path, path) && matches(fault.userAgent, userAgent);
}

function matches(wanted: string | RegExp | undefined, text: string): boolean {
  if (wanted === undefined) return true;
  return typeof wanted === 'string' ? text.startsWith(wanted) : wanted.test(text);
}

const statuses = {
  expired: new StatusError(410, 'Expired', 'The resourceVersion for the provided watch is too old.'),
  conflict: new StatusError(409, 'Conflict', 'Operation cannot be fulfilled: the object has been modified'),
  throttled: new StatusError(429, 'TooManyRequests', 'too many requests, please try again later'),
  unavailable: new StatusError(503, 'ServiceUnavailable', 'the server is currently unable to handle the request'),
} as const;

/** Carries out a fault. Returns false if the request is to be handled after all. */
export async function carryOut(effect: FaultEffect, response: ServerResponse): Promise<boolean> {
  if (effect === 'stall') return true;
  if (effect === 'reset') {
    response.destroy();
    return true;
  }
  if (typeof effect === 'object') {
    await new Promise((resolve) => setTimeout(resolve, effect.delayMilliseconds).unref());
    return false;
  }
  const status = statuses[effect];
  const headers = effect === 'throttled' ? { 'retry-after': '1' } : {};
  response.writeHead(status.code, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(statusOf(status)));
  return true;
}
