// The signal of the reconcile in which code runs, for clients that are made once and called in every reconcile.
import { AsyncLocalStorage } from 'node:async_hooks';

/** The signal of the call of the author's code that is running. */
export const currentSignal = new AsyncLocalStorage<AbortSignal>();
