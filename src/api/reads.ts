// What a controller reads: a kind in all namespaces, or by `inNamespaces` in some only; and where a list looks.
import { isSameKind } from '../core/kind-names.ts';
import type { LabelSelector } from '../core/selector.ts';
import type { Kind } from './kind.ts';

/** A kind that is read in these namespaces only. An interface, so that messages show its name. */
export interface KindInNamespaces<K extends Kind = Kind> {
  /** The kind. */
  readonly of: K;
  /** The namespaces in which it is read. */
  readonly namespaces: readonly string[];
}

/** Where a list looks, and by which expressions it selects besides the labels. */
export type ListScope = Pick<LabelSelector, 'matchExpressions'> & {
  /** One namespace, or `'*'` for all. Absent: that of the object. */
  readonly namespace?: string | undefined;
};

/** An entry of `reads`. */
export type Read = Kind | KindInNamespaces;

/** The kind of an entry of `reads`, as a type. */
export type KindOfRead<R extends Read> = R extends KindInNamespaces<infer K> ? K : R extends Kind ? R : never;

/**
 * An entry of `reads`: the kind in these namespaces only. The function gets a Role in each of them, and so does the
 * watcher if the kind is in `watches`. A `get` or `list` of another namespace throws a TypeError.
 * @example reads: [ConfigMap, inNamespaces(Secret, ['platform', 'certs'])]
 */
export function inNamespaces<K extends Kind>(kind: K, namespaces: readonly string[]): KindInNamespaces<K> {
  return { of: kind, namespaces };
}

/** The kind of an entry of `reads`. */
export function kindOfRead(read: Read): Kind {
  return 'of' in read ? read.of : read;
}

/** The namespaces of an entry of `reads`; undefined: all. */
export function namespacesOfRead(read: Read): readonly string[] | undefined {
  return 'of' in read ? read.namespaces : undefined;
}

/** The only namespaces in which the kind is read; undefined: all, or the kind is not in `reads`. */
export function namespacesOfKind(reads: readonly Read[], kind: Kind): readonly string[] | undefined {
  const read = reads.find((one) => isSameKind(kindOfRead(one), kind));
  return read === undefined ? undefined : namespacesOfRead(read);
}

/**
 * Throws a TypeError if a kind is read in named namespaces only, and this is none of them. `*`: all; empty: the call
 * names none, and the object has none.
 */
export function ensureDeclaredNamespace(
  controller: string,
  reads: readonly Read[],
  kind: Kind,
  namespace: string,
): void {
  const namespaces = namespacesOfKind(reads, kind);
  if (namespaces === undefined || namespaces.includes(namespace)) return;
  const place = { '': 'no namespace', '*': 'all namespaces' }[namespace] ?? namespace;
  throw new TypeError(
    `${controller} declares inNamespaces(${kind.kind}, ['${namespaces.join("', '")}']), so its role forbids ` +
      `${kind.kind} in ${place}; add that, or declare ${kind.kind} itself`,
  );
}
