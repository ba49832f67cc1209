// What a kind is to the rest of the system: where its objects live in the API, and how one is read. Kinds of others
// (Namespace, Deployment) are declared here; kinds with a schema of our own by defineResource.

/** The metadata that a reconciler sees of every object. */
export type Meta = {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly generation: number;
  readonly labels?: Readonly<Record<string, string>>;
};

/** A kind of the Kubernetes API whose objects read as `O`. */
export interface Kind<O extends object = object> {
  /** `''` for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly apiVersion: string;
  /** Served by an API server of its own, by way of Kubernetes' aggregation layer. */
  readonly aggregated?: boolean;
  /** Reads an object as the API server sent it. Throws when it cannot be read. */
  read(raw: object): O;
}

/** What an object of a kind reads as. */
export type ObjectOf<K> = K extends Kind<infer O> ? O : never;

type Deep<T> = T extends readonly unknown[] ? T : T extends object ? { readonly [P in keyof T]?: Deep<T[P]> } : T;

/** A wanted object of an owned kind: any part of it; what is not mentioned is not ours. */
export type Child<K> = Deep<Omit<ObjectOf<K>, 'metadata' | 'status' | 'conditions' | 'observedGeneration'>> & {
  readonly metadata: Pick<Meta, 'name' | 'labels'>;
};

/** Where a kind lives in the API. */
export type KindNames = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Lower-case kind plus `s` (`es` after s, x, ch and sh; `ies` for y) when absent, as Kubernetes' own guess. */
  readonly plural?: string;
  /** `Namespaced` when absent. */
  readonly scope?: 'Namespaced' | 'Cluster';
  /** True for a kind of an aggregated API (an APIService with a service): its resource versions may be anything. */
  readonly aggregated?: boolean;
};

/**
 * Declares a kind that is not ours: no CRD is made for it and its objects are read as the API server sent them.
 * @example const deployment = existingKind<V1Deployment>({ group: 'apps', version: 'v1', kind: 'Deployment' });
 */
export function existingKind<O extends object>(names: KindNames): Kind<O> {
  // The one place where an object of somebody else's schema gets its type: the API server has validated it.
  return { ...describeKind(names), read: (raw) => raw as O };
}

/** Fills in what a kind's names imply. */
export function describeKind({ group, version, kind, plural, scope, aggregated }: KindNames): Omit<Kind, 'read'> {
  return {
    group,
    version,
    kind,
    plural: plural ?? pluralOf(kind.toLowerCase()),
    namespaced: (scope ?? 'Namespaced') === 'Namespaced',
    apiVersion: group === '' ? version : `${group}/${version}`,
    ...(aggregated === undefined ? {} : { aggregated }),
  };
}

function pluralOf(word: string): string {
  if (/(s|x|ch|sh)$/.test(word)) return `${word}es`;
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return `${word}s`;
}
