// Conformance: discovery, in the older documents and the aggregated ones, OpenAPI, version and health.
import { expect, it } from 'vitest';
import { gadgetApiVersion, gadgetGroup } from './gadget.ts';
import { useSuite } from './suite.ts';

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

const { wire } = await useSuite();

const read = async (path: string, accept?: string) => JSON.parse((await wire.get(path, {}, accept)).text);

it('/api lists v1, and /apis lists the groups with their preferred version', async () => {
  expect(await read('/api')).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
  const version = { groupVersion: gadgetApiVersion, version: 'v1' };
  const groups = await read('/apis');
  expect(groups.kind).toBe('APIGroupList');
  expect(groups.groups).toContainEqual({ name: gadgetGroup, versions: [version], preferredVersion: version });
  const group = { kind: 'APIGroup', name: gadgetGroup, preferredVersion: version };
  expect(await read(`/apis/${gadgetGroup}`)).toMatchObject(group);
});

it('the resource list of a version has kind, scope, verbs and short names', async () => {
  const list = await read(`/apis/${gadgetApiVersion}`);
  expect(list).toMatchObject({ kind: 'APIResourceList', groupVersion: gadgetApiVersion });
  const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
  const gadgets = {
    name: 'gadgets',
    singularName: 'gadget',
    namespaced: true,
    kind: 'Gadget',
    shortNames: ['gd'],
    categories: ['things'],
    verbs,
  };
  const scale = { name: 'gadgets/scale', group: 'autoscaling', version: 'v1', kind: 'Scale' };
  const subresourceVerbs = ['get', 'patch', 'update'];
  expect(list.resources).toEqual(
    expect.arrayContaining([
      expect.objectContaining(gadgets),
      expect.objectContaining({ name: 'gadgets/status', namespaced: true, kind: 'Gadget', verbs: subresourceVerbs }),
      expect.objectContaining({ ...scale, verbs: subresourceVerbs }),
      expect.objectContaining({ name: 'plinths', singularName: 'plinth', namespaced: false, kind: 'Plinth', verbs }),
    ]),
  );
});

it('the resource list of the core group has the kinds that controllers use', async () => {
  const { resources } = await read('/api/v1');
  for (const [name, kind] of [
    ['configmaps', 'ConfigMap'],
    ['secrets', 'Secret'],
    ['services', 'Service'],
    ['events', 'Event'],
  ]) {
    expect(resources).toContainEqual(expect.objectContaining({ name, kind, namespaced: true }));
  }
  expect(resources).toContainEqual(
    expect.objectContaining({ name: 'namespaces', kind: 'Namespace', namespaced: false }),
  );
});

it('aggregated discovery has all groups in one document', async () => {
  const response = await wire.get('/apis', {}, aggregated);
  expect(response.contentType).toBe('application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList');
  const document = JSON.parse(response.text);
  expect(document).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' });
  const group = document.items.find((item: { metadata: { name: string } }) => item.metadata.name === gadgetGroup);
  expect(group.versions[0]).toMatchObject({ version: 'v1', freshness: 'Current' });
  expect(group.versions[0].resources).toContainEqual(
    expect.objectContaining({
      resource: 'gadgets',
      responseKind: { group: gadgetGroup, version: 'v1', kind: 'Gadget' },
      scope: 'Namespaced',
      singularResource: 'gadget',
      shortNames: ['gd'],
      subresources: expect.arrayContaining([expect.objectContaining({ subresource: 'status' })]),
    }),
  );
  const core = await read('/api', aggregated);
  expect(core.items[0].versions[0].resources).toContainEqual(
    expect.objectContaining({ resource: 'configmaps', scope: 'Namespaced', shortNames: ['cm'] }),
  );
});

it('BK10: the path of an unknown group, version or kind is a 404 in plain text', async () => {
  for (const path of ['/apis/nowhere.example.org', `/apis/${gadgetGroup}/v9`, `/apis/${gadgetApiVersion}/gizmos`]) {
    expect(await wire.get(path)).toMatchObject({ status: 404, text: '404 page not found\n' });
  }
});

it('OpenAPI v3 has a document for each version, with the schema and the kind of each resource', async () => {
  const path = `/openapi/v3/apis/${gadgetApiVersion}`;
  const { paths } = await read('/openapi/v3');
  // The URL contains a hash of the document, and a stale hash is redirected. Without a hash the URL has the current
  // document.
  expect(paths[`apis/${gadgetApiVersion}`].serverRelativeURL).toContain(path);
  const document = await read(path);
  const schema = document.components.schemas['org.example.conformance.v1.Gadget'];
  expect(schema.description).toBe('The main test kind of the conformance suite.');
  expect(schema.properties.spec.properties.size).toMatchObject({ type: 'integer', minimum: 0, maximum: 100 });
  expect(schema['x-kubernetes-group-version-kind']).toEqual([{ group: gadgetGroup, version: 'v1', kind: 'Gadget' }]);
  expect(schema.properties.metadata).toBeDefined();
});

it('OpenAPI v2 is JSON, or protobuf for kubectl', async () => {
  expect(await read('/openapi/v2')).toMatchObject({ swagger: '2.0', info: { title: 'Kubernetes' } });
  const type = 'application/com.github.proto-openapi.spec.v2';
  const { text, contentType } = await wire.get('/openapi/v2', {}, `${type}@v1.0+protobuf`);
  expect(contentType).toBe(`${type}.v1.0+protobuf`);
  expect(text.slice(0, 5)).toBe('\n\x032.0');
});

it('/version returns the version, and the health endpoints return ok', async () => {
  const gitVersion = expect.stringMatching(/^v1\.36\./);
  expect(await read('/version')).toMatchObject({ major: '1', minor: '36', gitVersion });
  for (const path of ['/healthz', '/readyz', '/livez'])
    expect(await wire.get(path)).toMatchObject({ status: 200, text: 'ok' });
});
