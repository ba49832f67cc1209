// Conformance: how a client finds out what is served: the old documents, the aggregated ones, OpenAPI, health.
import { expect, it } from 'vitest';
import { API_VERSION, GROUP } from './gadget.ts';
import type { Suite } from './suite.ts';

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

/** Declares the cases. */
export function discoveryCases({ wire }: Suite): void {
  const read = async (path: string, accept?: string) => JSON.parse((await wire.get(path, {}, accept)).text);

  it('/api names v1, /apis names the groups with their preferred version', async () => {
    expect(await read('/api')).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    const version = { groupVersion: API_VERSION, version: 'v1' };
    const groups = await read('/apis');
    expect(groups.kind).toBe('APIGroupList');
    expect(groups.groups).toContainEqual({ name: GROUP, versions: [version], preferredVersion: version });
    expect(await read(`/apis/${GROUP}`)).toMatchObject({ kind: 'APIGroup', name: GROUP, preferredVersion: version });
  });

  it('the resources of a version say kind, scope, verbs and short names', async () => {
    const list = await read(`/apis/${API_VERSION}`);
    expect(list).toMatchObject({ kind: 'APIResourceList', groupVersion: API_VERSION });
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
    const narrow = ['get', 'patch', 'update'];
    expect(list.resources).toEqual(
      expect.arrayContaining([
        expect.objectContaining(gadgets),
        expect.objectContaining({ name: 'gadgets/status', namespaced: true, kind: 'Gadget', verbs: narrow }),
        expect.objectContaining({
          name: 'gadgets/scale',
          group: 'autoscaling',
          version: 'v1',
          kind: 'Scale',
          verbs: narrow,
        }),
        expect.objectContaining({ name: 'plinths', singularName: 'plinth', namespaced: false, kind: 'Plinth', verbs }),
      ]),
    );
  });

  it('the core lists what controllers use', async () => {
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

  it('aggregated discovery says it in one document for all groups', async () => {
    const answer = await wire.get('/apis', {}, AGGREGATED);
    expect(answer.contentType).toBe('application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList');
    const document = JSON.parse(answer.text);
    expect(document).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' });
    const group = document.items.find((item: { metadata: { name: string } }) => item.metadata.name === GROUP);
    expect(group.versions[0]).toMatchObject({ version: 'v1', freshness: 'Current' });
    expect(group.versions[0].resources).toContainEqual(
      expect.objectContaining({
        resource: 'gadgets',
        responseKind: { group: GROUP, version: 'v1', kind: 'Gadget' },
        scope: 'Namespaced',
        singularResource: 'gadget',
        shortNames: ['gd'],
        subresources: expect.arrayContaining([expect.objectContaining({ subresource: 'status' })]),
      }),
    );
    const core = await read('/api', AGGREGATED);
    expect(core.items[0].versions[0].resources).toContainEqual(
      expect.objectContaining({ resource: 'configmaps', scope: 'Namespaced', shortNames: ['cm'] }),
    );
  });

  it('a group or version that is not served is a 404 in plain text', async () => {
    for (const path of ['/apis/nowhere.example.org', `/apis/${GROUP}/v9`]) {
      expect(await wire.get(path)).toMatchObject({ status: 404, text: '404 page not found\n' });
    }
  });

  it('OpenAPI v3 has a document for each version, with the schema and the kind it is for', async () => {
    const path = `/openapi/v3/apis/${API_VERSION}`;
    const { paths } = await read('/openapi/v3');
    // The address carries a hash of the document and redirects when that is stale; without it, it is the document of now.
    expect(paths[`apis/${API_VERSION}`].serverRelativeURL).toContain(path);
    const document = await read(path);
    const schema = document.components.schemas['org.example.conformance.v1.Gadget'];
    expect(schema.description).toBe('A gadget is what the conformance suite writes and reads.');
    expect(schema.properties.spec.properties.size).toMatchObject({ type: 'integer', minimum: 0, maximum: 100 });
    expect(schema['x-kubernetes-group-version-kind']).toEqual([{ group: GROUP, version: 'v1', kind: 'Gadget' }]);
    expect(schema.properties.metadata).toBeDefined();
  });

  it('the version and the health of the server can be asked', async () => {
    expect(await read('/version')).toMatchObject({
      major: '1',
      minor: '36',
      gitVersion: expect.stringMatching(/^v1\.36\./),
    });
    for (const path of ['/healthz', '/readyz', '/livez'])
      expect(await wire.get(path)).toMatchObject({ status: 200, text: 'ok' });
  });
}
