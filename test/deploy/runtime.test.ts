// The bundles in AWS's own runtime, on Node 24, with the environment of the packaged template: records of a real SQS
// server in, statuses out. Queues, API server and simulators are the embedded ones. Excluded: the reconciles themselves
// (test/statements), a real cluster and its authentication (end-to-end.test.ts).
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startApiServer } from '@outrigger/apiserver';
import { startWorkloads } from '@outrigger/apiserver/workloads/workloads';
import { build } from '@outrigger/cli/commands/build';
import { localAccountId, localRegion } from '@outrigger/cli/dev/lambda/account';
import { createQueues } from '@outrigger/cli/dev/lambda/queues';
import { readLocalStack } from '@outrigger/cli/dev/local-stack';
import { createLocalSqsClient, startSqs } from '@outrigger/cli/dev/sqs-server';
import { startSimulators } from '@outrigger/cli/simulators/registry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registry } from '../../src/controllers/registry.ts';
import { fieldManagerOf, resyncQueue, timersQueue, wakeFunction } from '../../src/core/names.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { listPages } from '../../src/kube/client/read.ts';
import { applyManifests, readManifests } from '../../src/testing/manifests.ts';
import { buildArtifacts } from '../../tools/artifacts.ts';
import { install } from '../statements/harness.ts';
import { type EmulatedLambda, startEmulatedLambda } from './emulated-lambda.ts';

const root = path.resolve(import.meta.dirname, '../..');
const here = { region: localRegion, accountId: localAccountId };
const startMilliseconds = 300_000;
const quiesceMilliseconds = 90_000;
/** An event of EventBridge that no controller asked for. */
const foreignEvent = { id: 'e-1', source: 'other', 'detail-type': 'Other', detail: {} };

const cleanup = new AsyncDisposableStack();
let lambda: EmulatedLambda;
let admin: KubeClient;

beforeAll(async () => {
  const signal = AbortSignal.timeout(startMilliseconds);
  const template = await buildArtifacts(build, root, signal);
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-runtime-'));
  cleanup.defer(() => rm(folder, { recursive: true }));
  const simulators = await startSimulators(cleanup);
  const server = await startApiServer({ execute: simulators.bitcoin.execute });
  cleanup.defer(() => server.close());
  admin = createClient({ server: new URL(server.url) });
  cleanup.defer(() => admin.close());
  const workloads = await startWorkloads(admin);
  cleanup.defer(() => workloads.close());
  await install({ server: new URL(server.url) });
  await applyManifests(admin, await readManifests(path.join(root, 'infra/kubernetes/samples')), { signal });

  const sqs = await startSqs();
  cleanup.defer(() => sqs.close());
  const client = createLocalSqsClient(sqs.endpoint);
  cleanup.defer(() => client.destroy());
  const clustersTableFile = path.join(folder, 'clusters.json');
  const entry = { server: server.url, access: { type: 'token', token: 'any' } };
  await writeFile(clustersTableFile, JSON.stringify({ test: entry }), { mode: 0o600 });
  const places = { clustersTableFile, watcherKubeconfigFile: '' };
  const stack = readLocalStack(template, places, simulators, { tick: 5, period: 5, grace: 20 });
  const queues = await createQueues(client, stack.queues, { endpoint: sqs.endpoint, signal });
  const role = { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local', AWS_SESSION_TOKEN: 'local' };
  const environment = () => ({ AWS_REGION: localRegion, AWS_ENDPOINT_URL: sqs.endpoint, ...role });
  lambda = cleanup.use(await startEmulatedLambda({ stack, queues, client, environment, taskRoot: root }, here));
}, startMilliseconds);
afterAll(async () => await cleanup.disposeAsync());

async function objectsOf({ declaration }: (typeof registry)[number]): Promise<readonly KubeObject[]> {
  const objects: KubeObject[] = [];
  for await (const { items } of listPages(admin, declaration.resource)) objects.push(...items);
  return objects;
}

describe('bundles in AWS’ runtime', () => {
  it('the bundles are loaded and respond', async () => {
    for (const one of lambda.functions) {
      const [event, response] = one.name.endsWith(`-${wakeFunction}`)
        ? [foreignEvent, { keys: 0 }]
        : [{ Records: [] }, { batchItemFailures: [] }];
      expect(await one.invoke(event)).toEqual(response);
    }
    expect(lambda.functions.length).toBe(registry.length + [timersQueue, resyncQueue, wakeFunction].length);
  });

  it('the bundles reconcile every sample after the schedule only: each function receives records of a queue, and processes all of them', async () => {
    lambda.feed({ scheduleSeconds: 5 });
    const reconciled = async (controller: (typeof registry)[number]) => {
      const objects = await objectsOf(controller);
      const by = ({ metadata }: KubeObject) =>
        (metadata.managedFields ?? []).some(
          ({ manager, subresource }) => manager === fieldManagerOf(controller.name) && subresource === 'status',
        );
      return objects.length > 0 && objects.every(by);
    };
    const notYet = async () => {
      const done = await Promise.all(registry.map(reconciled));
      return registry.filter((_, index) => !done[index]).map(({ name }) => name);
    };
    await expect.poll(notYet, { timeout: quiesceMilliseconds, interval: 500 }).toEqual([]);
    // EventBridge alone calls the wake function.
    for (const { name } of lambda.functions.filter((one) => !one.name.endsWith(`-${wakeFunction}`))) {
      expect(lambda.answers(name).length).toBeGreaterThan(0);
      expect(new Set(lambda.answers(name).map((answer) => JSON.stringify(answer)))).toEqual(
        new Set(['{"batchItemFailures":[]}']),
      );
    }
    expect(lambda.failures).toEqual([]);
  });
});
