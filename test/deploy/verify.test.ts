// `outrigger verify` on an emulated account: osls has deployed the stack, its functions run here with the variables that
// the account has, and their lines are in the account's logs. A call to SQS is allowed if the role of its function has
// the permission. Then the deployment is broken, one part at a time.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CloudWatchLogsClient, CreateLogStreamCommand, PutLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import {
  CreateEventSourceMappingCommand,
  DeleteEventSourceMappingCommand,
  LambdaClient,
  ListEventSourceMappingsCommand,
} from '@aws-sdk/client-lambda';
import { CreateSecretCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { type ApiServer, startApiServer } from '@outrigger/apiserver';
import { build } from '@outrigger/cli/commands/build';
import { verifyCommand } from '@outrigger/cli/commands/verify/verify';
import { buildBundles } from '@outrigger/cli/dev/artifacts';
import { localRegion } from '@outrigger/cli/dev/lambda/account';
import { type LocalLambda, startLambda } from '@outrigger/cli/dev/lambda/local-lambda';
import { createQueues } from '@outrigger/cli/dev/lambda/queues';
import { readStack } from '@outrigger/cli/dev/lambda/stack';
import { parseTemplate } from '@outrigger/cli/dev/lambda/template';
import { createLocalSqsClient, startSqs } from '@outrigger/cli/dev/sqs-server';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { type ChaosProxy, startChaosProxy } from '../../tools/chaos/chaos-proxy.ts';
import { runHere } from '../cli/command-result.ts';
import { messagesOn } from '../support/messages-on.ts';
import { replaceBetween } from '../support/replace-between.ts';
import {
  type OslsResult,
  paramsOf,
  type ServiceFolder,
  sampleSettings,
  serviceFolder,
} from '../support/service-folder.ts';
import { type Account, createAccount } from './account.ts';
import { type DeployedPolicies, deployedPolicies } from './deployed-policies.ts';
import { type EmulatedAccount, startEmulatedAccount } from './emulated-account.ts';
import { changeEntries } from './emulated-table.ts';
import { parseCall } from './parse-call.ts';
import { isAllowed, type Statement } from './policy.ts';

const page = 'docs/run/verify.md';
const root = path.resolve(import.meta.dirname, '../..');
const stage = 'proof';
const prefix = `outrigger-${stage}-`;
const scheduleName = `${prefix}resync`;
const secret = `outrigger/${stage}/clusters/munich`;
const everything = new AsyncDisposableStack();

let aws: EmulatedAccount;
let service: ServiceFolder;
let proxy: ChaosProxy;
let queueProxy: ChaosProxy;
let server: ApiServer;
let lambda: LocalLambda;
let depthOf: ReturnType<typeof messagesOn>;
let account: Account;
let setTable: (to: ReadonlyMap<string, object>) => Promise<void>;
let policies: Map<string, readonly Statement[]>;
/** Functions whose recursion setting is not that of the template. */
const terminated = new Set<string>();
let logging = Promise.resolve();

/** What moto lacks: invocations, the settings of recursion and of the account, and permissions. */
function emulate(asked: Parameters<Parameters<ChaosProxy['rule']>[0] & object>[0]) {
  const [, name = '', what] =
    /^\/\d{4}-\d{2}-\d{2}\/functions\/([^/]+)\/(invocations|recursion-config)/.exec(asked.url) ?? [];
  const respond = (status: number, body: object) => ({ type: 'respond', status, body: JSON.stringify(body) }) as const;
  if (what === 'invocations') {
    void lambda.functions.find((one) => one.name === name)?.invoke(JSON.parse(asked.body));
    return respond(202, {});
  }
  if (what !== undefined) return respond(200, { RecursiveLoop: terminated.has(name) ? 'Terminate' : 'Allow' });
  if (asked.url.endsWith('/account-settings'))
    return respond(200, { AccountLimit: { UnreservedConcurrentExecutions: 1000 } });
  if (!String(asked.headers['x-amz-target']).startsWith('AmazonSQS')) return undefined;
  const call = parseCall(asked);
  const statements = call && policies.get(call.caller);
  if (call === undefined || statements === undefined || isAllowed(statements, call)) return undefined;
  return respond(403, { __type: 'com.amazon.coral.service#AccessDeniedException', message: `no ${call.action}` });
}

function keepLine(logs: CloudWatchLogsClient, name: string, message: string): void {
  const stream = { logGroupName: `/aws/lambda/${name}`, logStreamName: 'one' };
  const logEvents = [{ timestamp: Date.now(), message }];
  logging = logging
    .then(async () => void (await logs.send(new PutLogEventsCommand({ ...stream, logEvents }))))
    .catch(() => undefined);
}

async function putSchedule(): Promise<void> {
  const arn = `arn:aws:lambda:${aws.region}:${aws.accountId}:function:${prefix}resync`;
  const target = { Arn: arn, RoleArn: `arn:aws:iam::${aws.accountId}:role/${prefix}schedule-${aws.region}` };
  await scheduler('POST', {
    ...{ ScheduleExpression: 'rate(10 minutes)', FlexibleTimeWindow: { Mode: 'OFF' }, Target: target },
  });
}

async function scheduler(method: string, body?: object): Promise<void> {
  const authorization = `AWS4-HMAC-SHA256 Credential=anyone/20260101/${aws.region}/scheduler/aws4_request`;
  const request = { method, headers: { authorization, 'content-type': 'application/json' } };
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(`${aws.client.endpoint}/schedules/${scheduleName}`, { ...request, ...text });
  if (!answer.ok) throw new Error(`${method} of the schedule: ${answer.status} ${await answer.text()}`);
}

beforeAll(async () => {
  const signal = AbortSignal.timeout(400_000);
  [aws, service, server] = await Promise.all([startEmulatedAccount(localRegion), serviceFolder(), startApiServer()]);
  everything.defer(() => aws.close());
  everything.defer(() => service.remove());
  everything.defer(() => server.close());
  await buildBundles(build, root, signal);
  const params = paramsOf({ ...sampleSettings, SENDER_CHECK: 'off' });
  const deploy = ['deploy', '--stage', stage, '--region', aws.region, ...params];
  const deployed: OslsResult = await service.osls(deploy, aws.environment);
  if (deployed.status !== 0) throw new Error(deployed.progress);
  const template = await service.template();
  policies = new Map(deployedPolicies(template) satisfies DeployedPolicies);
  proxy = await startChaosProxy({ url: aws.client.endpoint });
  everything.defer(() => proxy.close());
  proxy.rule(emulate);
  // moto gives a message to several receives at once.
  const sqs = await startSqs();
  everything.defer(() => sqs.close());
  queueProxy = await startChaosProxy({ url: sqs.endpoint });
  everything.defer(() => queueProxy.close());
  queueProxy.rule(emulate);
  account = createAccount(aws, prefix);
  const { PLANT_URL, PANTRY_URL } = sampleSettings;
  const parameters = { PlantUrl: PLANT_URL, PantryUrl: PANTRY_URL };
  const stack = readStack(parseTemplate(template), { region: aws.region, accountId: aws.accountId, parameters });
  const logs = new CloudWatchLogsClient(aws.client);
  const functions = await Promise.all(
    stack.functions.map(async (one) => {
      await logs.send(new CreateLogStreamCommand({ logGroupName: `/aws/lambda/${one.name}`, logStreamName: 'one' }));
      const { Environment } = await account.function(one.name.slice(prefix.length));
      const more: Record<string, string> = { AWS_ENDPOINT_URL_SQS: queueProxy.url };
      return { ...one, environment: { ...Environment?.Variables, ...more } };
    }),
  );
  const table = functions.flatMap(({ environment }) => environment.CLUSTERS ?? [])[0] ?? '';
  await new SecretsManagerClient(aws.client).send(new CreateSecretCommand({ Name: secret, SecretString: 'a-token' }));
  setTable = async (to) =>
    await changeEntries({ aws: aws.client.endpoint, ...aws.client }, () => to, new URL(table).host);
  await setTable(entries());
  await putSchedule();
  const client = createLocalSqsClient(queueProxy.url);
  everything.defer(() => client.destroy());
  const queues = await createQueues(client, stack.queues, { endpoint: queueProxy.url, signal });
  depthOf = messagesOn(client, queues[0]?.url.replace(/[^/]*$/, '') ?? '');
  lambda = startLambda(
    {
      ...{ stack: { ...stack, functions, schedules: [] }, queues, client, queueEndpoint: proxy.url, taskRoot: root },
      onEvent: (event) => {
        if (event.type === 'line') keepLine(logs, event.function, event.text);
        else keepLine(logs, event.function, event.error.message);
      },
      onProcesses: () => undefined,
    },
    { region: aws.region, accountId: aws.accountId, concurrency: 1, longPollSeconds: 1 },
  );
  everything.defer(() => lambda.stop());
}, 480_000);
afterAll(async () => await everything.disposeAsync());

const entries = (more: Readonly<Record<string, object>> = {}) =>
  new Map<string, object>([
    ['berlin', { server: server.url, access: { type: 'none' } }],
    ['munich', { server: server.url, access: { type: 'secret', secret, holds: 'token', maxAgeSeconds: 1 } }],
    ...Object.entries(more),
  ]);

async function verify(...argv: readonly string[]) {
  return await runHere(verifyCommand(), ['--stage', stage, '--timeout', '40', ...argv], {
    ...aws.environment,
    AWS_ENDPOINT_URL: proxy.url,
    AWS_ENDPOINT_URL_SQS: queueProxy.url,
  });
}

const finding = z.object({ state: z.string(), about: z.string(), message: z.string(), fix: z.string().optional() });
async function bad() {
  const { out, status } = await verify('--json');
  expect(status).toBe(1);
  return z
    .array(finding)
    .parse(JSON.parse(out))
    .filter(({ state }) => state !== 'ok');
}

/** Expects what is wrong on the page, without the lines of what is well. Writes it if the variable WRITE_DOCS is set. */
async function expectDocumented(out: string): Promise<void> {
  const wrong = out.slice(out.indexOf('wrong '));
  const text = await readFile(page, 'utf8');
  const written = replaceBetween(text, `\`\`\`text\n${wrong}\`\`\``, { file: page, name: 'verify-broken' });
  if (process.env.WRITE_DOCS !== undefined) await writeFile(page, written);
  else expect(text).toBe(written);
}

describe('verify', () => {
  it('a whole deployment answers on every route, from every cluster, and exits with 0', async () => {
    const { out, err, status } = await verify();
    expect(out).toMatch(/\n0 wrong, 0 warnings, \d+ ok\n$/);
    expect(status).toBe(0);
    expect(err).toContain('not seen: watchers');
  });

  it('no message of it is left on any queue, dead-letter queues included', async () => {
    const names = await account.queueNames();
    expect(await Promise.all(names.map(depthOf))).toEqual(names.map(() => 0));
  });

  it('a role without SendMessage is named, with the queue', async () => {
    const without = (name: string) => {
      const before = policies.get(prefix + name) ?? [];
      policies.set(
        prefix + name,
        before.filter(({ Action }) => !Action.includes('sqs:SendMessage')),
      );
      onTestFinished(() => void policies.set(prefix + name, before));
    };
    without('foo');
    expect(await bad()).toEqual([
      {
        ...{ state: 'wrong', about: 'function foo' },
        message: expect.stringMatching(/^foo cannot send to timers: AccessDenied/),
        fix: expect.stringContaining('allow it sqs:SendMessage on timers again'),
      },
    ]);
  });

  it('a wrong secret is named, with every function that needs it', async () => {
    const secrets = new SecretsManagerClient(aws.client);
    await secrets.send(new PutSecretValueCommand({ SecretId: secret, SecretString: 'not a token' }));
    onTestFinished(async () => {
      await secrets.send(new PutSecretValueCommand({ SecretId: secret, SecretString: 'a-token' }));
    });
    await lambda.reload();
    expect(await bad()).toEqual([
      {
        ...{ state: 'wrong', about: 'cluster munich' },
        message: expect.stringMatching(/^water-tank, .*, resync: .*token/),
        fix: expect.stringContaining('outrigger doctor --stage proof --cluster munich'),
      },
    ]);
  });

  it('a cluster that is not reachable is named once', async () => {
    await setTable(entries({ oslo: { server: 'http://127.0.0.1:9', access: { type: 'none' } } }));
    onTestFinished(async () => {
      await setTable(entries());
      await lambda.reload();
    });
    await lambda.reload();
    expect(await bad()).toEqual([
      {
        ...{ state: 'wrong', about: 'cluster oslo' },
        message: expect.stringMatching(/^water-tank, .*, resync: .*ECONNREFUSED/),
        fix: expect.stringContaining('its entry, secret and network'),
      },
    ]);
  });

  it('a missing mapping, a wrong recursion setting and an absent schedule are named', async () => {
    const client = new LambdaClient(aws.client);
    const { EventSourceMappings = [] } = await client.send(new ListEventSourceMappingsCommand({}));
    const mapping = EventSourceMappings.find(({ EventSourceArn }) => EventSourceArn?.endsWith('-dinner.fifo'));
    await client.send(new DeleteEventSourceMappingCommand({ UUID: mapping?.UUID }));
    terminated.add(`${prefix}timers`);
    await scheduler('DELETE');
    onTestFinished(async () => {
      terminated.clear();
      await putSchedule();
      const { EventSourceArn, FunctionResponseTypes, ScalingConfig } = mapping ?? {};
      const again = { EventSourceArn, FunctionResponseTypes, ScalingConfig, FunctionName: `${prefix}dinner` };
      await client.send(new CreateEventSourceMappingCommand(again));
    });
    await expectDocumented((await verify()).out);
    const found = await bad();
    expect(found.map(({ state, about, message }) => [state, about, message])).toEqual([
      ['wrong', 'function timers', 'Lambda ends its requeues after 16 rounds (recursive loop detection)'],
      ['wrong', 'function of dinner.fifo', 'no function receives messages from this queue'],
      ['wrong', 'schedule', `there is no schedule ${scheduleName}: the resync does not run`],
    ]);
    expect(found.every(({ fix }) => fix !== undefined)).toBe(true);
  });

  // The last one: this mapping is not started again.
  it('a function that does not answer is named once, whoever waits for it', async () => {
    await lambda.mappings.find(({ queueArn }) => queueArn.endsWith(`:${prefix}timers`))?.stop();
    const { out, status } = await verify('--json', '--timeout', '8');
    expect(status).toBe(1);
    const wrong = z
      .array(finding)
      .parse(JSON.parse(out))
      .filter(({ state }) => state === 'wrong');
    expect(wrong).toMatchObject([
      {
        about: 'function timers',
        message: expect.stringMatching(/^it has not answered what water-tank, .*, wake sent within 8 s$/),
      },
    ]);
  });
});
