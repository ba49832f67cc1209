// Every call to AWS of a system that runs, held against the policies that would be deployed: all are allowed, to whoever made them, and
// nothing is allowed that nobody needs. The queues are behind a proxy that notes who asks for what; Systems Manager and Secrets Manager,
// which one machine does without, are asked by the product's own clients.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { GetQueueAttributesCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { SSMClient } from '@aws-sdk/client-ssm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { build } from '../../src/cli/build.ts';
import { createGetSecret } from '../../src/clusters/auth/secrets-manager.ts';
import { createSsmSource } from '../../src/clusters/registry/ssm-source.ts';
import { registry } from '../../src/controllers/registry.ts';
import {
  controllerDeadLetters,
  controllerQueue,
  resyncDeadLetters,
  resyncQueue,
  timersDeadLetters,
  timersQueue,
} from '../../src/core/names.ts';
import { type Dev, startDev } from '../../src/dev/system.ts';
import { localRegion } from '../../src/local/lambda/account.ts';
import { type LocalSqs, startSqs } from '../../src/dev/sqs-server.ts';
import { type ChaosProxy, startChaosProxy } from '../chaos/chaos-proxy.ts';
import { packageTemplate } from '../generate/package-template.ts';
import { type DeployedPolicies, deployedPolicies } from './deployed-policies.ts';
import { localArn, madeCallOf } from './parse-call.ts';
import { type Call, isAllowed, matches } from './policy.ts';

const root = path.resolve(import.meta.dirname, '../..');
const startSeconds = 300;
const prefix = 'outrigger-dev-';
const functions = [...registry.map(({ name }) => name), 'timers', 'resync'];

/** What only AWS itself does in a function's role, and what for. */
const itsOwn: Readonly<Record<string, string>> = {
  'sqs:ReceiveMessage': 'the event source mapping polls',
  'sqs:DeleteMessage': 'the event source mapping deletes what is done; functions do only where a batch takes long',
  'sqs:GetQueueAttributes': 'the event source mapping looks at the queue',
  'logs:CreateLogStream': 'Lambda keeps what a function writes',
  'logs:PutLogEvents': 'Lambda keeps what a function writes',
  'lambda:InvokeFunction': 'the schedule calls the resync in its role',
};

const calls = new Map<string, Call[]>();
let folder: string;
let sqs: LocalSqs;
let proxy: ChaosProxy;
let dev: Dev;
let policies: DeployedPolicies;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-calls-'));
  sqs = await startSqs();
  proxy = await startChaosProxy({ url: sqs.endpoint });
  proxy.rule((asked) => {
    const call = madeCallOf(asked);
    if (call === undefined) return undefined;
    calls.set(call.who, [...(calls.get(call.who) ?? []), call]);
    if (call.action.startsWith('sqs:')) return undefined;
    const headers = { 'content-type': 'application/x-amz-json-1.1' };
    const answer = { Parameter: { Value: '{}' }, Parameters: [], SecretString: 'hunter2' };
    return { type: 'answer', status: 200, headers, body: JSON.stringify(answer) };
  });
  const samples = path.join(root, 'infra/kubernetes/samples');
  const options = {
    ...{ folder, queueEndpoint: proxy.url, apply: [samples] },
    resyncSeconds: { tick: 2, period: 10, grace: 2 },
  };
  const starting = AbortSignal.timeout(startSeconds * 1000);
  dev = await startDev({ controllers: registry, build, root }, options, starting);

  policies = deployedPolicies(await packageTemplate('dev'));
}, startSeconds * 1000);
afterAll(async () => {
  await dev?.close();
  await proxy?.close();
  await sqs?.close();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

const letters = async (queue: string): Promise<number> => {
  const command = new GetQueueAttributesCommand({
    QueueUrl: dev.queues[queue],
    AttributeNames: ['ApproximateNumberOfMessages'],
  });
  return Number((await dev.sqs.send(command)).Attributes?.ApproximateNumberOfMessages ?? 0);
};
const madeBy = (who: string, action: string, queue: string): boolean =>
  (calls.get(who) ?? []).some((call) => call.action === action && call.resource === localArn('sqs', prefix + queue));

describe('of the calls to AWS of a system that runs', { timeout: 240_000 }, () => {
  it('there are all that its parts make: what is done, what waits, what is given up, what the resync finds', async () => {
    await dev.untilReady(AbortSignal.timeout(200_000));
    const feeds = [
      ...registry.map(({ name }) => [controllerQueue(name), controllerDeadLetters(name)] as const),
      [timersQueue, timersDeadLetters] as const,
      [resyncQueue, resyncDeadLetters] as const,
    ];
    for (const [queue] of feeds) {
      const fifo = queue.endsWith('.fifo') ? { MessageGroupId: 'g', MessageDeduplicationId: 'd' } : {};
      await dev.sqs.send(new SendMessageCommand({ QueueUrl: dev.queues[queue], MessageBody: 'no message', ...fifo }));
    }
    for (const [, dead] of feeds) await expect.poll(() => letters(dead), { timeout: 60_000 }).toBeGreaterThan(0);
    await expect
      .poll(() => madeBy(`${prefix}resync`, 'sqs:GetQueueAttributes', 'water-tank.fifo'), { timeout: 60_000 })
      .toBe(true);
    for (const name of functions) {
      const client = {
        endpoint: proxy.url,
        region: localRegion,
        credentials: { accessKeyId: prefix + name, secretAccessKey: 'x' },
      };
      if (name === 'timers') continue;
      const source = createSsmSource(new SSMClient(client), '/outrigger/dev/clusters/');
      await source.read('prod-1');
      if (name === 'resync') await source.readAll();
      await createGetSecret(new SecretsManagerClient(client))('outrigger/dev/clusters/prod-1', 'here');
    }
  });

  it.each([
    ...functions.map((name) => prefix + name),
    'watcher',
  ])('%s makes none that its policy does not allow', (who) => {
    const statements = policies.get(who) ?? [];
    expect(statements).not.toEqual([]);
    expect(calls.get(who) ?? []).not.toEqual([]);
    expect((calls.get(who) ?? []).filter((call) => !isAllowed(statements, call))).toEqual([]);
  });

  it.each([
    ...functions.map((name) => prefix + name),
    'watcher',
  ])('%s needs every action of its policy, but for what AWS does in its role', (who) => {
    const made = calls.get(who) ?? [];
    const actions = (policies.get(who) ?? []).flatMap((statement) =>
      statement.Action.map((action) => ({ ...statement, Action: [action] })),
    );
    const idle = actions.filter((one) => !made.some((call) => matches(one, call)));
    expect(idle.map(({ Action: [action = ''] }) => action).filter((action) => itsOwn[action] === undefined)).toEqual(
      [],
    );
  });

  it('nobody else makes any, but for who polls for the functions', () => {
    expect([...calls.keys()].sort()).toEqual([...functions.map((name) => prefix + name), 'local', 'watcher'].sort());
  });
});
