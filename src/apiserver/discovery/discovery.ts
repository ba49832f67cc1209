// Discovery: which kinds are served under which names. kubectl asks for one aggregated document where it can; older clients
// walk /api, /apis and one list per group and version.
import type { JsonObject } from '../json.ts';
import { apiVersionOf, type Resource } from '../registry/resource.ts';

// kube-apiserver lists the verbs of custom kinds in this order, and so do we for all.
const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const SUBRESOURCE_VERBS = ['get', 'patch', 'update'];
const CONNECT_VERBS = ['create', 'get'];
const SCALE = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

/** What is served beside stored kinds: one that only answers. */
export const REVIEWS = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
};

/** Returns the answer of a discovery path; undefined where it is none. */
export function discovery(all: readonly Resource[], path: string, aggregated: boolean): JsonObject | undefined {
  const [prefix, group, version, ...more] = path.replace(/\/$/, '').split('/').slice(1);
  if (more.length > 0) return undefined;
  if (prefix === 'api') {
    if (group === undefined) return aggregated ? aggregate(all, (name) => name === '') : coreVersions();
    return group === 'v1' && version === undefined ? resourceList(all, '', 'v1') : undefined;
  }
  if (prefix !== 'apis') return undefined;
  if (group === undefined) {
    if (aggregated) return aggregate(all, (name) => name !== '');
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: groupsOf(all).map((name) => groupOf(all, name)) };
  }
  if (!groupsOf(all).includes(group)) return undefined;
  if (version === undefined) return { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(all, group) };
  return versionsOf(all, group).includes(version) ? resourceList(all, group, version) : undefined;
}

function coreVersions(): JsonObject {
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
}

function groupsOf(all: readonly Resource[]): string[] {
  return [...new Set([...all.map(({ group }) => group), REVIEWS.group])].filter((group) => group !== '');
}

function versionsOf(all: readonly Resource[], group: string): string[] {
  if (group === REVIEWS.group) return [REVIEWS.version];
  return [...new Set(all.filter((one) => one.group === group).map(({ version }) => version))].sort(byPriority);
}

/** v2 before v1 before v1beta1, as Kubernetes orders versions. */
function byPriority(a: string, b: string): number {
  const rank = (version: string): [number, number, number] => {
    const [, major, stage, minor] = /^v(\d+)(alpha|beta)?(\d+)?$/.exec(version) ?? [];
    const stages = { alpha: 0, beta: 1 } as const;
    return [
      stage === 'alpha' || stage === 'beta' ? stages[stage] : major === undefined ? -1 : 2,
      Number(major ?? 0),
      Number(minor ?? 0),
    ];
  };
  const [x, y] = [rank(a), rank(b)];
  return y[0] - x[0] || y[1] - x[1] || y[2] - x[2];
}

function groupOf(all: readonly Resource[], name: string): JsonObject {
  const versions = versionsOf(all, name).map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions, preferredVersion: versions[0] ?? {} };
}

function resourceList(all: readonly Resource[], group: string, version: string): JsonObject {
  const resources = all.filter((one) => one.group === group && one.version === version).flatMap(legacyEntries);
  if (group === REVIEWS.group) {
    resources.push({
      name: REVIEWS.plural,
      singularName: '',
      namespaced: false,
      kind: REVIEWS.kind,
      verbs: ['create'],
    });
  }
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: apiVersionOf({ group, version }), resources };
}

function legacyEntries(resource: Resource): JsonObject[] {
  const { plural, singular, namespaced, kind, shortNames, categories, status, scale, connects = [] } = resource;
  const entry = {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs: VERBS,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  };
  const below = { singularName: '', namespaced, verbs: SUBRESOURCE_VERBS };
  return [
    entry,
    ...(status ? [{ ...below, name: `${plural}/status`, kind }] : []),
    ...(scale === undefined ? [] : [{ ...below, name: `${plural}/scale`, ...SCALE }]),
    ...connects.map((one) => ({ ...below, name: `${plural}/${one.name}`, kind: one.kind, verbs: CONNECT_VERBS })),
  ];
}

function aggregate(all: readonly Resource[], wanted: (group: string) => boolean): JsonObject {
  const groups = ['', ...groupsOf(all)].filter(wanted);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map((group) => ({
      metadata: group === '' ? {} : { name: group },
      versions: (group === '' ? ['v1'] : versionsOf(all, group)).map((version) => ({
        version,
        freshness: 'Current',
        resources: aggregateEntries(all, group, version),
      })),
    })),
  };
}

function aggregateEntries(all: readonly Resource[], group: string, version: string): JsonObject[] {
  if (group === REVIEWS.group) {
    const { plural, kind } = REVIEWS;
    return [
      {
        resource: plural,
        responseKind: { group, version, kind },
        scope: 'Cluster',
        singularResource: '',
        verbs: ['create'],
      },
    ];
  }
  return all
    .filter((one) => one.group === group && one.version === version)
    .map(({ plural, singular, kind, namespaced, shortNames, categories, status, scale, connects = [] }) => {
      const responseKind = { group, version, kind };
      const subresources: JsonObject[] = [
        ...(status ? [{ subresource: 'status', responseKind, verbs: SUBRESOURCE_VERBS }] : []),
        ...(scale === undefined ? [] : [{ subresource: 'scale', responseKind: SCALE, verbs: SUBRESOURCE_VERBS }]),
        ...connects.map((one) => ({
          subresource: one.name,
          responseKind: { group, version, kind: one.kind },
          verbs: CONNECT_VERBS,
        })),
      ];
      return {
        resource: plural,
        responseKind,
        scope: namespaced ? 'Namespaced' : 'Cluster',
        singularResource: singular,
        verbs: VERBS,
        ...(shortNames.length === 0 ? {} : { shortNames }),
        ...(categories.length === 0 ? {} : { categories }),
        ...(subresources.length === 0 ? {} : { subresources }),
      };
    });
}
