// Whole processes whose API server is hostile: the bundle of a function with less heap than its 256 MB, and a fleet
// watcher with the flags of its image. What a single document may cost is test/kube/client/answer.test.ts.
// HOSTILE_BODIES=all sends each of the 40 bodies, and else some.

import { spawn } from 'node:child_process';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import path from 'node:path';
import { env } from 'node:process';
import { createInterface } from 'node:readline';
import { startApiServer } from '@outrigger/apiserver';
import { build } from '@outrigger/cli/commands/build';
import { buildBundles } from '@outrigger/cli/dev/artifacts';
import { readGenerated } from '@outrigger/cli/dev/generated-manifests';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { formatMessage, parseMessage } from '../../src/sqs/message.ts';
import { applyManifests } from '../../src/testing/manifests.ts';
import { compressed, hostileBodies } from '../kube/client/hostile-bodies.ts';
import { anEvent, aRecord } from '../lambda/invocation.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { aMessage } from '../sqs/messages.ts';
import { useFolder } from '../support/folder.ts';
import { listenOnLoopback } from '../support/listen.ts';

const root = path.resolve(import.meta.dirname, '../..');
const timeoutMs = 500_000;
const some = hostileBodies.filter((_, index) => index % 8 === 3);
const bodies = [...(env.HOSTILE_BODIES === 'all' ? hostileBodies : some), ...some.slice(0, 2).map(compressed)];
/** Within all limits, and too deep for whatever is recursive: JSON.stringify, too. */
const deep = {
  title: 'an object of 100,000 levels',
  bytes: () => Buffer.from(`{"metadata":{"name":"a"},"spec":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
};
const tanks = '/apis/plant.example.com/v1/namespaces/default/watertanks';

const folder = useFolder({ shared: true });
const cleanup = new AsyncDisposableStack();
let good: { readonly url: string; readonly client: KubeClient };
let queues: TestQueues;
beforeAll(async () => {
  const signal = AbortSignal.timeout(timeoutMs);
  await buildBundles(build, root, signal);
  const server = await startApiServer();
  cleanup.defer(() => server.close());
  const client = createClient({ server: new URL(server.url) });
  cleanup.defer(() => client.close());
  await applyManifests(client, await readGenerated(root), { signal });
  good = { url: server.url, client };
  queues = await startTestQueues();
  cleanup.defer(() => queues.stop());
  const { keys: controllers } = await import('../../src/controllers/registry.ts').then(({ registry }) => ({
    keys: registry.map(({ name }) => name),
  }));
  await queues.create('timers', ...controllers.map((name) => `${name}.fifo`));
}, timeoutMs);
afterAll(() => cleanup.disposeAsync());

/** Starts the server of clusters that are not ours. The first segment of a path is the name of a cluster. */
async function startHostile(listener: RequestListener): Promise<(cluster: string) => object> {
  const server = createServer(listener);
  const port = await listenOnLoopback(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (cluster) => ({ server: `http://127.0.0.1:${port}/${cluster}`, access: { type: 'none' } });
}

function sendBody(response: ServerResponse, bytes: Buffer): void {
  const isCompressed = bytes[0] === 0x1f;
  const encoding = isCompressed ? { 'content-encoding': 'gzip' } : {};
  response.writeHead(200, { 'content-type': 'application/json', ...encoding }).end(bytes);
}

/** Starts a program with a heap of its own. It is killed at the end of the test. */
function start(flags: readonly string[], args: readonly string[], environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [...flags, ...args], {
    env: {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'x',
      AWS_SECRET_ACCESS_KEY: 'x',
      AWS_ENDPOINT_URL_SQS: queues.endpoint,
      QUEUE_URL_PREFIX: queues.urlPrefix,
      CLUSTERS: folder.at('clusters.json'),
      MONITORING: 'off',
      ...environment,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) createInterface(stream).on('line', (line) => lines.push(line));
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return { child, lines, isRunning, last: () => lines.slice(-20).join('\n') };
}

const program = `
const { handler } = await import(process.argv[1]);
const context = { getRemainingTimeInMillis: () => 30_000 };
for await (const line of (await import('node:readline')).createInterface(process.stdin))
  console.log('result ' + JSON.stringify(await handler(JSON.parse(line), context)));
`;
const result = z.object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })) });

it(
  // Control T146.
  'H1: a function of 256 MB survives hostile clusters, reconciles the keys of the others, and opens their breakers',
  async () => {
    const requests = new Map<string, number>();
    let body: Buffer = Buffer.of();
    const entryOf = await startHostile(({ url = '' }, response) => {
      const [, cluster = ''] = url.split('/');
      requests.set(cluster, (requests.get(cluster) ?? 0) + 1);
      sendBody(response, body);
    });
    const names = bodies.map((_, index) => `bad-${index}`);
    const entriesOf = (clusters: readonly string[]) => Object.fromEntries(clusters.map((one) => [one, entryOf(one)]));
    const table = { good: { server: good.url, access: { type: 'none' } } };
    await folder.write('clusters.json', JSON.stringify({ ...table, ...entriesOf([...names, 'deep']) }));
    const bundle = path.join(root, 'dist/water-tank/index.mjs');
    const running = start(['--max-old-space-size=180'], ['--input-type=module', '--eval', program, bundle], {
      PLANT_URL: 'http://127.0.0.1:9',
      CONTROLLER: 'water-tank',
    });
    const invoke = async (cluster: string, tag: string, count: number) => {
      const key = {
        controller: 'water-tank',
        group: 'plant.example.com',
        resource: 'watertanks',
        namespace: 'default',
      };
      const from = (of: string, number: number, prefix: string) =>
        Array.from({ length: number }, (_, index) => {
          const name = `${prefix}-${tag}-${index}`;
          return aRecord(`${of}/${name}`, formatMessage(aMessage({ ...key, cluster: of, name })));
        });
      const before = running.lines.filter((line) => line.startsWith('result ')).length;
      const event = anEvent(...from(cluster, count, 'bad'), ...from('good', 3, 'good'));
      running.child.stdin.write(`${JSON.stringify(event)}\n`);
      const results = () => running.lines.filter((line) => line.startsWith('result ')).slice(before);
      await vi.waitUntil(() => results().length > 0 || !running.isRunning(), { timeout: 60_000 });
      const [line = expect.fail(`${cluster} ended the function: ${running.last()}`)] = results();
      return result.parse(JSON.parse(line.slice('result '.length))).batchItemFailures;
    };
    for (const [index, cluster] of names.entries()) {
      body = bodies[index]?.bytes() ?? body;
      expect.soft(await invoke(cluster, `a${index}`, 7), bodies[index]?.title).toEqual([]);
      expect(requests.get(cluster), bodies[index]?.title).toBeGreaterThanOrEqual(5);
      // Keys wait without a request. On a busy machine the cluster is also slow, and throttled for that.
      expect(await invoke(cluster, `b${index}`, 7)).toEqual([]);
      const isWaiting = (line: string) =>
        line.includes(`"${cluster}"`) && /its circuit breaker is (open|throttled)/.test(line);
      expect(running.lines.filter(isWaiting).length, bodies[index]?.title).toBeGreaterThan(0);
    }
    body = deep.bytes();
    expect(await invoke('deep', 'deep', 7)).toEqual([]);
    expect(requests.get('deep')).toBeGreaterThanOrEqual(5);
    const waiting = (await queues.drain('timers')).map(({ Body = '' }) => parseMessage(Body));
    expect(waiting.filter(({ cluster }) => cluster === 'good')).toEqual([]);
  },
  timeoutMs,
);

it(
  // Control T147.
  'H1: a fleet watcher survives hostile clusters, and forwards the changes of the others',
  async () => {
    const served = new Set<string>();
    const lists = new Map<string, number>();
    let next = 0;
    const body = (kind: string) => {
      const index = next++ % (bodies.length + 1);
      served.add(`${kind} ${index}`);
      return (bodies[index] ?? deep).bytes();
    };
    const entryOf = await startHostile(({ url = '' }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://hostile');
      // The namespace kube-system, whose uid is that of the cluster, and what else is read by its name.
      const [name, , namespace] = pathname.split('/').reverse();
      const object = { metadata: { name, namespace, uid: pathname, resourceVersion: '1' } };
      if (searchParams.has('watch')) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"type":"ADDED","object":');
        response.end(body('watch'));
      } else if (!searchParams.has('limit') || searchParams.get('limit') === '1') {
        sendBody(response, Buffer.from(JSON.stringify({ ...object, items: [] })));
      } else {
        // Each collection is listed with hostile pages, and then with an empty one, so that its watch begins.
        const count = lists.get(pathname) ?? 0;
        lists.set(pathname, count + 1);
        sendBody(response, count < 2 ? body('list') : Buffer.from('{"metadata":{"resourceVersion":"1"},"items":[]}'));
      }
    });
    const bad = Object.fromEntries(['bad-1', 'bad-2', 'bad-3', 'bad-4'].map((name) => [name, entryOf(name)]));
    const table = { good: { server: good.url, access: { type: 'none' } }, ...bad };
    await folder.write('clusters.json', JSON.stringify(table));
    // Half of the pod's 512 MB, as in the image.
    const running = start(
      ['--max-old-space-size=256', '--max-semi-space-size=2'],
      [path.join(root, 'dist/watcher/index.mjs')],
      { PORT: '0', HOST: '127.0.0.1' },
    );
    const put = async (name: string) => {
      const object = {
        apiVersion: 'plant.example.com/v1',
        kind: 'WaterTank',
        metadata: { name },
        spec: { targetLevel: 1, capacity: 2 },
      };
      await good.client.request({ method: 'POST', path: tanks, body: object });
    };
    const forwarded = new Set<string>();
    const until = async (name: string) => {
      await vi
        .waitUntil(
          async () => {
            for (const { Body = '' } of [...(await queues.drain('water-tank.fifo')), ...(await queues.drain('timers'))])
              forwarded.add(parseMessage(Body).name);
            return forwarded.has(name) || !running.isRunning();
          },
          { timeout: 30_000, interval: 200 },
        )
        .catch(() => expect.fail(running.last()));
      expect(running.isRunning(), running.last()).toBe(true);
    };
    const isWatching = () => running.lines.some((line) => /"message":"watching","cluster":"good"/.test(line));
    await vi.waitUntil(() => isWatching() || !running.isRunning(), { timeout: 60_000 });
    await put('before');
    await until('before');
    const count = (kind: string) => [...served].filter((one) => one.startsWith(kind)).length;
    const isEnough = () => count('list') + count('watch') >= bodies.length && count('watch') >= 5;
    await vi.waitUntil(() => isEnough() || !running.isRunning(), { timeout: 200_000, interval: 200 });
    await put('after');
    await until('after');
    expect(isEnough()).toBe(true);
  },
  timeoutMs,
);
