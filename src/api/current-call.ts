// The call of the author's code in which code runs, for clients that are made once and called in every reconcile.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Permission } from './permissions.ts';

/** The call that is running: its signal, and what its controller declares that it may do on AWS. */
export type CurrentCall = {
  readonly signal: AbortSignal;
  readonly controller: string;
  readonly permissions: readonly Permission[];
};

export const currentCall = new AsyncLocalStorage<CurrentCall>();
