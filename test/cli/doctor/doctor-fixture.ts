// A complete deployment for `outrigger doctor --stage`: SQS, an API server, and the requests of Lambda and Systems
// Manager that it needs. Tests break a part of it and run the command again.
import { CreateQueueCommand } from '@aws-sdk/client-sqs';
import { type ApiServer, startApiServer } from '@outrigger/apiserver';
import { doctorCommand } from '@outrigger/cli/commands/doctor/doctor';
import { type ExpectedQueue, expectedQueues } from '@outrigger/cli/commands/doctor/expected-queues';
import { queuePolicy } from '@outrigger/cli/commands/doctor/queue-commands';
import type { Command } from 'commander';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import * as z from 'zod';
import { readCheckpoint, writeCheckpoint } from '../../../src/checkpoint/config-map.ts';
import { type CheckpointScope, entryNameOf, formatCheckpoint } from '../../../src/checkpoint/document.ts';
import { registry } from '../../../src/controllers/registry.ts';
import { watchListOf } from '../../../src/generate/watch-list.ts';
import { createClient } from '../../../src/kube/client/client.ts';
import { applyManifests } from '../../../src/testing/manifests.ts';
import { type FakeIdentity, startFakeIdentity } from '../../clusters/auth/identity-server.ts';
import { startTestQueues, type TestQueues } from '../../sqs/fauxqs.ts';
import { kindManifests } from '../../support/sample-manifests.ts';
import { type Account, startAwsServices } from '../aws-services.ts';
import { runHere } from '../command-result.ts';

export const prefix = 'outrigger-dev-';
/** The state of the account; each test begins with a complete one. */
export const account: Account = { mappings: [], unreserved: 1000, parameters: {} };
/** How far the clock of the API server, and of the watchers, is ahead of doctor's. */
export const clusterClock = { aheadMs: 0 };
const clusterNowMs = () => Date.now() + clusterClock.aheadMs;
/** Writes the entry of a cluster. There is one, berlin, before each test. */
export function setEntry(name: string, fields: object): void {
  account.parameters[`/outrigger/dev/clusters/${name}`] = JSON.stringify(fields);
}
const consumed = [...registry.map(({ name }) => `${name}.fifo`), 'timers', 'resync'];
/** The maximum concurrency of all functions together. */
export const most = 10 * consumed.length;
const startMs = 60_000;
const there: {
  queues?: TestQueues;
  services?: Awaited<ReturnType<typeof startAwsServices>>;
  server?: ApiServer;
  iam?: FakeIdentity;
} = {};

/** The queues of the deployment. */
export const queues = (): TestQueues => {
  if (there.queues === undefined) throw new Error('not started');
  return there.queues;
};

/** The address of the cluster. */
export const serverUrl = (): string => there.server?.url ?? '';
/** The paths of the reads of the cluster so far. */
export const reads = (): readonly string[] =>
  (there.server?.requests() ?? []).filter(({ method }) => method === 'GET').map(({ path }) => path);
/** The id by which SQS names the watcher, as the watcher wrote it. */
export const senderId = 'AROAWATCHER00000';
/** The roles of the account. */
export const roles = (): Map<string, string> => {
  if (there.iam === undefined) throw new Error('not started');
  return there.iam.roles;
};

async function createQueue(queue: ExpectedQueue): Promise<void> {
  const { name, attributes, deadLetters } = queue;
  const { name: deadLetterQueue, maxReceiveCount } = deadLetters ?? {};
  const deadLetterTargetArn = `arn:aws:sqs:us-east-1:000000000000:${prefix}${deadLetterQueue}`;
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount });
  const redrive = deadLetters === undefined ? {} : { RedrivePolicy };
  const Attributes = { ...attributes, ...redrive, Policy: queuePolicy(`${queues().urlPrefix}${prefix}`, queue) };
  await queues().sqs.send(new CreateQueueCommand({ QueueName: `${prefix}${name}`, Attributes }));
}

/** The event source mapping of a queue. */
export const mappingOf = (name: string, more: object = {}) => ({
  UUID: `uuid-of-${name}`,
  State: 'Enabled',
  EventSourceArn: `arn:aws:sqs:us-east-1:000000000000:${prefix}${name}`,
  FunctionResponseTypes: ['ReportBatchItemFailures'],
  ScalingConfig: { MaximumConcurrency: 10 },
  ...more,
});
/** Starts the deployment for the tests of a file. */
export function useDeployment(): void {
  beforeAll(async () => {
    there.queues = await startTestQueues();
    there.services = await startAwsServices(account);
    there.server = await startApiServer({ now: () => new Date(clusterNowMs()) });
    there.iam = await startFakeIdentity();
    const expected: readonly ExpectedQueue[] = expectedQueues(registry);
    // Dead-letter queues come first: the redrive policies of the others need them.
    for (const queue of expected.filter(({ deadLetters }) => deadLetters === undefined)) await createQueue(queue);
    for (const queue of expected.filter(({ deadLetters }) => deadLetters !== undefined)) await createQueue(queue);
    const client = createClient({ server: new URL(there.server.url) });
    await applyManifests(client, kindManifests(), {
      signal: AbortSignal.timeout(startMs),
    });
    client.close();
    await setWatchers();
  }, startMs);
  afterAll(async () => {
    await there.queues?.stop();
    there.services?.close();
    there.iam?.close();
    await there.server?.close();
  });
  beforeEach(() => {
    account.mappings = consumed.map((name) => mappingOf(name));
    account.unreserved = 1000;
    account.subscriptions = 1;
    account.parameters = {};
    delete account.table;
    delete account.functions;
    delete account.schedule;
    delete account.logs;
    account.metrics = {};
    delete account.queueUrlPrefix;
    delete account.logLevel;
    setEntry('berlin', { server: there.server?.url, access: { type: 'none' } });
  });
}

/** Writes the watch checkpoint, as watchers do that list water tanks, each in a scope. */
export async function setWatchers(...scopes: readonly CheckpointScope[]): Promise<void> {
  const client = createClient({ server: new URL(serverUrl()) });
  const checkpoint = await readCheckpoint(client);
  const confirmed = { version: '1', confirmedAtMs: clusterNowMs() };
  const resource = watchListOf(registry).resources.find(({ plural }) => plural === 'watertanks');
  if (resource === undefined) throw new Error('water tanks are not watched');
  const entries = new Map(scopes.map((scope) => [entryNameOf(resource, scope), confirmed] as const));
  const text = formatCheckpoint({ cluster: 'uid', lastSeenAtMs: clusterNowMs(), senderId, entries });
  await writeCheckpoint(client, { text, resourceVersion: checkpoint?.resourceVersion ?? '' });
  client.close();
}

/** Runs a command on the stage. */
export async function onStage(command: Command, ...argv: readonly string[]) {
  const env = {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_SQS: queues().endpoint,
    AWS_ENDPOINT_URL_IAM: there.iam?.url ?? '',
    AWS_ENDPOINT_URL: there.services?.url ?? '',
  };
  return await runHere(command, ['--stage', 'dev', ...argv], env);
}
/** Runs the command. */
export const doctor = async (...argv: readonly string[]) => await onStage(doctorCommand(), ...argv);
const finding = z.object({ state: z.string(), about: z.string(), message: z.string(), fix: z.string().optional() });
/** Runs the command, and returns all findings, and those that are not ok. */
export async function findings(...argv: readonly string[]) {
  const { out, status } = await doctor('--output', 'json', ...argv);
  const all = z.array(finding).parse(JSON.parse(out));
  return { all, bad: all.filter(({ state }) => state !== 'ok'), status };
}
