// The state of one server, which every verb works on: the store, the served kinds, their schemas and rules, and the
// clock. Also the arguments that all writes share.
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
  now(): Date;
  readonly readLog: ReadLog;
};

/** Options of a write. */
export type WriteOptions = {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore';
  /** Adds a `Warning` header to the response. */
  warn(text: string): void;
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
