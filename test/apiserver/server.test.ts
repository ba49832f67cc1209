// What a test or a local system can do with the server itself, beside the API: clocks, broken streams, a forgotten past, counted
// requests. The API is test/conformance's, which runs against this server too.
import { afterEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type ApiServer, type ApiServerOptions, startApiServer } from '../../src/apiserver/server.ts';
import { createWire, type Wire } from '../conformance/wire.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const GC_WITHIN = { timeout: 5000, interval: 10 };

const running: ApiServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

async function start(options: ApiServerOptions = {}): Promise<{ server: ApiServer; wire: Wire }> {
  const server = await startApiServer(options);
  running.push(server);
  return { server, wire: createWire({ url: server.url }) };
}

it('the namespaces are there from the start, and kube-system says which cluster this is', async () => {
  const [first, second] = [await start(), await start()];
  const system = (wire: Wire) => wire.get('/api/v1/namespaces/kube-system');
  const uids = [(await system(first.wire)).body.metadata?.uid, (await system(second.wire)).body.metadata?.uid];
  expect(uids[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(uids[1]).not.toBe(uids[0]);
});

it('the kubeconfig leads to the server', async () => {
  const { server } = await start();
  expect(parse(server.kubeconfig())).toMatchObject({
    kind: 'Config',
    clusters: [{ cluster: { server: server.url } }],
    'current-context': 'local',
  });
});

it('times come from the clock that was given', async () => {
  const { wire } = await start({ now: () => new Date('2030-02-03T04:05:06.789Z') });
  const made = await wire.post(MAPS, { metadata: { name: 'a', finalizers: ['example.org/a'] } });
  expect(made.body.metadata?.creationTimestamp).toBe('2030-02-03T04:05:06Z');
  expect(made.body.metadata?.managedFields?.[0]?.time).toBe('2030-02-03T04:05:06Z');
  expect((await wire.remove(`${MAPS}/a`)).body.metadata?.deletionTimestamp).toBe('2030-02-03T04:05:06Z');
});

it('broken streams end every watch, and nothing is lost between them', async () => {
  const { server, wire } = await start();
  const { body } = await wire.get(MAPS);
  const version = body.metadata?.resourceVersion ?? '';
  await using watch = await wire.watch(MAPS, { resourceVersion: version });
  await wire.post(MAPS, { metadata: { name: 'a' } });
  const seen = await watch.next();
  server.breakStreams();
  await expect(watch.next()).rejects.toThrow();
  await wire.post(MAPS, { metadata: { name: 'b' } });
  await using again = await wire.watch(MAPS, { resourceVersion: seen.object.metadata?.resourceVersion ?? '' });
  expect((await again.next()).object.metadata?.name).toBe('b');
});

it('a forgotten past is 410 for watches and exact lists, while the present goes on', async () => {
  const { server, wire } = await start();
  const version = (await wire.get(MAPS)).body.metadata?.resourceVersion ?? '';
  const made = await wire.post(MAPS, { metadata: { name: 'a' } });
  server.expireWindow();
  await using late = await wire.watch(MAPS, { resourceVersion: version });
  expect(await late.rest()).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
  const past = await wire.get(MAPS, { resourceVersion: version, resourceVersionMatch: 'Exact' });
  expect(past.body).toMatchObject({ code: 410, reason: 'Expired' });
  await using watch = await wire.watch(MAPS, { resourceVersion: made.body.metadata?.resourceVersion ?? '' });
  await wire.post(MAPS, { metadata: { name: 'b' } });
  expect((await watch.next()).object.metadata?.name).toBe('b');
});

it('a short window forgets by itself', async () => {
  const { wire } = await start({ eventWindow: 5 });
  const version = (await wire.get(MAPS)).body.metadata?.resourceVersion ?? '';
  for (let index = 0; index < 40; index++) await wire.post(MAPS, { metadata: { name: `a-${index}` } });
  await using watch = await wire.watch(MAPS, { resourceVersion: version });
  expect((await watch.next()).object).toMatchObject({ code: 410 });
});

it('a quiet watch that asked for bookmarks gets them, with the version of other kinds too', async () => {
  const { wire } = await start({ bookmarkSeconds: 0.05 });
  await using quiet = await wire.watch(MAPS, { allowWatchBookmarks: true, resourceVersion: '0' });
  const secret = await wire.post('/api/v1/namespaces/default/secrets', { metadata: { name: 's' } });
  const version = Number(secret.body.metadata?.resourceVersion);
  const frames = await quiet.until(({ object }) => Number(object.metadata?.resourceVersion) >= version);
  expect(new Set(frames.map(({ type }) => type))).toEqual(new Set(['BOOKMARK']));
  expect(frames[0]?.object.kind).toBe('ConfigMap');
});

it('requests are counted with what they asked, who asked and what came of it', async () => {
  const { server, wire } = await start();
  await wire.get(MAPS, { limit: 2 });
  await wire.post(MAPS, { metadata: { name: 'Bad_Name' } });
  await using _watch = await wire.watch(MAPS);
  expect(server.requests()).toEqual([
    { method: 'GET', path: MAPS, query: { limit: '2' }, userAgent: '', status: 200 },
    { method: 'POST', path: MAPS, query: {}, userAgent: '', status: 422 },
    { method: 'GET', path: MAPS, query: { watch: 'true' }, userAgent: '', status: 200 },
  ]);
});

it('closing ends open watches', async () => {
  const { server, wire } = await start();
  await using watch = await wire.watch(MAPS);
  await server.close();
  running.splice(0);
  await expect(watch.next()).rejects.toThrow();
});

it('owners that own each other go together, and nobody looks for ever', async () => {
  const { wire } = await start();
  const uid = async (name: string) => (await wire.post(MAPS, { metadata: { name } })).body.metadata?.uid ?? '';
  const owner = (name: string, id: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name,
    uid: id,
    blockOwnerDeletion: true,
  });
  const [a, b] = [await uid('a'), await uid('b')];
  await wire.mergePatch(`${MAPS}/a`, { metadata: { ownerReferences: [owner('b', b)] } });
  await wire.mergePatch(`${MAPS}/b`, { metadata: { ownerReferences: [owner('a', a)] } });
  await wire.remove(`${MAPS}/a`, { propagationPolicy: 'Background' });
  await expect.poll(async () => (await wire.get(MAPS)).body.items, GC_WITHIN).toEqual([]);
});

it('a definition whose objects have finalizers stays until they are gone', async () => {
  const { wire } = await start();
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  await wire.post(definitions, {
    metadata: { name: 'things.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Cluster',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  });
  const things = '/apis/example.org/v1/things';
  const made = {
    apiVersion: 'example.org/v1',
    kind: 'Thing',
    metadata: { name: 'one', finalizers: ['example.org/hold'] },
  };
  expect((await wire.post(things, made)).status).toBe(201);
  await wire.remove(`${definitions}/things.example.org`);
  const deleting = async () => (await wire.get(`${things}/one`)).body.metadata?.deletionTimestamp;
  await expect.poll(deleting, GC_WITHIN).toBeDefined();
  expect((await wire.get(`${definitions}/things.example.org`)).status).toBe(200);
  await wire.mergePatch(`${things}/one`, { metadata: { finalizers: null } });
  await expect.poll(async () => (await wire.get(`${definitions}/things.example.org`)).status, GC_WITHIN).toBe(404);
  expect((await wire.get(things)).status).toBe(404);
});
