// The list of the only namespaces of a project. A field selector has no `in`, so each namespace of the list has a list
// and a watch of its own for every kind.
import * as z from 'zod';
import { systemNamespace } from './names.ts';

/** The most namespaces: beyond that the streams cost an API server more than a watch of all namespaces. */
const maxNamespaces = 20;

/** Parses a list of namespaces, each once. */
export const namespacesSchema = z
  .array(
    z
      .string()
      .max(63)
      .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'must be the name of a namespace')
      .refine((name) => name !== systemNamespace, 'is the namespace of the watcher'),
  )
  .min(1)
  .max(maxNamespaces, `more than ${maxNamespaces} namespaces; watch all of them instead`)
  .refine((names) => new Set(names).size === names.length, 'has a namespace twice');
