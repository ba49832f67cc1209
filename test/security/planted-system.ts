// A system on one machine with a planted credential at every input, servers that quote credentials in their errors, and a recorder of all
// output: lines of every process, requests with their bodies, metrics. Credentials in headers, where they belong, are counted apart: they
// prove that the credential was in use.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { startApiServer } from '@outrigger/apiserver';
import { build } from '@outrigger/cli/commands/build';
import { localCluster, openCluster } from '@outrigger/cli/dev/cluster-access';
import { readGenerated } from '@outrigger/cli/dev/generated-manifests';
import { startLambda } from '@outrigger/cli/dev/lambda/local-lambda';
import { createQueues } from '@outrigger/cli/dev/lambda/queues';
import type { Stack } from '@outrigger/cli/dev/lambda/stack';
import { readLocalStack, shortResync, stackNamePrefix, watcherEnvironment } from '@outrigger/cli/dev/local-stack';
import { createLocalSqsClient, startSqs } from '@outrigger/cli/dev/sqs-server';
import { startWatchers } from '@outrigger/cli/dev/watchers';
import { startSimulators } from '@outrigger/cli/simulators/registry';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { applyManifests } from '../../src/testing/manifests.ts';
import { buildArtifacts } from '../../tools/artifacts.ts';
import { type ChaosProxy, type Fault, type ProxiedRequest, startChaosProxy } from '../../tools/chaos/chaos-proxy.ts';
import { writeKubeconfig } from '../../tools/control-plane/kubeconfig.ts';

/** The planted credentials, by input. Each has a form of its own. */
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

/** A piece of output, and its place. */
export type RecordedOutput = { readonly where: string; readonly text: string };

/** A running system. */
export type PlantedSystem = {
  /** The user's client, without the recording proxy. */
  readonly client: KubeClient;
  readonly sqs: SQSClient;
  /** The queue with this ending of its name. */
  queueUrl(name: string): string;
  readonly recorded: readonly RecordedOutput[];
  /** The credentials that arrived in headers, and how often each server quoted them in an error. */
  readonly used: ReadonlyMap<string, number>;
  /** The responses of the watcher's probes and metrics. */
  probes(): Promise<readonly RecordedOutput[]>;
  close(): Promise<void>;
};

const root = path.resolve(import.meta.dirname, '../..');
const runs = /(water-tank|ingredient|foo|timers|resync)$/;
/** How often each kind of request fails before it succeeds. */
const throwsBack = 2;

/** Starts the system. If it fails, nothing is left running. */
export async function startPlantedSystem(signal: AbortSignal): Promise<PlantedSystem> {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-planted-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const template = await buildArtifacts(build, root, signal);
  const recorded: RecordedOutput[] = [];
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
  await writeKubeconfig(file, api.url, { token: planted.kubeconfigToken });
  const cluster = await openCluster(folder, { file, signal });
  parts.defer(() => cluster.close());
  const entry = { server: api.url, access: { type: 'token', token: planted.tableToken } };
  await writeFile(cluster.clustersTableFile, JSON.stringify({ [localCluster]: entry }));

  const sqsServer = await startSqs();
  parts.defer(() => sqsServer.close());
  const queueProxy = await proxied(sqsServer.endpoint);
  const client = createLocalSqsClient(sqsServer.endpoint);
  parts.defer(() => client.destroy());

  const worlds = await startSimulators(parts);
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
  await applyManifests(user, await readGenerated(root), { signal });

  pantry.rule(throwBack(recorded, count, 'pantry', pantryAnswer));
  api.rule(throwBack(recorded, count, 'API server', apiAnswer));
  queueProxy.rule(throwBack(recorded, count, 'SQS', sqsAnswer));

  const lambda = startLambda(
    {
      stack,
      queues,
      client,
      queueEndpoint: queueProxy.url,
      taskRoot: root,
      onProcesses: () => undefined,
      onEvent: (event) =>
        void recorded.push(
          event.type === 'line'
            ? { where: `${event.stream} of ${event.function}`, text: event.text }
            : { where: `failure of ${event.function}`, text: `${event.error.message} ${event.error.stack}` },
        ),
    },
    { concurrency: 1, scheduleSeconds: 5 },
  );
  parts.defer(() => lambda.stop());

  let watcherPort = 0;
  const watchers = startWatchers(
    {
      file: path.join(root, 'dist/watcher/index.mjs'),
      environment: {
        ...watcherEnvironment(cluster, queueProxy.url, queues, stackNamePrefix(stack), ''),
        CHECKPOINT_SECONDS: '1',
        LOG_LEVEL: 'DEBUG',
        AWS_SECRET_ACCESS_KEY: planted.watcherSecretKey,
        AWS_SESSION_TOKEN: planted.sessionToken,
      },
      onEvent: (event) => {
        if (event.type !== 'line' && event.type !== 'watching') return;
        recorded.push({ where: 'output of the watcher', text: event.text });
        watcherPort = Number(/"port":(\d+)/.exec(event.text)?.[1] ?? watcherPort);
      },
    },
    1,
  );
  parts.defer(() => watchers.stop());
  await watchers.ready(signal);

  const whole = parts.move();
  return {
    client: user,
    sqs: client,
    recorded,
    used,
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

/** The error response to a request, if any; failures are counted by `kind` up to the bound. */
type ThrowsBack = (
  asked: ProxiedRequest,
) => { readonly kind: string; readonly fault: Fault; readonly always?: true } | undefined;

/** Records requests without their headers, and fails the first ones of each kind. */
function throwBack(recorded: RecordedOutput[], count: (what: string) => unknown, who: string, answer: ThrowsBack) {
  const done = new Map<string, number>();
  return (asked: ProxiedRequest): Fault | undefined => {
    recorded.push({ where: `request to ${who}`, text: `${asked.method} ${asked.url} ${asked.body}` });
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

/** An API server behind a careless proxy: its errors quote the request's credentials and an address with further ones. */
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
  return { kind: `${who} ${method}`, fault: { type: 'respond', status: 500, body } };
};

/** SQS, which answers a wrong signature with the canonical request, including the session token. */
const sqsAnswer: ThrowsBack = ({ headers }) => {
  const target = String(headers['x-amz-target']);
  if (!target.endsWith('SendMessageBatch')) return undefined;
  const token = headers['x-amz-security-token'];
  const message = `The Canonical String should have been 'POST\n/\n\nx-amz-security-token:${token}\nx-amz-target:${target}'`;
  const body = JSON.stringify({ __type: 'com.amazonaws.sqs#SignatureDoesNotMatch', message });
  const contentType = { 'content-type': 'application/x-amz-json-1.0' };
  return { kind: target, fault: { type: 'respond', status: 403, headers: contentType, body } };
};

/** An external system that always fails for one item. */
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
  return { kind: 'pantry', always: true, fault: { type: 'respond', status: 500, headers, body: text } };
};

/** The stack with the functions of the journey, each with a session token. */
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
