// A system on one machine with a credential of its own planted wherever one goes in, servers that throw them back in their errors,
// and somebody who writes down all that comes out: lines of every process, requests with their bodies, metrics. What belongs in
// a header (and only there) is counted apart: it proves that the credential was really in use.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { build } from '../../src/cli/build.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { startApiServer } from '../../src/apiserver/server.ts';
import { makeArtifacts } from '../../src/local/artifacts.ts';
import { localCluster, openCluster } from '../../src/dev/cluster-access.ts';
import { startLambda } from '../../src/dev/lambda/local-lambda.ts';
import { createQueues } from '../../src/dev/lambda/queues.ts';
import type { Stack } from '../../src/dev/lambda/stack.ts';
import { namePrefix, readLocalStack, shortResync, watcherEnvironment } from '../../src/dev/local-stack.ts';
import { applyManifests, readManifests } from '../../src/dev/manifests.ts';
import { createLocalSqsClient, startSqs } from '../../src/dev/sqs-server.ts';
import { startWatchers } from '../../src/dev/watchers.ts';
import { startWorlds } from '../../src/local/worlds/sample-worlds.ts';
import { type Asked, type ChaosProxy, type Fault, startChaosProxy } from '../chaos/chaos-proxy.ts';

/** What is planted, by where it goes in. None of it is in the form of any other. */
export const planted = {
  kubeconfigToken: 'planted-in-the-kubeconfig-0a1b',
  tableToken: 'planted-in-the-table-2c3d',
  sessionToken: 'planted-in-the-session-4e5f',
  watcherSecretKey: 'planted-in-the-key-6a7b',
  plantUrl: 'planted-in-the-url-8c9d',
  pantryBody: 'planted-in-a-body-0e1f',
  pantryHeader: 'planted-in-a-header-2a3b',
  apiUrl: 'planted-in-an-error-4c5d',
  secretData: 'planted-in-a-secret-6e7f',
  annotation: 'planted-in-an-annotation-8a9b',
} as const;

/** Something that came out, and where. */
export type Heard = { readonly where: string; readonly text: string };

/** A system that runs. */
export type PlantedSystem = {
  /** The user's, who goes no detour. */
  readonly client: KubeClient;
  readonly sqs: SQSClient;
  /** The queue whose name ends so. */
  queueUrl(name: string): string;
  readonly heard: readonly Heard[];
  /** Which credentials arrived in headers, where they belong, and how often each server threw them back. */
  readonly used: ReadonlyMap<string, number>;
  /** What the watcher's probes and metrics say. */
  probes(): Promise<readonly Heard[]>;
  close(): Promise<void>;
};

const root = path.resolve(import.meta.dirname, '../..');
const runs = /(water-tank|ingredient|foo|timers|resync)$/;
/** How often each kind of request is thrown back before it gets through. */
const throwsBack = 2;

/** Starts it; when it cannot, nothing stays behind. */
export async function startPlantedSystem(signal: AbortSignal): Promise<PlantedSystem> {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-planted-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const template = await makeArtifacts(build, root, signal);
  const heard: Heard[] = [];
  const used = new Map<string, number>();
  const count = (what: string) => used.set(what, (used.get(what) ?? 0) + 1);
  const proxied = async (url: string): Promise<ChaosProxy> => {
    const proxy = await startChaosProxy({ url });
    parts.defer(() => proxy.close());
    return proxy;
  };

  const server = await startApiServer({ host: '127.0.0.1', bookmarkSeconds: 5 });
  parts.defer(() => server.close());
  const user = createClient({ server: new URL(server.url) });
  parts.defer(() => user.close());
  const api = await proxied(server.url);
  const file = path.join(folder, 'kubeconfig-planted');
  await writeFile(file, kubeconfig(api.url, planted.kubeconfigToken), { mode: 0o600 });
  const cluster = await openCluster(folder, { file, signal });
  parts.defer(() => cluster.close());
  const entry = { server: api.url, access: { type: 'token', token: planted.tableToken } };
  await writeFile(cluster.clustersTableFile, JSON.stringify({ [localCluster]: entry }));

  const sqsServer = await startSqs();
  parts.defer(() => sqsServer.close());
  const queueProxy = await proxied(sqsServer.endpoint);
  const client = createLocalSqsClient(sqsServer.endpoint);
  parts.defer(() => client.destroy());

  const worlds = await startWorlds(parts);
  const pantry = await proxied(worlds.pantry.url);
  const plantUrl = worlds.plant.url.replace('://', `://operator:${planted.plantUrl}@`);
  const stack = few(
    readLocalStack(
      template,
      cluster,
      { ...worlds, plant: { ...worlds.plant, url: plantUrl }, pantry: { ...worlds.pantry, url: pantry.url } },
      shortResync,
    ),
  );
  const queues = await createQueues(client, stack.queues, { endpoint: sqsServer.endpoint, signal });
  const manifests = await readManifests(path.join(root, 'infra/kubernetes/generated'));
  const needed = manifests.filter(({ kind }) => ['CustomResourceDefinition', 'Namespace', 'ConfigMap'].includes(kind));
  await applyManifests(user, needed, { signal });

  pantry.rule(throwBack(heard, count, 'pantry', pantryAnswer));
  api.rule(throwBack(heard, count, 'API server', apiAnswer));
  queueProxy.rule(throwBack(heard, count, 'SQS', sqsAnswer));

  const lambda = startLambda(
    {
      ...{ stack, queues, client, queueEndpoint: queueProxy.url, taskRoot: root, onProcesses: () => undefined },
      onEvent: (event) =>
        void heard.push(
          event.type === 'line'
            ? { where: `${event.stream} of ${event.function}`, text: event.text }
            : { where: `failure of ${event.function}`, text: `${event.error.message} ${event.error.stack}` },
        ),
    },
    { concurrency: 1, tickSeconds: 5 },
  );
  parts.defer(() => lambda.stop());

  let watcherPort = 0;
  const watchers = startWatchers(
    {
      file: path.join(root, 'dist/watcher/index.mjs'),
      environment: {
        ...watcherEnvironment(cluster, queueProxy.url, queues, namePrefix(stack), ''),
        ...{ CURSOR_SECONDS: '1', LOG_LEVEL: 'DEBUG' },
        ...{ AWS_SECRET_ACCESS_KEY: planted.watcherSecretKey, AWS_SESSION_TOKEN: planted.sessionToken },
      },
      onEvent: (event) => {
        if (event.type !== 'line' && event.type !== 'watching') return;
        heard.push({ where: 'output of the watcher', text: event.text });
        watcherPort = Number(/"port":(\d+)/.exec(event.text)?.[1] ?? watcherPort);
      },
    },
    1,
  );
  parts.defer(() => watchers.stop());
  await watchers.ready(signal);

  const whole = parts.move();
  return {
    ...{ client: user, sqs: client, heard, used },
    queueUrl: (name) => queues.find((queue) => queue.name.endsWith(name))?.url ?? '',
    probes: async () =>
      await Promise.all(
        ['metrics', 'readyz', 'healthz'].map(async (probe) => {
          const answer = await fetch(`http://127.0.0.1:${watcherPort}/${probe}`);
          return { where: `the watcher's ${probe}`, text: await answer.text() };
        }),
      ),
    close: () => whole.disposeAsync(),
  };
}

/** What a server throws back at a request, if anything; `kind` is what is counted up to the bound. */
type ThrowsBack = (
  asked: Asked,
) => { readonly kind: string; readonly fault: Fault; readonly always?: true } | undefined;

/** Writes requests down, without their headers, and throws the first of each kind back. */
function throwBack(heard: Heard[], count: (what: string) => unknown, who: string, answer: ThrowsBack) {
  const done = new Map<string, number>();
  return (asked: Asked): Fault | undefined => {
    heard.push({ where: `request to ${who}`, text: `${asked.method} ${asked.url} ${asked.body}` });
    const headers = JSON.stringify(asked.headers);
    for (const [name, value] of Object.entries(planted)) if (headers.includes(value)) count(`${name} at ${who}`);
    const thrown = answer(asked);
    if (thrown === undefined) return undefined;
    if (thrown.always !== true && (done.get(thrown.kind) ?? 0) >= throwsBack) return undefined;
    done.set(thrown.kind, (done.get(thrown.kind) ?? 0) + 1);
    count(`thrown back: ${thrown.kind}`);
    return thrown.fault;
  };
}

/** An API server behind a careless proxy: its errors quote the request's own credentials and an address with others. */
const apiAnswer: ThrowsBack = ({ method, url, headers }) => {
  const [, who] = /^outrigger[-/](\w+)/.exec(headers['user-agent'] ?? '') ?? [];
  const isWorth = method === 'PATCH' || (method === 'GET' && /ingredients/.test(url));
  if (!isWorth || !(who === 'watcher' || who === 'ingredient' || who === 'foo' || who === 'resync')) return undefined;
  const message = `upstream https://admin:${planted.apiUrl}@etcd:2379/ failed for Authorization: ${headers.authorization}`;
  const body = JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason: 'InternalError',
    code: 500,
    message,
  });
  return { kind: `${who} ${method}`, fault: { type: 'answer', status: 500, body } };
};

/** SQS, which answers a wrong signature with the canonical request, the session's token in it. */
const sqsAnswer: ThrowsBack = ({ headers }) => {
  const target = String(headers['x-amz-target']);
  if (!target.endsWith('SendMessageBatch')) return undefined;
  const token = headers['x-amz-security-token'];
  const message = `The Canonical String should have been 'POST\n/\n\nx-amz-security-token:${token}\nx-amz-target:${target}'`;
  const body = JSON.stringify({ __type: 'com.amazonaws.sqs#SignatureDoesNotMatch', message });
  const contentType = { 'content-type': 'application/x-amz-json-1.0' };
  return { kind: target, fault: { type: 'answer', status: 403, headers: contentType, body } };
};

/** A world that is never well for one item. */
const pantryAnswer: ThrowsBack = ({ url, body }) => {
  if (!`${url}${body}`.includes('poison')) return undefined;
  const text = JSON.stringify({
    error: 'refused',
    token: planted.pantryBody,
    cause: `GET https://u:${planted.pantryBody}@vault/`,
  });
  const headers = {
    'www-authenticate': `Bearer ${planted.pantryHeader}`,
    'set-cookie': `session=${planted.pantryHeader}`,
  };
  return { kind: 'pantry', always: true, fault: { type: 'answer', status: 500, headers, body: text } };
};

function kubeconfig(url: string, token: string): string {
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
    clusters: [{ name: 'c', cluster: { server: url } }],
    users: [{ name: 'c', user: { token } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'c', namespace: 'default' } }],
  });
}

/** The stack with the functions of the journey, each with a session's token. */
function few({ queues, functions, mappings, schedules }: Stack): Stack {
  return {
    queues,
    functions: functions
      .filter(({ arn }) => runs.test(arn))
      .map((one) => ({
        ...one,
        environment: { ...one.environment, LOG_LEVEL: 'DEBUG', AWS_SESSION_TOKEN: planted.sessionToken },
      })),
    mappings: mappings.filter(({ functionArn }) => runs.test(functionArn)),
    schedules,
  };
}
