// A kind's names in the Kubernetes API (group, version, kind, plural, scope) and the values that follow from them.

/** The scope of a kind: its objects are namespaced or cluster-scoped. */
export type Scope = 'Namespaced' | 'Cluster';

/** Names a kind. */
export type KindNames<Name extends string = string, S extends Scope = Scope> = {
  /** `''` for the core group. */
  readonly group: string;
  /** The version that is read and written, such as `v1`. */
  readonly version: string;
  /** The kind, such as `Certificate`. */
  readonly kind: Name;
  /** Default: the kind in lower case plus `s` (`es` after s, x, ch and sh; `ies` for y), as Kubernetes' own guess. */
  readonly plural?: string;
  /** Default `Namespaced`. */
  readonly scope?: S;
  /** True for a kind of an aggregated API (an APIService with a service). Its resource versions may have any form. */
  readonly aggregated?: boolean;
};

/** A kind's names and the values that follow from them. */
export type KindDescription<Name extends string = string, S extends Scope = Scope> = {
  /** The kind, such as `Deployment`. */
  readonly kind: Name;
  /** Whether objects are in namespaces. */
  readonly scope: S;
  /** `''` for the core group. */
  readonly group: string;
  /** The version that is read and written, such as `v1`. */
  readonly version: string;
  /** The plural in URLs, such as `deployments`. */
  readonly plural: string;
  /** Whether objects are in namespaces. */
  readonly namespaced: boolean;
  /** Group and version, as in manifests: `apps/v1`. */
  readonly apiVersion: string;
  /** Served by an extension API server, through Kubernetes' aggregation layer. */
  readonly aggregated: boolean;
};

/** Completes a kind's names with the defaults and the values that follow from them. */
export function describeKind<const Name extends string, S extends Scope = 'Namespaced'>({
  group,
  version,
  kind,
  plural,
  scope,
  aggregated = false,
}: KindNames<Name, S>): KindDescription<Name, S> {
  return {
    kind,
    // The compiler cannot infer that the default of `S` is the default of the field.
    scope: scope ?? ('Namespaced' as S),
    group,
    version,
    plural: plural ?? pluralOf(kind.toLowerCase()),
    namespaced: scope !== 'Cluster',
    apiVersion: group === '' ? version : `${group}/${version}`,
    aggregated,
  };
}

/** Returns whether two kinds, of any version, have the same objects. */
export function isSameKind(a: ServedKind, b: ServedKind): boolean {
  return a.group === b.group && a.plural === b.plural;
}

type ServedKind = Pick<KindDescription, 'group' | 'plural'>;

/** Groups of Kubernetes itself with a dot. Other groups with a dot are of CustomResourceDefinitions. */
const builtInGroups = [
  ...['admissionregistration', 'apiextensions', 'apiregistration', 'authentication', 'authorization', 'certificates'],
  ...['coordination', 'discovery', 'events', 'flowcontrol.apiserver', 'internal.apiserver', 'networking', 'node'],
  ...['rbac.authorization', 'resource', 'scheduling', 'storage', 'storagemigration'],
].map((name) => `${name}.k8s.io`);

/** Returns whether a group is Kubernetes' own. */
export function isBuiltInGroup(group: string): boolean {
  return !group.includes('.') || builtInGroups.includes(group);
}

function pluralOf(singular: string): string {
  if (/(s|x|ch|sh)$/.test(singular)) return `${singular}es`;
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return `${singular}s`;
}
