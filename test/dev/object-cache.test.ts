// Only what a view tells of changes; how objects are followed is seen in the journeys.
import { expect, it } from 'vitest';
import { createClient } from '../../src/kube/client/client.ts';
import { startApiServer } from '../../src/apiserver/server.ts';
import { type Change, createView } from '../../src/local/view.ts';

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true };

it('a kind that is named twice, as one with two controllers is, is told of once', async () => {
  const server = await startApiServer();
  const client = createClient({ server: new URL(server.url) });
  const ending = new AbortController();
  const told: Change[] = [];
  let lists = 0;
  const counting: typeof client = {
    ...client,
    request: async (request) => {
      if (request.path.endsWith('/configmaps')) lists += 1;
      return await client.request(request);
    },
  };
  const options = { signal: ending.signal, onChange: (change: Change) => void told.push(change) };
  const view = createView(counting, [configMaps, { ...configMaps }], options);
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace: 'default' } };
  await client.request({ method: 'POST', path: '/api/v1/namespaces/default/configmaps', body });
  const seen = (now: Pick<typeof view, 'get'>) => now.get(configMaps, { namespace: 'default', name: 'one' });
  await view.until(seen, AbortSignal.timeout(15_000));
  expect(told.map(({ after }) => after?.metadata.name)).toEqual(['one']);
  expect(lists).toBe(1);
  ending.abort();
  client.close();
  await server.close();
});
