// Every call to AWS of a running system, compared with the policies that would be deployed: all calls are allowed for
// their callers, and every allowed action is needed. A proxy records the callers and calls of the queues; S3 and
// Secrets Manager, which one machine does not have, are called by the product's own clients.
import path from 'node:path';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { build } from '@outrigger/cli/commands/build';
import { localRegion } from '@outrigger/cli/dev/lambda/account';
import { type LocalSqs, startSqs, urlPrefixOf } from '@outrigger/cli/dev/sqs-server';
import { type Dev, startDev } from '@outrigger/cli/dev/system';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createGetSecret } from '../../src/clusters/auth/secrets-manager.ts';
import { registry } from '../../src/controllers/registry.ts';
import { silentLog } from '../../src/core/log.ts';
import {
  controllerDeadLetterQueue,
  controllerQueue,
  resyncDeadLetterQueue,
  resyncQueue,
  timersDeadLetterQueue,
  timersQueue,
  wakeFunction,
} from '../../src/core/names.ts';
import { createSend } from '../../src/sqs/send.ts';
import { createWake } from '../../src/waking/wake.ts';
import { type ChaosProxy, startChaosProxy } from '../../tools/chaos/chaos-proxy.ts';
import { devTemplate } from '../generate/package-template.ts';
import { useFolder } from '../support/folder.ts';
import { type DeployedPolicies, deployedPolicies } from './deployed-policies.ts';
import { openTableObject } from './emulated-table.ts';
import { localArn, parseCall } from './parse-call.ts';
import { appliesTo, type Call, isAllowed } from './policy.ts';

const root = path.resolve(import.meta.dirname, '../..');
const startSeconds = 300;
const prefix = 'outrigger-dev-';
const functions = [...registry.map(({ name }) => name), timersQueue, resyncQueue, wakeFunction];

/** Actions in a function's role that only AWS itself uses, or functions after a failure, and why. */
const usedByAws: Readonly<Record<string, string>> = {
  'sqs:ReceiveMessage': 'the event source mapping receives messages',
  'sqs:DeleteMessage': 'the event source mapping deletes processed messages; functions do so only in long batches',
  'sqs:ChangeMessageVisibility': 'functions return a message whose follow-up SQS rejected',
  'sqs:GetQueueAttributes': "the event source mapping reads the queue's attributes",
  's3:ListBucket': 'S3 requires it to tell that an object is missing',
  'logs:CreateLogStream': "Lambda stores the function's log",
  'logs:PutLogEvents': "Lambda stores the function's log",
};

const calls = new Map<string, Call[]>();
const folder = useFolder({ shared: true });
let sqs: LocalSqs;
let proxy: ChaosProxy;
let dev: Dev;
let policies: DeployedPolicies;

beforeAll(async () => {
  sqs = await startSqs();
  proxy = await startChaosProxy({ url: sqs.endpoint });
  proxy.rule((asked) => {
    const call = parseCall(asked);
    if (call === undefined) return undefined;
    calls.set(call.caller, [...(calls.get(call.caller) ?? []), call]);
    if (call.action.startsWith('sqs:')) return undefined;
    const headers = { 'content-type': 'application/x-amz-json-1.1' };
    if (call.action.startsWith('s3:')) return { type: 'respond', status: 200, headers: { etag: '"1"' }, body: '{}' };
    const answer = { SecretString: 'hunter2' };
    return { type: 'respond', status: 200, headers, body: JSON.stringify(answer) };
  });
  const samples = path.join(root, 'infra/kubernetes/samples');
  const options = {
    folder: folder.path,
    queueEndpoint: proxy.url,
    apply: [samples],
    resyncSeconds: { tick: 2, period: 10, grace: 2 },
  };
  const starting = AbortSignal.timeout(startSeconds * 1000);
  dev = await startDev({ controllers: registry, build, root }, options, starting);

  policies = deployedPolicies(await devTemplate());
}, startSeconds * 1000);
afterAll(async () => {
  await dev?.close();
  await proxy?.close();
  await sqs?.close();
}, 60_000);

const countDeadLetters = async (queue: string): Promise<number> => {
  const command = new GetQueueAttributesCommand({
    QueueUrl: dev.queues[queue],
    AttributeNames: ['ApproximateNumberOfMessages'],
  });
  return Number((await dev.sqs.send(command)).Attributes?.ApproximateNumberOfMessages ?? 0);
};
const madeBy = (caller: string, action: string, queue: string): boolean =>
  (calls.get(caller) ?? []).some((call) => call.action === action && call.resource === localArn('sqs', prefix + queue));

describe('calls to AWS of a running system', { timeout: 240_000 }, () => {
  // All kinds of calls: reconciles, timers, dead letters and a resync.
  beforeAll(async () => {
    await dev.untilReady(AbortSignal.timeout(200_000));
    const feeds = [
      ...registry.map(({ name }) => [controllerQueue(name), controllerDeadLetterQueue(name)] as const),
      [timersQueue, timersDeadLetterQueue] as const,
      [resyncQueue, resyncDeadLetterQueue] as const,
    ];
    for (const [queue] of feeds) {
      const fifo = queue.endsWith('.fifo') ? { MessageGroupId: 'g', MessageDeduplicationId: 'd' } : {};
      await dev.sqs.send(new SendMessageCommand({ QueueUrl: dev.queues[queue], MessageBody: 'no message', ...fifo }));
    }
    for (const [, dead] of feeds)
      await vi.waitUntil(async () => (await countDeadLetters(dead)) > 0, { timeout: 60_000, interval: 250 });
    await vi.waitUntil(() => madeBy(`${prefix}resync`, 'sqs:GetQueueAttributes', 'water-tank.fifo'), {
      timeout: 60_000,
    });
    for (const name of functions) {
      const credentials = { accessKeyId: prefix + name, secretAccessKey: 'x' };
      const client = { endpoint: proxy.url, region: localRegion, credentials };
      const getSecret = createGetSecret(new SecretsManagerClient(client));
      if (name === 'timers') {
        // The reference to the secret of the deduplication ids, as the template is resolved here.
        await getSecret('outrigger-local-DeduplicationSecret', 'here');
        continue;
      }
      const bucket = { aws: proxy.url, region: localRegion, credentials };
      await openTableObject(bucket, 'outrigger-local-clustersbucket').get();
      if (name === wakeFunction) {
        // EventBridge calls it, which one machine does not have. The second event of a key within a second waits.
        const tank = { namespace: 'default', name: 'north' };
        const event = { source: 'plant.example.com', detailType: 'LevelChanged', detail: { tank } };
        const send = createSend(new SQSClient(client), urlPrefixOf(dev.queues));
        const listClusters = async () => ['local'];
        const wake = createWake({ registry, listClusters, send, log: silentLog, nowMs: () => 0 });
        for (const id of ['first', 'second']) await wake({ ...event, id }, { signal: AbortSignal.timeout(10_000) });
        continue;
      }
      await getSecret('outrigger/dev/clusters/prod-1', 'here');
    }
  }, 240_000);

  const callers = [...functions.map((name) => prefix + name), 'watcher'];
  // Control T11.
  it.each(callers)('%s makes only calls that its policy allows', (caller) => {
    const statements = policies.get(caller) ?? [];
    expect(statements).not.toEqual([]);
    expect(calls.get(caller) ?? []).not.toEqual([]);
    expect((calls.get(caller) ?? []).filter((call) => !isAllowed(statements, call))).toEqual([]);
  });

  // Control T12.
  it.each(callers)('%s needs every action of its policy, except those that AWS uses in its role', (caller) => {
    const made = calls.get(caller) ?? [];
    const actions = (policies.get(caller) ?? []).flatMap((statement) =>
      statement.Action.map((action) => ({ ...statement, Action: [action] })),
    );
    const idle = actions.filter((one) => !made.some((call) => appliesTo(one, call)));
    expect(idle.map(({ Action: [action = ''] }) => action).filter((action) => usedByAws[action] === undefined)).toEqual(
      [],
    );
  });

  it('no other caller makes calls, except the local event source mappings', () => {
    expect([...calls.keys()].sort()).toEqual([...callers, 'local'].sort());
  });
});
