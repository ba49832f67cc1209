// What the API server made of applies, for the values that it changes without a rule that is known here: defaults in
// atomic values, webhooks, custom kinds. An apply of the same object on the same owned fields changes nothing.
import { hash } from 'node:crypto';

/** Which apply: the object is a part of it, so another desired one is another apply. */
export type ApplyKey = {
  /** What is remembered is of this cluster alone: a copy of an etcd has the same objects. */
  readonly cluster: string | undefined;
  readonly fieldManager: string;
  readonly desired: unknown;
};

const maxKnown = 10_000;

/**
 * Hashes of the owned fields after an apply, by the hash of the apply, for the life of the process. They hold until the
 * API server or a webhook changes, so a thorough reconcile does not ask.
 */
const known = new Map<string, string>();

/** Returns whether an apply is known to end in these owned fields. */
export function isKnownApply(key: ApplyKey, owned: unknown): boolean {
  return known.get(digest(key)) === digest(owned);
}

/** Remembers the owned fields after an apply. Forgetting costs one apply of each. */
export function rememberApply(key: ApplyKey, owned: unknown): void {
  if (known.size >= maxKnown) known.clear();
  known.set(digest(key), digest(owned));
}

function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value) ?? '');
}
