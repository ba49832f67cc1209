// f7: a resync of 100,000 objects: pages, memory, seconds. The objects are in a real kube-apiserver and its etcd; the
// function is the deployed bundle, in a new process for each invocation.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  type Message as SqsMessage,
} from '@aws-sdk/client-sqs';
import { build } from '@outrigger/cli/commands/build';
import { localCluster } from '@outrigger/cli/dev/cluster-access';
import { createQueues } from '@outrigger/cli/dev/lambda/queues';
import { readLocalStack, stackNamePrefix } from '@outrigger/cli/dev/local-stack';
import { startSimulators } from '@outrigger/cli/simulators/registry';
import { formatResyncMessage } from '../src/resync/message.ts';
import { applyManifests } from '../src/testing/manifests.ts';
import { startProxiedServers } from '../test/support/proxied-servers.ts';
import { kindManifests } from '../test/support/sample-manifests.ts';
import { buildArtifacts } from '../tools/artifacts.ts';
import { createPlainApi } from '../tools/chaos/plain-api.ts';
import type { ObjectCopy } from '../tools/control-plane/etcd-copies.ts';
import { invokeFresh } from './fresh-function.ts';
import { create, digits, untilObjectsServed, untilServed } from './populate.ts';
import type { Row } from './row.ts';

/** The limits of a resync; pages are requests to the API server. */
export const goal = { megabytes: 128, seconds: 60, pageSize: 500 };
/**
 * As deployed: a resync run every ten minutes, every object within ten hours. No change counts as missed while it is
 * younger than the grace period.
 */
const resyncSeconds = { tick: 600, period: 36_000, grace: 3600 };
const collection = '/apis/kitchen.example.com/v1/namespaces/default/ingredients';
/** The path of the objects in etcd. */
const storedPath = '/registry/kitchen.example.com/ingredients/default';

/** The cost of a resync: the number of pages, the number of invocations, their total time, and the maximum memory. */
type ResyncCost = {
  readonly pages: number;
  readonly times: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly megabytes: number;
};

/**
 * Creates this number of converged Ingredients, to be resynced by functions with any memory. `cleanup` stops
 * everything.
 */
export async function openResync(
  cleanup: AsyncDisposableStack,
  objects: number,
): Promise<{ resync(memoryMegabytes: number): Promise<ResyncCost>; readonly deployedMegabytes: number }> {
  const signal = AbortSignal.timeout(1_800_000);
  const root = process.cwd();
  const template = await buildArtifacts(build, root, signal);
  const simulators = await startSimulators(cleanup);
  const { plane, api, direct, cluster, client } = await startProxiedServers(cleanup, {}, signal);
  const stack = readLocalStack(template, cluster, simulators, resyncSeconds);
  const queues = await createQueues(client, stack.queues, { endpoint: direct.sqs.url, signal });
  const plainApi = cleanup.adopt(createPlainApi(direct.api), (one) => one.close());
  const manifests = kindManifests();
  const definitions = manifests.filter(({ kind }) => kind === 'CustomResourceDefinition');
  await applyManifests(cluster.client, definitions, { signal });
  await untilServed(plainApi, collection);
  const first = nameOf(0);
  const uid = await create(plainApi, collection, portion(first), status);
  const copies = Array.from({ length: objects - 1 }, (_, index): ObjectCopy => {
    const name = nameOf(index + 1);
    return {
      key: `${storedPath}/${name}`,
      replacements: [
        [first, name],
        [uid, randomUUID()],
      ],
    };
  });
  await plane.putCopies(`${storedPath}/${first}`, copies);
  await untilObjectsServed(plainApi, collection, objects);

  const definition = stack.functions.find(({ name }) => name.endsWith('resync'));
  const queue = queues.find(({ name }) => name === `${stackNamePrefix(stack)}resync`);
  const timers = queues.find(({ name }) => name === `${stackNamePrefix(stack)}timers`);
  if (definition === undefined || queue === undefined || timers === undefined)
    throw new Error('no resync in the template');
  const environment = {
    ...definition.environment,
    QUEUE_URL_PREFIX: timers.url.slice(0, -'timers'.length),
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL: direct.sqs.url,
    AWS_LAMBDA_FUNCTION_NAME: definition.name,
  };

  /** One resync by a function with this memory. */
  const resync = async (memoryMegabytes: number): Promise<ResyncCost> => {
    const run = new Date().toISOString();
    const message = { v: 1, type: 'resync', run, cluster: localCluster, controller: 'ingredient' } as const;
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
        pages,
        times: whole.times + 1,
        seconds: whole.seconds + (cost.seconds[0] ?? Number.NaN),
        cpuSeconds: whole.cpuSeconds + cost.cpuSeconds,
        megabytes: Math.max(whole.megabytes, cost.megabytes),
      };
      await client.send(new DeleteMessageCommand({ QueueUrl: queue.url, ReceiptHandle: received.ReceiptHandle }));
    }
    // A list that fails is retried later by a delayed message; its cost until then is not a result.
    if (pages < objects / goal.pageSize) throw new Error(`f7: the list failed after ${pages} pages`);
    return whole;
  };

  return { resync, deployedMegabytes: definition.memoryMegabytes };
}

/** Measures a resync of this number of Ingredients. */
export async function f7({ objects = 100_000 }: { readonly objects?: number } = {}): Promise<readonly Row[]> {
  await using cleanup = new AsyncDisposableStack();
  const { resync, deployedMegabytes } = await openResync(cleanup, objects);
  // The goal is for the smallest memory; the deployed function has more, for its share of a processor.
  const small = await resync(goal.megabytes);
  const deployed = await resync(deployedMegabytes);
  const expectedPages = Math.ceil(objects / goal.pageSize);
  const what = `resync of ${objects} objects by a function of ${goal.megabytes} MB`;
  const also = (text: string) => `(${text} with ${deployedMegabytes} MB)`;
  const { pages, megabytes, seconds, cpuSeconds } = small;
  return [
    {
      figure: 'f7',
      what: `${what}: pages`,
      goal: `${expectedPages}`,
      met: pages === expectedPages,
      ours: `${pages}`,
      counts: { [`f7 pages of ${objects}`]: pages },
    },
    {
      figure: 'f7',
      what: `${what}: resident memory`,
      goal: `<= ${goal.megabytes} MB`,
      met: megabytes <= goal.megabytes,
      ours: `${megabytes.toFixed(0)} MB ${also(`${deployed.megabytes.toFixed(0)} MB`)}`,
    },
    {
      figure: 'f7',
      what: `${what}: time, on a whole processor`,
      goal: `< ${goal.seconds} s`,
      met: seconds < goal.seconds,
      ours: `${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of it CPU time of the function ${also(`${deployed.seconds.toFixed(1)} s, ${deployed.cpuSeconds.toFixed(1)} s`)}`,
    },
  ];
}

const quantity = { amount: 2, unit: 'g' };

/** The status of a converged Ingredient, as its controller writes it. */
const status = {
  observedGeneration: 1,
  location: 'Counter',
  measured: quantity,
  conditions: ['Located', 'Measured', 'Ready'].map((type) => ({
    type,
    reason: 'LaidOut',
    status: 'True',
    observedGeneration: 1,
    message: '',
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

/** The record that Lambda creates from a message. */
function recordOf({ MessageId, ReceiptHandle, Body, Attributes = {} }: Received, arn: string): object {
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: Attributes,
    messageAttributes: {},
    eventSource: 'aws:sqs',
    eventSourceARN: arn,
    awsRegion: 'us-east-1',
    md5OfBody: '',
  };
}
