// f7: a resync of 100,000 objects: pages, memory, seconds. The objects are on a real kube-apiserver and in its etcd; the function is the
// deployed bundle, in a process of its own for each invocation.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  type Message as SqsMessage,
} from '@aws-sdk/client-sqs';
import { build } from '../src/cli/build.ts';
import { makeArtifacts } from '../src/local/artifacts.ts';
import { localCluster } from '../src/dev/cluster-access.ts';
import { createQueues } from '../src/dev/lambda/queues.ts';
import { namePrefix, readLocalStack } from '../src/dev/local-stack.ts';
import { applyManifests, readManifests } from '../src/dev/manifests.ts';
import { startWorlds } from '../src/local/worlds/sample-worlds.ts';
import { formatResyncMessage } from '../src/queue/resync-message.ts';
import { createPlainApi } from '../tools/chaos/plain-api.ts';
import type { Copy } from '../test/control-plane/stamp-etcd.ts';
import { startBordered } from '../test/support/proxied-servers.ts';
import { invokeFresh } from './fresh-function.ts';
import { create, digits, served, untilServed } from './populate.ts';
import type { Row } from './row.ts';

/** What a resync may take; pages are what the API server is asked for. */
export const goal = { megabytes: 128, seconds: 60, pageSize: 500 };
/** As deployed: a tick every ten minutes, everything within ten hours. Nothing counts as missed while it is this young. */
const resyncSeconds = { tick: 600, period: 36_000, grace: 3600 };
const collection = '/apis/kitchen.example.com/v1/namespaces/default/ingredients';
/** Where they are in etcd. */
const stored = '/registry/kitchen.example.com/ingredients/default';

/** What a resync cost: how many pages, and of its invocations how many, how long in all, and the most memory of any. */
type ResyncCost = {
  readonly pages: number;
  readonly times: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly megabytes: number;
};

/** Lays out so many Ingredients at rest, to be resynced by functions of any memory. What was started is put on `parts`. */
export async function openResync(
  parts: AsyncDisposableStack,
  objects: number,
): Promise<{ resync(memoryMegabytes: number): Promise<ResyncCost>; readonly deployedMegabytes: number }> {
  const signal = AbortSignal.timeout(1_800_000);
  const root = process.cwd();
  const template = await makeArtifacts(build, root, signal);
  const worlds = await startWorlds(parts);
  const { plane, api, direct, cluster, client } = await startBordered(parts, {}, signal);
  const stack = readLocalStack(template, cluster, worlds, resyncSeconds);
  const queues = await createQueues(client, stack.queues, { endpoint: direct.sqs.url, signal });
  const plain = parts.adopt(createPlainApi(direct.api), (one) => one.close());
  const manifests = await readManifests(path.join(root, 'infra/kubernetes/generated'));
  const needed = manifests.filter(({ kind }) => kind === 'CustomResourceDefinition');
  await applyManifests(cluster.client, needed, { signal });
  await untilServed(plain, collection);
  const first = nameOf(0);
  const uid = await create(plain, collection, portion(first), status);
  const copies = Array.from({ length: objects - 1 }, (_, index): Copy => {
    const name = nameOf(index + 1);
    return {
      key: `${stored}/${name}`,
      texts: [
        [first, name],
        [uid, randomUUID()],
      ],
    };
  });
  await plane.stamp(`${stored}/${first}`, copies);
  await served(plain, collection, objects);

  const definition = stack.functions.find(({ name }) => name.endsWith('resync'));
  const queue = queues.find(({ name }) => name === `${namePrefix(stack)}resync`);
  const timers = queues.find(({ name }) => name === `${namePrefix(stack)}timers`);
  if (definition === undefined || queue === undefined || timers === undefined)
    throw new Error('no resync in the template');
  const environment = {
    ...{ ...definition.environment, QUEUE_URL_PREFIX: timers.url.slice(0, -'timers'.length) },
    ...{ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
    ...{ AWS_ENDPOINT_URL: direct.sqs.url, AWS_LAMBDA_FUNCTION_NAME: definition.name },
  };

  /** One resync by a function of so much memory. */
  const resync = async (memoryMegabytes: number): Promise<ResyncCost> => {
    const run = new Date().toISOString();
    const message = { v: 1, kind: 'resync', run, cluster: localCluster, controller: 'ingredient' } as const;
    await client.send(new SendMessageCommand({ QueueUrl: queue.url, MessageBody: formatResyncMessage(message) }));
    let pages = 0;
    api.rule(({ url }) => {
      if (url.includes('/ingredients?') && url.includes(`limit=${goal.pageSize}`)) pages += 1;
      return undefined;
    });
    let whole = { pages: 0, times: 0, seconds: 0, cpuSeconds: 0, megabytes: 0 };
    for (;;) {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({ QueueUrl: queue.url, MessageSystemAttributeNames: ['All'] }),
      );
      const [received] = Messages;
      if (received === undefined) break;
      const event = { Records: [recordOf(received, queue.arn)] };
      const limits = { memoryMegabytes, timeoutSeconds: definition.timeoutSeconds, environment };
      const cost = await invokeFresh(path.join(root, 'dist/resync/index.mjs'), [event], limits);
      whole = {
        ...{ pages, times: whole.times + 1, seconds: whole.seconds + (cost.seconds[0] ?? Number.NaN) },
        ...{ cpuSeconds: whole.cpuSeconds + cost.cpuSeconds, megabytes: Math.max(whole.megabytes, cost.megabytes) },
      };
      await client.send(new DeleteMessageCommand({ QueueUrl: queue.url, ReceiptHandle: received.ReceiptHandle }));
    }
    // A poll that breaks off is tried again later, by a message with a delay; what it cost until then is no figure.
    if (pages < objects / goal.pageSize) throw new Error(`f7: the poll broke off after ${pages} pages`);
    return whole;
  };

  return { resync, deployedMegabytes: definition.memoryMegabytes };
}

/** Measures a resync of so many Ingredients. */
export async function f7({ objects = 100_000 }: { readonly objects?: number } = {}): Promise<readonly Row[]> {
  await using parts = new AsyncDisposableStack();
  const { resync, deployedMegabytes } = await openResync(parts, objects);
  // Judged with the least that it may have; what is deployed has more, for the processor that comes with it.
  const small = await resync(goal.megabytes);
  const deployed = await resync(deployedMegabytes);
  const wantedPages = Math.ceil(objects / goal.pageSize);
  const what = `resync of ${objects} objects by a function of ${goal.megabytes} MB`;
  const also = (text: string) => `(${text} with ${deployedMegabytes} MB)`;
  const { pages, megabytes, seconds, cpuSeconds } = small;
  return [
    {
      ...{ figure: 'f7', what: `${what}: pages`, goal: `${wantedPages}`, met: pages === wantedPages },
      ours: `${pages}`,
      counts: { [`f7 pages of ${objects}`]: pages },
    },
    {
      ...{ figure: 'f7', what: `${what}: resident memory`, goal: `<= ${goal.megabytes} MB` },
      met: megabytes <= goal.megabytes,
      ours: `${megabytes.toFixed(0)} MB ${also(`${deployed.megabytes.toFixed(0)} MB`)}`,
    },
    {
      ...{ figure: 'f7', what: `${what}: time, on a whole processor`, goal: `< ${goal.seconds} s` },
      met: seconds < goal.seconds,
      ours: `${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of them the function's own ${also(`${deployed.seconds.toFixed(1)} s, ${deployed.cpuSeconds.toFixed(1)} s`)}`,
    },
  ];
}

const quantity = { amount: 2, unit: 'g' };

/** As its controller leaves an Ingredient that is at rest. */
const status = {
  ...{ observedGeneration: 1, location: 'Counter', measured: quantity },
  conditions: ['Located', 'Measured', 'Ready'].map((type) => ({
    ...{ type, reason: 'LaidOut', status: 'True', observedGeneration: 1, message: '' },
    lastTransitionTime: '2026-01-01T00:00:00Z',
  })),
};

function portion(name: string): object {
  const metadata = { name, finalizers: ['outrigger.dev/ingredient'], labels: { team: 'a' } };
  return { apiVersion: 'kitchen.example.com/v1', kind: 'Ingredient', metadata, spec: { item: 'rice', ...quantity } };
}

function nameOf(number: number): string {
  return `portion-${digits(number, 6)}`;
}

type Received = Pick<SqsMessage, 'MessageId' | 'ReceiptHandle' | 'Body' | 'Attributes'>;

/** The record that Lambda makes of a message. */
function recordOf({ MessageId, ReceiptHandle, Body, Attributes = {} }: Received, arn: string): object {
  return {
    ...{
      messageId: MessageId,
      receiptHandle: ReceiptHandle,
      body: Body,
      attributes: Attributes,
      messageAttributes: {},
    },
    ...{ eventSource: 'aws:sqs', eventSourceARN: arn, awsRegion: 'us-east-1', md5OfBody: '' },
  };
}
