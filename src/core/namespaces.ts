// The list of the only namespaces of a project. A field selector has no `in`, so each namespace of the list has a list
// and a watch of its own for every kind.
import * as z from 'zod';
import { isWatcherNamespace } from './names.ts';

/** The most namespaces: beyond that the streams cost an API server more than a watch of all namespaces. */
export const maxNamespaces = 20;

const namespaceName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const maxCharacters = 63;

/** Whether a namespace can have this name: the API server refuses a list, and a Role, with another one. */
export function isNamespaceName(name: string): boolean {
  return name.length <= maxCharacters && namespaceName.test(name);
}

/** Parses a list of namespaces, each once. */
export const namespacesSchema = z
  .array(
    z
      .string()
      .refine(isNamespaceName, 'must be the name of a namespace')
      .refine((name) => !isWatcherNamespace(name), 'is the namespace of a watcher'),
  )
  .min(1)
  .max(maxNamespaces, `more than ${maxNamespaces} namespaces; watch all of them instead`)
  .refine((names) => new Set(names).size === names.length, 'has a namespace twice');

/** Returns where the objects of a kind are listed: in each namespace of a project, or everywhere (undefined). */
export function placesOf(
  { namespaced }: { readonly namespaced: boolean },
  namespaces: readonly string[] | undefined,
): readonly (string | undefined)[] {
  return namespaced && namespaces !== undefined ? namespaces : [undefined];
}
