// What every verb works on: the one store, the kinds that are served, and the sources of time and chance.
import type { ApiObject } from './object.ts';
import type { Registry } from './registry/registry.ts';
import { collectionOf, type Resource } from './registry/resource.ts';
import type { BuiltinSchemas } from '../local/api-server/schema/builtins.ts';
import type { Rules } from './schema/rules.ts';
import type { Store } from './store/store.ts';

/** The parts of one server. */
export interface World {
  readonly store: Store;
  readonly registry: Registry;
  readonly schemas: BuiltinSchemas;
  readonly rules: Rules;
  now(): Date;
}

/** How a write is to be done. */
export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore';
  /** Adds a `Warning` header to the answer. */
  warn(text: string): void;
}

/** Which object a request is about. */
export interface Target {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
}

/** Returns a time as the API writes it: whole seconds. */
export function timestamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

/** Looks an object up. */
export function findObject({ store }: World, { resource, namespace, name }: Target): ApiObject | undefined {
  return store.get(collectionOf(resource), { namespace, name });
}
