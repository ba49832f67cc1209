// The watcher's entry in this process: its settings, its end, and the errors of a watcher that cannot start. What it sends
// as a process is main.test.ts.

import { type ApiServer, startApiServer } from '@outrigger/apiserver';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readCheckpoint } from '../../src/checkpoint/config-map.ts';
import { checkpointName, systemNamespace } from '../../src/core/names.ts';
import type { WatchList } from '../../src/core/watch-list.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { ConfigMap, Namespace } from '../../src/kubernetes.ts';
import { createDepth } from '../../src/sqs/depth.ts';
import { observedAtOf, parseMessage } from '../../src/sqs/message.ts';
import { createSqsClient } from '../../src/sqs/sqs-client.ts';
import { requireQueues } from '../../src/watcher/check-start.ts';
import { runWatcher } from '../../src/watcher/run.ts';
import { startFakeIdentity } from '../clusters/auth/identity-server.ts';
import { base64, kubeconfig } from '../clusters/kubeconfigs.ts';
import { startFakeS3 } from '../clusters/registry/s3-server.ts';
import { pem, sendJson, startWireServer, statusOf } from '../kube/wire-server.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { useFolder } from '../support/folder.ts';
import { freePort } from '../support/listen.ts';

const primary = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
const watchList: WatchList = {
  version: 1,
  resources: [
    { ...primary, subscribers: [{ controller: 'dish', as: 'primary', primary, predicate: 'resourceVersion' }] },
  ],
};

const folder = useFolder({ shared: true });
let server: ApiServer;
let queues: TestQueues;
let client: KubeClient;
let kill: (...signals: readonly string[]) => Promise<unknown> = async () => undefined;
beforeAll(async () => {
  server = await startApiServer();
  client = createClient({ server: new URL(server.url) });
  await folder.write('kubeconfig', server.kubeconfig());
  queues = await startTestQueues();
  await queues.create('timers', 'dish.fifo');
});
afterAll(async () => {
  client.close();
  await Promise.all([server.close(), queues.stop()]);
});
afterEach(() => {
  kill();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** Runs a watcher with these settings. Its signals, its log and its end are the test's, not this process's. */
function start(settings: Readonly<Record<string, string>>) {
  vi.unstubAllEnvs();
  const lines: Record<string, unknown>[] = [];
  const ended = Promise.withResolvers<unknown>();
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(JSON.parse(String(line))) > 0);
  vi.spyOn(process, 'exit').mockImplementation((status): never => ended.resolve(status) as never);
  const once = vi.spyOn(process, 'once').mockReturnValue(process);
  const own = { KUBECONFIG: folder.at('kubeconfig'), CLUSTER: 'test', HOST: '127.0.0.1', PORT: '0' };
  const aws = { AWS_REGION: 'us-east-1', AWS_ENDPOINT_URL_SQS: queues.endpoint, QUEUE_URL_PREFIX: queues.urlPrefix };
  for (const [name, value] of Object.entries({ ...own, ...aws, ...settings })) vi.stubEnv(name, value);
  kill = async (...signals) => {
    const listeners = once.mock.calls.splice(0).filter(([name]) => [...signals, 'SIGTERM'].includes(String(name)));
    await Promise.all(listeners.map(([name, listener]) => listener(name)));
  };
  const running = runWatcher(watchList);
  const logged = async (message: string) =>
    await vi.waitFor(
      () => {
        const line = lines.find((one) => one.message === message);
        if (line === undefined) throw new Error(`no "${message}": ${JSON.stringify(lines)}`);
        return line;
      },
      { timeout: 30_000, interval: 10 },
    );
  const stop = async (...signals: readonly string[]) => {
    await running;
    await kill(...signals);
    return await ended.promise;
  };
  return { lines, logged, running, stop, ended: ended.promise };
}

async function put(resource: typeof ConfigMap | typeof Namespace, metadata: { name: string; namespace?: string }) {
  const object = { apiVersion: 'v1', kind: resource.kind, metadata };
  await applyObject(client, resource, object, { fieldManager: 'user' });
}

/** Changes an object, and returns the messages that a watcher sends for it. */
async function changed(name: string) {
  await put(ConfigMap, { name, namespace: 'default' });
  const received = await queues.drain('dish.fifo', { waitSeconds: 20 });
  return received.map(({ Body = '' }) => parseMessage(Body));
}

/** K16: a proxy that nobody listens at: what the watcher sends does not go there, and its address is not logged. */
const proxy = { HTTPS_PROXY: 'http://user:hunter2@127.0.0.1:9', HTTP_PROXY: 'http://127.0.0.1:9' };
const used = /^HTTPS_PROXY is set and not used: [^@]+$/;

describe('a watcher that runs', () => {
  it('a watcher sends the changes of its cluster and their traces, and stops once on SIGTERM and SIGINT, with 0', async () => {
    const collector = await startWireServer((_, response) => sendJson(response, 200, {}));
    const watcher = start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url.origin, ...proxy });
    await watcher.logged('watching');
    expect(await watcher.logged('proxy ignored')).toMatchObject({ level: 'WARN', reason: expect.stringMatching(used) });
    expect(await changed('one')).toMatchObject([{ controller: 'dish', cluster: 'test', name: 'one' }]);
    expect(await watcher.stop('SIGINT')).toBe(0);
    expect(watcher.lines.filter(({ message }) => message === 'stopped')).toHaveLength(1);
    expect(watcher.lines.at(-1)).toMatchObject({ level: 'INFO', message: 'stopped' });
    const sent = JSON.stringify(collector.arrived.map(({ body }) => body));
    for (const part of ['"watcher"', 'forward configmaps']) expect(sent).toContain(part);
  });

  it.each([-3, 3])('the time of a change is by the clock of SQS if the watcher’s is %i hours off', async (hours) => {
    const nowMs = Date.now();
    const offMs = hours * 3_600_000;
    vi.useFakeTimers({ toFake: ['Date'], now: nowMs + offMs });
    const startedAt = { value: performance.timeOrigin + offMs, configurable: true };
    Object.defineProperty(performance, 'timeOrigin', startedAt);
    onTestFinished(() => {
      vi.useRealTimers();
      Reflect.deleteProperty(performance, 'timeOrigin');
    });
    const watcher = start({});
    await watcher.logged('watching');
    const offsets = (await changed(`clock-${hours}`)).map((message) => observedAtOf(message) - nowMs);
    await watcher.stop();
    expect(offsets.map((ms) => Math.abs(ms) < 600_000)).toEqual([true]);
  });

  it('a fleet watcher sends the changes of each cluster of the table, logs what it ignores, and a table that breaks later', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    const entry = { server: server.url, access: { type: 'none' } };
    await folder.write('clusters.json', JSON.stringify({ lab: entry, 'not a name': entry }));
    const watcher = start({ CLUSTER: '', CLUSTERS: folder.at('clusters.json'), SHARD: '0/1', ...proxy });
    expect(await watcher.logged('proxy ignored')).toMatchObject({ level: 'WARN', reason: expect.stringMatching(used) });
    expect(await watcher.logged('entry ignored')).toMatchObject({ error: expect.stringContaining('not a name') });
    expect(await watcher.logged('watching')).toMatchObject({ cluster: 'lab' });
    expect(await changed('two')).toMatchObject([{ cluster: 'lab', name: 'two' }]);
    await folder.write('clusters.json', '{');
    vi.advanceTimersByTime(60_000);
    const error = expect.stringContaining('not a JSON object');
    expect(await watcher.logged('clusters table not read, retrying')).toMatchObject({ error });
    expect(await watcher.stop()).toBe(0);
  });

  it('the watcher logs the id by which SQS names it as the sender, and watches although STS refuses to answer', async () => {
    const sts = await startFakeIdentity();
    try {
      const arn = 'arn:aws:sts::123456789012:assumed-role/watcher/chosen-by-the-sender';
      const known = start({ AWS_ENDPOINT_URL_STS: sts.url });
      expect(await known.logged('sends as')).toMatchObject({ level: 'INFO', arn, id: 'AROAWATCHER000000000' });
      await known.stop();
      sts.fails = 403;
      const unknown = start({ AWS_ENDPOINT_URL_STS: sts.url });
      const error = 'STS answered 403 (AccessDenied)';
      expect(await unknown.logged('own identity on AWS unknown')).toMatchObject({ error });
      await unknown.logged('watching');
      await unknown.stop();
    } finally {
      sts.close();
    }
    // Only the queue is emulated: no request leaves for AWS's own STS.
    const emulated = start({});
    await emulated.logged('watching');
    await emulated.stop();
    expect(emulated.lines.map(({ message }) => message)).not.toContain('own identity on AWS unknown');
  });

  it('a fleet watcher without a clusters table is not ready, and says what to do', async () => {
    const s3 = await startFakeS3();
    const port = await freePort();
    const fleet = start({
      CLUSTERS: 's3://bucket/clusters.json',
      CLUSTER: '',
      PORT: String(port),
      AWS_ENDPOINT_URL_S3: s3.url,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    });
    try {
      await fleet.logged('clusters table not read, retrying');
      expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(503);
    } finally {
      expect(await fleet.stop()).toBe(0);
      s3.close();
    }
  });

  it('a watcher whose queues are new, by QUEUE_GENERATION, sends every key again, and one whose queues are the same none', async () => {
    await put(Namespace, { name: systemNamespace });
    await put(ConfigMap, { name: checkpointName, namespace: systemNamespace });
    await put(ConfigMap, { name: 'kept', namespace: 'default' });
    const read = createDepth(queues.sqs, queues.urlPrefix);
    const sent = async () => {
      const { visible, delayed } = await read('timers', { signal: AbortSignal.timeout(5_000) });
      return visible + delayed;
    };
    const counts = [await sent()];
    for (const QUEUE_GENERATION of ['1', '1', '2']) {
      const watcher = start({ QUEUE_GENERATION, CHECKPOINT_SECONDS: '0.1' });
      await watcher.logged('watching');
      await expect.poll(async () => (await readCheckpoint(client))?.text ?? '').toContain('resourceVersion');
      await watcher.stop();
      counts.push(await sent());
    }
    const steps = counts.slice(1).map((count, index) => Math.sign(count - (counts[index] ?? 0)));
    expect(steps).toEqual([1, 0, 1]);
  });

  it('the watcher does not exit if the API server and SQS are unavailable, and retries', async () => {
    const endpoint = `http://127.0.0.1:${await freePort()}`;
    const file = await writeKubeconfig({ server: endpoint }, {});
    const sqs = { AWS_ENDPOINT_URL_SQS: endpoint, QUEUE_URL_PREFIX: `${endpoint}/000000000000/` };
    const watcher = start({ KUBECONFIG: file, ...sqs });
    await watcher.logged('API server unavailable, retrying');
    const { error } = await watcher.logged('SQS unavailable, retrying');
    expect(error).toMatch(/^QUEUE_URL_PREFIX: no response from http.*timers .*check the address/);
    await watcher.logged('watch failed, retrying');
    expect(await watcher.stop()).toBe(0);
  });

  it('D5: a watcher is ready only when SQS lets it send: it is not without an answer, nor after a refusal', async () => {
    let refusal: string | undefined;
    let isAccepted = false;
    const sqs = await startWireServer((_, response) => {
      if (isAccepted) return sendJson(response, 400, { __type: 'com.amazonaws.sqs#EmptyBatchRequest', message: 'no' });
      if (refusal === undefined) return response.destroy();
      return sendJson(response, refusal === 'AccessDenied' ? 403 : 400, { __type: refusal, message: 'no' });
    });
    const watcher = start({
      AWS_ENDPOINT_URL_SQS: sqs.url.origin,
      QUEUE_URL_PREFIX: `${sqs.url.origin}/000000000000/`,
      // Without an object: keys that SQS does not accept would be sent again while the watcher stops, for ten seconds.
      WATCH_NAMESPACES: 'empty',
    });
    const { port } = await watcher.logged('watching');
    const ready = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status;
    expect(await ready()).toBe(503);
    refusal = 'AccessDenied';
    const said = () => watcher.lines.map(({ error }) => String(error)).join('\n');
    await expect.poll(said, { timeout: 15_000 }).toMatch(/refuses this watcher .*WatcherPolicyArn/);
    expect(await ready()).toBe(503);
    isAccepted = true;
    await expect.poll(ready, { timeout: 15_000 }).toBe(200);
    expect(await watcher.stop()).toBe(0);
  });

  it.each([
    ['AccessDenied', 403, true],
    ['InvalidClientTokenId', 400, true],
    ['SignatureDoesNotMatch', 400, true],
    ['ExpiredToken', 400, true],
    ['KmsAccessDenied', 400, true],
    ['com.amazonaws.sqs#EmptyBatchRequest', 400, false],
  ])('D5: the answer %s with %d to an empty batch is a refusal of the watcher: %s', async (name, status, isRefusal) => {
    const server = await startWireServer((_, response) => sendJson(response, status, { __type: name, message: 'no' }));
    const sqs = createSqsClient({ region: 'us-east-1', endpoint: server.url.origin });
    onTestFinished(() => sqs.destroy());
    const { signal } = new AbortController();
    const error = await requireQueues(sqs, `${server.url.origin}/000000000000/`, { signal });
    expect(error?.message ?? '').toMatch(isRefusal ? /refuses this watcher .*WatcherPolicyArn/ : /^$/);
  });

  it('a watcher that is stopped while it starts ends with 0', async () => {
    const silent = await startWireServer(() => undefined);
    const watcher = start({ KUBECONFIG: await writeKubeconfig({ server: silent.url.href }, {}) });
    await expect.poll(() => silent.arrived).toHaveLength(1);
    kill();
    expect(await watcher.ended).toBe(0);
  });
});

describe('the watcher exits with 1 and one log line', () => {
  const startupError = async (settings: Readonly<Record<string, string>>) => {
    const { ended, lines } = start({ AWS_ENDPOINT_URL: queues.endpoint, ...settings });
    expect(await ended).toBe(1);
    expect(lines.at(-1)).toMatchObject({ level: 'ERROR', message: 'watcher failed to start' });
    expect(lines.at(-1)).not.toHaveProperty('stack');
    return lines.at(-1)?.error;
  };

  it('the error of a rejected token names the kubeconfig and the user', async () => {
    const wire = await startWireServer((_, response) => sendJson(response, 401, statusOf(401, 'Unauthorized')), {
      tls: true,
    });
    const cluster = { server: wire.url.href, 'certificate-authority-data': base64(pem('server.pem')) };
    const file = await writeKubeconfig(cluster, { token: 'expired-token' });
    const message = await startupError({ KUBECONFIG: file });
    expect(message).toBe(`${file}: user: the API server does not accept its credentials (401); renew them`);
  });

  it.each([
    [
      'with a certificate of an unknown authority',
      {},
      /server's certificate is not valid \(\w+\); check server, certificate-authority and the clock here/,
    ],
    ['with insecure-skip-tls-verify', { 'insecure-skip-tls-verify': true }, /insecure-skip-tls-verify is not allowed/],
  ])('the watcher sends no request to a server %s', async (_, more, reason) => {
    const wire = await startWireServer((_, response) => sendJson(response, 200, {}), { tls: true });
    const file = await writeKubeconfig({ server: wire.url.href, ...more }, { token: 'token' });
    expect(await startupError({ KUBECONFIG: file })).toMatch(reason);
    expect(wire.arrived).toEqual([]);
  });

  // Control T89.
  it('an environment without certificate verification is rejected', async () => {
    expect(await startupError({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toMatch(/NODE_TLS_REJECT_UNAUTHORIZED/);
  });

  it('the error of missing queues names the queue', async () => {
    expect(await startupError({ QUEUE_URL_PREFIX: `${queues.urlPrefix}elsewhere-` })).toMatch(
      /^QUEUE_URL_PREFIX: queue \S+elsewhere-timers does not exist/,
    );
  });
});

/** Writes a kubeconfig of a cluster, without an authority unless one is given. */
async function writeKubeconfig(cluster: object, user: object): Promise<string> {
  const file = `kubeconfig-${Math.random()}`;
  await folder.write(file, kubeconfig({ cluster: { 'certificate-authority-data': undefined, ...cluster }, user }));
  return folder.at(file);
}
