// The console's source of a local system on embedded servers, without its processes: the messages that it shows, and what
// each fault breaks and repairs. Faults of a whole system are test/console/browser/dev.test.ts.
import { CreateQueueCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { startWorkloads } from '@outrigger/apiserver/workloads/workloads';
import { createDevSource } from '@outrigger/cli/console/dev/dev-source';
import { problemsOf } from '@outrigger/cli/console/problems';
import { readChildren } from '@outrigger/cli/console/resource-tree';
import type { ConsoleSource } from '@outrigger/cli/console/source';
import type { Flow, TreeNode } from '@outrigger/cli/console/wire';
import { createObjectCache } from '@outrigger/cli/dev/object-cache';
import { startCluster, startQueueServer } from '@outrigger/cli/dev/servers';
import type { Dev } from '@outrigger/cli/dev/system';
import { injectFaults, startSimulators } from '@outrigger/cli/simulators/registry';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { Foo, foo } from '../../src/controllers/foo.ts';
import { ingredient } from '../../src/controllers/ingredient.ts';
import { waterTank } from '../../src/controllers/water-tank.ts';
import { ownerUidLabel, reconcileRequestedAnnotation } from '../../src/core/names.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { parseObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { formatMessage } from '../../src/sqs/message.ts';
import { createSend } from '../../src/sqs/send.ts';
import { applyManifests, parseManifests, readManifests } from '../../src/testing/manifests.ts';
import { aMessage } from '../sqs/messages.ts';
import { useFolder } from '../support/folder.ts';
import { sampleKinds } from '../support/sample-manifests.ts';

const id = 'local:foos.samples.example.com/default/example';
const never = async () => await Promise.reject(new Error('not in this test'));
const controllers = [foo, waterTank, ingredient];
const folder = useFolder({ shared: true });
const parts = new AsyncDisposableStack();
const { signal } = new AbortController();
let cluster: Awaited<ReturnType<typeof startCluster>>;
let queueServer: Awaited<ReturnType<typeof startQueueServer>>;
let simulators: Dev['simulators'];
let queues: Dev['queues'];
let ending: AbortController;

beforeAll(async () => {
  const execute = never;
  const embedded = { kubeconfig: undefined, context: undefined, apiPort: 0, keep: false, execute, signal };
  cluster = await startCluster(parts, { folder: folder.path, ...embedded });
  queueServer = await startQueueServer(parts, { queueEndpoint: undefined, queuePort: 0, signal });
  simulators = await startSimulators(parts);
  // Those of the other controllers do not exist.
  const names = ['foo.fifo', 'foo-dlq.fifo', 'timers', 'timers-dlq', 'resync-dlq'];
  const create = async (name: string) => {
    const Attributes = name.endsWith('.fifo') ? { FifoQueue: 'true' } : {};
    const created = await queueServer.client.send(new CreateQueueCommand({ QueueName: `dev-${name}`, Attributes }));
    return [name, created.QueueUrl ?? ''] as const;
  };
  queues = Object.fromEntries(await Promise.all(names.map(create)));
  const kind = parseManifests(sampleKinds.get('crd-foos.samples.example.com.yaml') ?? '', 'the kind');
  for (const manifests of [kind, await readManifests('infra/kubernetes/samples/foo.yaml')])
    await applyManifests(cluster.client, manifests, { signal });
});
afterAll(async () => await parts.disposeAsync());
afterEach(() => ending.abort());

/** Opens the source, with the object of `foo` in it. */
async function open(source = createDevSource(controllers), isClusterPaused = async () => true): Promise<ConsoleSource> {
  ending = new AbortController();
  const view = createObjectCache(cluster.client, [Foo], {
    signal: ending.signal,
    onChange: (change) => source.onEvent({ type: 'object', change }),
  });
  const { client: sqs, endpoint: queueEndpoint } = queueServer;
  const attached = source.attach(
    {
      client: cluster.client,
      view,
      sqs,
      queueEndpoint,
      queues,
      embedded: { ...cluster, ...queueServer },
      // The processes of a function and of the watcher: process.kill is replaced where one of them is killed.
      functions: [{ pids: () => [4711] }],
      watchers: { pids: () => [4712] },
      injectFaults: (faults) => injectFaults(simulators, faults),
    },
    {
      dryRun: never,
      pauseController: never,
      pauseCluster: never,
      isClusterPaused,
      project: 'outrigger',
      at: ' --folder .other',
      pausedControllers: async () => new Set<string>(),
    },
    ending.signal,
  );
  await expect.poll(() => attached.rows().map((row) => row.id)).toEqual([id]);
  return attached;
}

it('the messages of the local queues are shown where they are, without a receive that would hide them', async () => {
  const source = await open();
  expect(source.system.command).toBe('outrigger dev --folder .other');
  const { client } = queueServer;
  const body = (name: string) => formatMessage(aMessage({ controller: 'foo', name }));
  const urlPrefix = queues.timers?.replace(/timers$/, '') ?? '';
  const send = createSend(client, urlPrefix);
  const entry = (name: string) => ({ body: body(name), groupId: name, deduplicationId: name });
  await send('foo.fifo', [entry('taken')], { signal });
  await client.send(new ReceiveMessageCommand({ QueueUrl: queues['foo.fifo'] }));
  await send('foo.fifo', [entry('waits')], { signal });
  await client.send(new SendMessageCommand({ QueueUrl: queues.timers, MessageBody: body('due'), DelaySeconds: 60 }));
  await send('foo-dlq.fifo', [{ ...entry('dead'), attributes: { reason: 'exhausted', error: 'boom' } }], { signal });
  await send('timers-dlq', [{ body: body('due') }], { signal });
  await send('resync-dlq', [{ body: 'a list' }], { signal });
  const shown = async () =>
    (await source.queues(signal)).messages.map(({ queue, state, body }) => ({ queue, state, body }));
  const expected = [
    { queue: 'foo.fifo', state: 'in flight', body: body('taken') },
    { queue: 'foo.fifo', state: 'waiting', body: body('waits') },
    { queue: 'timers', state: 'timer', body: body('due') },
    { queue: 'foo-dlq.fifo', state: 'dead', body: body('dead') },
    { queue: 'timers-dlq', state: 'dead', body: body('due') },
    { queue: 'resync-dlq', state: 'dead', body: 'a list' },
  ];
  expect(await shown()).toEqual(expected);
  expect(await shown()).toEqual(expected);
  const { messages, unread } = await source.queues(signal);
  expect(messages[3]).toMatchObject({ reason: 'exhausted', error: 'boom' });
  expect(unread).toEqual(['water-tank.fifo', 'ingredient.fifo', 'water-tank-dlq.fifo', 'ingredient-dlq.fifo']);
  const flow = await source.flow(signal);
  expect(flow).toMatchObject({
    clusters: [{ name: 'local', paused: true, health: { state: 'down', tone: 'bad' } }],
  });
  expect(flow.controllers[0]).toMatchObject({ name: 'foo', queued: 1, inFlight: 1, deadLetters: 1 });
  const texts = (of: Flow) => problemsOf(of, []).map(({ text }) => text);
  expect(flow.sharedDeadLetters).toBe(2);
  expect(texts(flow)).toContain('3 dead letters');
  expect(texts(flow)).toContainEqual(expect.stringMatching(/^Queues cannot be read: /));
  // The two functions without queues are not named once more.
  expect(flow.controllers.map(({ health }) => health.state)).toEqual(['working', 'not known', 'not known']);
  expect(texts(flow).filter((text) => text.startsWith('function'))).toEqual([]);
});

it('a clusters table that cannot be read is a problem, and the rest is shown', async () => {
  const source = await open(undefined, async () => await Promise.reject(new Error('clusters.json: not JSON')));
  const flow = await source.flow(signal);
  expect(flow.clusters).toMatchObject([{ name: 'local', paused: false }]);
  expect(problemsOf(flow, []).map(({ text }) => text)).toContain(
    'The clusters table cannot be read: clusters.json: not JSON',
  );
});

it('saved code that does not run is a problem until what is saved runs', async () => {
  const devSource = createDevSource(controllers);
  const source = await open(devSource);
  const texts = async () => problemsOf(await source.flow(signal), []).map(({ text }) => text);
  devSource.setRefused(new Error('src/a.ts:1:2: boom'));
  expect(await texts()).toContain('saved code: cannot load: src/a.ts:1:2: boom; what was saved before it runs');
  devSource.setRefused(undefined);
  await expect.poll(texts, { timeout: 5_000 }).not.toContainEqual(expect.stringContaining('saved code'));
});

it('a kind of children that may not be listed is named, and is not a kind without objects', async () => {
  const { client } = cluster;
  const request: KubeClient['request'] = async (asked) => {
    if (asked.path.includes('/deployments')) throw new ApiError(asked.path, 403, undefined);
    return await client.request(asked);
  };
  const object = parseObject(await getObject(client, Foo, { namespace: 'default', name: 'example' }));
  const read = async (as: KubeClient) =>
    await readChildren({ cluster: 'local', client: as }, object, foo.declaration.owns, signal);
  expect(await read({ ...client, request })).toEqual({
    children: [],
    unlisted: ['may not list deployments.apps'],
  });
  expect(await read(client)).toEqual({ children: [], unlisted: [] });
});

it('the detail of an object has its children two levels deep, with the state of each', async () => {
  const workloads = await startWorkloads(cluster.client, { onError: () => undefined });
  const source = await open();
  const { metadata } = parseObject(await getObject(cluster.client, Foo, { namespace: 'default', name: 'example' }));
  const labels = { app: 'x' };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'example-foo', namespace: 'default', labels: { [ownerUidLabel]: metadata.uid } },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'nginx:1' }] } },
    },
  };
  try {
    await applyManifests(cluster.client, parseManifests(JSON.stringify(deployment), 'deployment'), { signal });
    const shown = (nodes: readonly TreeNode[]): unknown =>
      nodes.map(({ kind, state, tone, children }) => [`${kind}: ${state}, ${tone}`, shown(children)]);
    const pod = ['Pod: Running, good', []];
    await expect
      .poll(async () => shown((await source.detail(id, signal))?.tree.children ?? []))
      .toEqual([['Deployment: 1 of 1 ready, good', [['ReplicaSet: 1 of 1 ready, good', [pod]]]]]);
  } finally {
    await workloads.close();
  }
  expect(await source.detail('local:foos.samples.example.com/default/none', signal)).toBeUndefined();
});

/** The status of a response, or how there was none. */
const statusOf = async (url: string | URL, userAgent = 'node', ms = 30_000) => {
  const limit = AbortSignal.timeout(ms);
  const response = await fetch(url, { headers: { 'user-agent': userAgent }, signal: limit }).catch(() => undefined);
  await response?.body?.cancel();
  return response?.status ?? (limit.aborted ? 'silence' : 'reset');
};
const read = async (agent: string, ms?: number) =>
  await statusOf(new URL('/api/v1/namespaces', cluster.server), agent, ms);
const watch = async (agent: string, ms?: number) =>
  await statusOf(new URL('/api/v1/namespaces?watch=true', cluster.server), agent, ms);
/** Each has a probe: the result within some milliseconds. */
const broken: readonly (readonly [string, unknown, (ms?: number) => Promise<unknown>])[] = [
  ['watch-cut', 'reset', () => watch('outrigger-watcher')],
  ['watch-stall', 'silence', (ms) => watch('outrigger-watcher', ms)],
  ['api-410', 410, () => watch('outrigger-watcher')],
  ['api-429', 429, () => read('outrigger/foo')],
  ['api-503', 503, () => read('outrigger/foo')],
  ['api-slow', 'silence', (ms) => read('outrigger/foo', ms)],
  ['sqs-down', 503, () => statusOf(`${queueServer.endpoint}/_fauxqs/queues`)],
  ['plant-down', 'reset', () => statusOf(`${simulators.plant.url}/tanks/x/level`)],
  ['pantry-down', 'reset', () => statusOf(`${simulators.pantry.url}/stock`)],
];
it.each(
  broken,
)('the fault %s is %j for its clients until it is repaired, and other clients work', async (name, status, probe) => {
  const source = await open();
  const healthy = await probe();
  expect(healthy).not.toBe(status);
  const { text } = await source.act({ type: 'break', fault: name, seconds: 60 }, signal);
  expect(text).toBe('Broken. It is repaired in 60 seconds.');
  expect(await probe(name === 'api-slow' ? 1_500 : 500)).toBe(status);
  expect(await read('kubectl')).toBe(200);
  expect(await watch('node')).toBe(200);
  expect(source.experiments()).toMatchObject([{ fault: name }]);
  ending.abort();
  await expect.poll(() => probe()).toBe(healthy);
});

it('duplicate sends each key twice, next to the change of its object', async () => {
  const source = await open();
  await source.act({ type: 'break', fault: 'duplicate', seconds: 0 }, signal);
  const sent = async () => (await source.queues(signal)).messages.filter((one) => one.id === id);
  await expect.poll(async () => (await sent()).map(({ cause }) => cause)).toEqual(['command', 'command']);
  const metadata = async () =>
    (await getObject(cluster.client, Foo, { namespace: 'default', name: 'example' }))?.metadata;
  await expect.poll(async () => (await metadata())?.annotations).toHaveProperty([reconcileRequestedAnnotation]);
});

it('watcher-kill kills the watchers at once, and function-kill the functions at the next write of a status', async () => {
  const killed: unknown[] = [];
  vi.spyOn(process, 'kill').mockImplementation((...given) => {
    killed.push(given);
    // The process of the watcher has just ended by itself.
    if (given[0] === 4712) throw new Error('kill ESRCH');
    return true;
  });
  try {
    await (await open()).act({ type: 'break', fault: 'watcher-kill', seconds: 0 }, signal);
    expect(killed).toEqual([[4712, 'SIGKILL']]);
    ending.abort();
    await (await open()).act({ type: 'break', fault: 'function-kill', seconds: 60 }, signal);
    expect(killed).toHaveLength(1);
    const path = `${objectPath(Foo, { namespace: 'default', name: 'example' })}/status`;
    const body = { status: { availableReplicas: 1, conditions: [] } };
    await cluster.client.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body });
    await expect.poll(() => killed[1]).toEqual([4711, 'SIGKILL']);
  } finally {
    vi.restoreAllMocks();
  }
});
