// Discovery: the served kinds and their names. kubectl requests one aggregated document if the server has it. Older
// clients read /api, /apis and one list per group and version.
import type { JsonObject } from '../json.ts';
import { byVersionPriority } from '../registry/names.ts';
import { type ApiResource, apiVersionOf } from '../registry/resource.ts';

// The order in which kube-apiserver lists the verbs of custom kinds. Here all kinds use it.
const resourceVerbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const subresourceVerbs = ['get', 'patch', 'update'];
const connectVerbs = ['create', 'get'];
const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

/** The one served kind that is not stored: a review, which exists only as a request and its response. */
export const reviewKind = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
};

/** Returns the document at a discovery path, or undefined for another path. */
export function discovery(all: readonly ApiResource[], path: string, aggregated: boolean): JsonObject | undefined {
  const [prefix, group, version, ...more] = path.replace(/\/$/, '').split('/').slice(1);
  if (more.length > 0) return undefined;
  if (prefix === 'api') {
    const versions = { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
    if (group === undefined) return aggregated ? aggregate(all, (name) => name === '') : versions;
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

function groupsOf(all: readonly ApiResource[]): string[] {
  return [...new Set([...all.map(({ group }) => group), reviewKind.group])].filter((group) => group !== '');
}

function versionsOf(all: readonly ApiResource[], group: string): string[] {
  if (group === reviewKind.group) return [reviewKind.version];
  return [...new Set(all.filter((one) => one.group === group).map(({ version }) => version))].sort(byVersionPriority);
}

function groupOf(all: readonly ApiResource[], name: string): JsonObject {
  const versions = versionsOf(all, name).map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions, preferredVersion: versions[0] ?? {} };
}

function resourceList(all: readonly ApiResource[], group: string, version: string): JsonObject {
  const resources = all.filter((one) => one.group === group && one.version === version).flatMap(legacyEntries);
  if (group === reviewKind.group) {
    resources.push({
      name: reviewKind.plural,
      singularName: '',
      namespaced: false,
      kind: reviewKind.kind,
      verbs: ['create'],
    });
  }
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: apiVersionOf({ group, version }), resources };
}

function legacyEntries(resource: ApiResource): JsonObject[] {
  const { plural, singular, namespaced, kind, shortNames, categories, status, scale, connects = [] } = resource;
  const entry = {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs: resourceVerbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  };
  const subresource = { singularName: '', namespaced, verbs: subresourceVerbs };
  return [
    entry,
    ...(status ? [{ ...subresource, name: `${plural}/status`, kind }] : []),
    ...(scale === undefined ? [] : [{ ...subresource, name: `${plural}/scale`, ...scaleKind }]),
    ...connects.map((one) => ({ ...subresource, name: `${plural}/${one.name}`, kind: one.kind, verbs: connectVerbs })),
  ];
}

function aggregate(all: readonly ApiResource[], wanted: (group: string) => boolean): JsonObject {
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

function aggregateEntries(all: readonly ApiResource[], group: string, version: string): JsonObject[] {
  if (group === reviewKind.group) {
    const { plural, kind } = reviewKind;
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
        ...(status ? [{ subresource: 'status', responseKind, verbs: subresourceVerbs }] : []),
        ...(scale === undefined ? [] : [{ subresource: 'scale', responseKind: scaleKind, verbs: subresourceVerbs }]),
        ...connects.map((one) => ({
          subresource: one.name,
          responseKind: { group, version, kind: one.kind },
          verbs: connectVerbs,
        })),
      ];
      return {
        resource: plural,
        responseKind,
        scope: namespaced ? 'Namespaced' : 'Cluster',
        singularResource: singular,
        verbs: resourceVerbs,
        ...(shortNames.length === 0 ? {} : { shortNames }),
        ...(categories.length === 0 ? {} : { categories }),
        ...(subresources.length === 0 ? {} : { subresources }),
      };
    });
}
