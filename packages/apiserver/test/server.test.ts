// The in-memory server itself: its clock, broken streams, the compacted history, recorded requests and garbage
// collection. The API is tested by test/conformance, which also runs against this server.
import { afterEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createWire, type Wire } from '../../../test/conformance/wire.ts';
import { type ApiServer, type ApiServerOptions, startApiServer } from '../src/server.ts';

const configMapsPath = '/api/v1/namespaces/default/configmaps';
const gcWithin = { timeout: 5000, interval: 10 };

const running: ApiServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

async function start(options: ApiServerOptions = {}): Promise<{ server: ApiServer; wire: Wire }> {
  const server = await startApiServer(options);
  running.push(server);
  return { server, wire: createWire({ url: server.url }) };
}

it('each new server has another uid of kube-system', async () => {
  const uid = async () => (await (await start()).wire.get('/api/v1/namespaces/kube-system')).body.metadata?.uid;
  expect(await uid()).not.toBe(await uid());
});

it('the kubeconfig of a server contains its URL', async () => {
  const { server } = await start();
  expect(parse(server.kubeconfig())).toMatchObject({
    kind: 'Config',
    clusters: [{ cluster: { server: server.url } }],
    'current-context': 'local',
  });
});

it('a server takes all times of objects from its clock', async () => {
  const { wire } = await start({ now: () => new Date('2030-02-03T04:05:06.789Z') });
  const made = await wire.post(configMapsPath, { metadata: { name: 'a', finalizers: ['example.org/a'] } });
  expect(made.body.metadata?.creationTimestamp).toBe('2030-02-03T04:05:06Z');
  expect(made.body.metadata?.managedFields?.[0]?.time).toBe('2030-02-03T04:05:06Z');
  expect((await wire.remove(`${configMapsPath}/a`)).body.metadata?.deletionTimestamp).toBe('2030-02-03T04:05:06Z');
});

it('an apply that changes nothing changes no version, although its time would come behind that of another manager', async () => {
  let seconds = 0;
  const { wire } = await start({ now: () => new Date(seconds * 1000) });
  const path = `${configMapsPath}/a`;
  const apply = async (manager: string, data: object) =>
    await wire.apply(path, manager, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data });
  await apply('alpha', { a: 'b' });
  const before = await apply('beta', { c: 'd' });
  seconds = 60;
  expect((await apply('alpha', { a: 'b' })).body).toEqual(before.body);
});

it('breakStreams ends every watch, and a new watch resumes without losing events', async () => {
  const { server, wire } = await start();
  const { body } = await wire.get(configMapsPath);
  const version = body.metadata?.resourceVersion ?? '';
  await using watch = await wire.watch(configMapsPath, { resourceVersion: version });
  await wire.post(configMapsPath, { metadata: { name: 'a' } });
  const seen = await watch.next();
  server.breakStreams();
  await expect(watch.next()).rejects.toThrow();
  await wire.post(configMapsPath, { metadata: { name: 'b' } });
  await using resumed = await wire.watch(configMapsPath, {
    resourceVersion: seen.object.metadata?.resourceVersion ?? '',
  });
  expect((await resumed.next()).object.metadata?.name).toBe('b');
});

it('expireWindow makes watches and exact lists of older versions Expired, but not those of the current one', async () => {
  const { server, wire } = await start();
  const version = (await wire.get(configMapsPath)).body.metadata?.resourceVersion ?? '';
  const made = await wire.post(configMapsPath, { metadata: { name: 'a' } });
  server.expireWindow();
  await using expired = await wire.watch(configMapsPath, { resourceVersion: version });
  expect(await expired.rest()).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
  const past = await wire.get(configMapsPath, { resourceVersion: version, resourceVersionMatch: 'Exact' });
  expect(past.body).toMatchObject({ code: 410, reason: 'Expired' });
  await using watch = await wire.watch(configMapsPath, { resourceVersion: made.body.metadata?.resourceVersion ?? '' });
  await wire.post(configMapsPath, { metadata: { name: 'b' } });
  expect((await watch.next()).object.metadata?.name).toBe('b');
});

it('a watch with bookmarks receives them without changes of its kind, with the versions of other kinds', async () => {
  const { wire } = await start({ bookmarkSeconds: 0.05 });
  await using watch = await wire.watch(configMapsPath, { allowWatchBookmarks: true, resourceVersion: '0' });
  const secret = await wire.post('/api/v1/namespaces/default/secrets', { metadata: { name: 's' } });
  const version = Number(secret.body.metadata?.resourceVersion);
  const frames = await watch.until(({ object }) => Number(object.metadata?.resourceVersion) >= version);
  expect(new Set(frames.map(({ type }) => type))).toEqual(new Set(['BOOKMARK']));
  expect(frames[0]?.object.kind).toBe('ConfigMap');
});

it('a server records requests with path, query, user agent and status', async () => {
  const { server, wire } = await start();
  await wire.get(configMapsPath, { limit: 2 });
  await wire.post(configMapsPath, { metadata: { name: 'Bad_Name' } });
  await using _watch = await wire.watch(configMapsPath);
  expect(server.requests()).toEqual([
    { method: 'GET', path: configMapsPath, query: { limit: '2' }, userAgent: '', status: 200 },
    { method: 'POST', path: configMapsPath, query: {}, userAgent: '', status: 422 },
    { method: 'GET', path: configMapsPath, query: { watch: 'true' }, userAgent: '', status: 200 },
  ]);
});

it('a connection ends with the response to a body that was not read to its end, as of kube-apiserver', async () => {
  const { server } = await start();
  const headers = { 'content-type': 'application/json' };
  const answered = async (bytes: number) => {
    const response = await fetch(server.url + configMapsPath, { method: 'POST', headers, body: 'x'.repeat(bytes) });
    return [response.status, response.headers.get('connection')];
  };
  expect(await answered(10)).toEqual([400, 'keep-alive']);
  expect(await answered(4 * 1024 * 1024)).toEqual([413, 'close']);
});

it('a close of the server ends open watches', async () => {
  const { server, wire } = await start();
  await using watch = await wire.watch(configMapsPath);
  await server.close();
  running.splice(0);
  await expect(watch.next()).rejects.toThrow();
});

it('a deletion of one of two objects that own each other deletes both', async () => {
  const { wire } = await start();
  const uid = async (name: string) =>
    (await wire.post(configMapsPath, { metadata: { name } })).body.metadata?.uid ?? '';
  const own = (child: string, name: string, id: string) => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name, uid: id, blockOwnerDeletion: true };
    return wire.mergePatch(`${configMapsPath}/${child}`, { metadata: { ownerReferences: [owner] } });
  };
  const [a, b] = [await uid('a'), await uid('b')];
  await own('a', 'b', b);
  await own('b', 'a', a);
  await wire.remove(`${configMapsPath}/a`, { propagationPolicy: 'Background' });
  await expect.poll(async () => (await wire.get(configMapsPath)).body.items, gcWithin).toEqual([]);
});

it('a deleted definition is kept until its objects with finalizers are removed', async () => {
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
  await expect.poll(deleting, gcWithin).toBeDefined();
  expect((await wire.get(`${definitions}/things.example.org`)).status).toBe(200);
  await wire.mergePatch(`${things}/one`, { metadata: { finalizers: null } });
  await expect.poll(async () => (await wire.get(`${definitions}/things.example.org`)).status, gcWithin).toBe(404);
  expect((await wire.get(things)).status).toBe(404);
});

it('with workloads a Deployment has ready pods, and its scale is followed until the server is closed', async () => {
  const { wire } = await start({ workloads: true });
  const path = '/apis/apps/v1/namespaces/default/deployments';
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web' }] } };
  await wire.post(path, { metadata: { name: 'web' }, spec: { selector: { matchLabels: labels }, template } });
  const status = async () => (await wire.get(`${path}/web`)).body.status;
  await expect.poll(status).toMatchObject({ readyReplicas: 1 });
  await wire.mergePatch(`${path}/web`, { spec: { replicas: 3 } });
  await expect.poll(status).toMatchObject({ readyReplicas: 3 });
});

it('with workloads a Job runs as many pods as it asks for, some at a time, and is complete', async () => {
  const { wire } = await start({ workloads: true });
  const spec = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'main' }] };
  const body = { metadata: { name: 'one' }, spec: { completions: 3, parallelism: 2, template: { spec } } };
  await wire.post('/apis/batch/v1/namespaces/default/jobs', body);
  const status = async () => (await wire.get('/apis/batch/v1/namespaces/default/jobs/one')).body.status;
  await expect.poll(status).toMatchObject({ succeeded: 3, conditions: [{}, { type: 'Complete', status: 'True' }] });
  expect((await wire.get('/api/v1/namespaces/default/pods')).body.items).toHaveLength(3);
});

it('with workloads the pod of a Job of another group runs', async () => {
  const { wire } = await start({ workloads: true });
  const spec = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'main' }] };
  const ownerReferences = [{ apiVersion: 'batch.example.org/v1', kind: 'Job', name: 'one', uid: '1' }];
  await wire.post('/api/v1/namespaces/default/pods', { metadata: { name: 'one', ownerReferences }, spec });
  const status = async () => (await wire.get('/api/v1/namespaces/default/pods/one')).body.status;
  await expect.poll(status).toMatchObject({ phase: 'Running' });
});
