// The state of one server, which every verb works on: the store, the served kinds, their schemas and rules, and the
// clock. Also the arguments that all writes share.
import type { Admission, Review } from './admission/admission.ts';
import type { User } from './admission/user.ts';
import type { ApiObject } from './object.ts';
import type { ResourceRegistry } from './registry/registry.ts';
import { type ApiResource, collectionOf } from './registry/resource.ts';
import type { BuiltinSchemas } from './schema/builtins.ts';
import type { Rules } from './schema/rules.ts';
import type { Store } from './store/store.ts';

/** Returns the log of a container as text. */
export type ReadLog = (container: {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}) => string;

/** The state of one server. */
export type ServerState = {
  readonly store: Store;
  readonly registry: ResourceRegistry;
  readonly schemas: BuiltinSchemas;
  readonly rules: Rules;
  readonly admission: Admission;
  now(): Date;
  readonly readLog: ReadLog;
};

/** Who writes. */
export type Writer = {
  readonly dryRun: boolean;
  /** Undefined for a write of the server itself, which no admission policy limits. */
  readonly user: User | undefined;
  /** Adds a `Warning` header to the response. */
  warn(text: string): void;
};

/** The server itself. */
export const theServer: Writer = { dryRun: false, user: undefined, warn: () => undefined };

/** Options of a write. */
export type WriteOptions = Writer & {
  readonly fieldManager: string;
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore';
};

/** The object that a request names. */
export type ObjectTarget = {
  readonly resource: ApiResource;
  readonly namespace: string;
  readonly name: string;
};

/** Returns a time in the API's format, RFC 3339 in whole seconds. */
export function timestamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

/** Returns a stored object, or undefined. */
export function findObject({ store }: ServerState, { resource, namespace, name }: ObjectTarget): ApiObject | undefined {
  return store.get(collectionOf(resource), { namespace, name });
}

/** Throws the StatusError of an admission policy that refuses a write. */
export function admit(
  { admission }: Pick<ServerState, 'admission'>,
  review: Omit<Review, 'user' | 'dryRun' | 'warn'>,
  { user, dryRun, warn }: Writer,
): void {
  if (user !== undefined) admission({ ...review, user, dryRun, warn });
}
