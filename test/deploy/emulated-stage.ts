// A stage in one region of an emulated account: osls has deployed its stack, its functions run here with the variables
// that the account has, and their lines are in the account's logs. A call to SQS is allowed if the policies of the
// caller and of the queue say so.
import path from 'node:path';
import { CloudWatchLogsClient, CreateLogStreamCommand, PutLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { localAccountId } from '@outrigger/cli/dev/lambda/account';
import { type LocalLambda, startLambda } from '@outrigger/cli/dev/lambda/local-lambda';
import { createQueues, type LocalQueue } from '@outrigger/cli/dev/lambda/queues';
import { readStack, type Stack } from '@outrigger/cli/dev/lambda/stack';
import { parseTemplate } from '@outrigger/cli/dev/lambda/template';
import { createLocalSqsClient, startSqs } from '@outrigger/cli/dev/sqs-server';
import { type Rule, startChaosProxy } from '../../tools/chaos/chaos-proxy.ts';
import { type CommandResult, runHere } from '../cli/command-result.ts';
import { messagesOn } from '../support/messages-on.ts';
import { type ServiceFolder, sampleSettings } from '../support/service-folder.ts';
import { createAccount } from './account.ts';
import { deployedPolicies, deployedQueuePolicies } from './deployed-policies.ts';
import type { EmulatedAccount } from './emulated-account.ts';
import { changeEntries } from './emulated-table.ts';
import { parseCall } from './parse-call.ts';
import { mayCall, type Principal } from './policy.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** A stage that runs. */
export type EmulatedStage = {
  readonly stack: Stack;
  readonly lambda: LocalLambda;
  readonly queues: readonly LocalQueue[];
  /** A client of the queues that no policy holds back. */
  readonly sqs: SQSClient;
  /** What the URLs of the queues begin with. */
  readonly urlPrefix: string;
  /** The messages of a queue (`foo.fifo`), those in flight and delayed included. */
  depth(queue: string): Promise<number>;
  /** Who calls SQS with which permissions, by the id of the key that signs: a function's name. Others may do all. */
  readonly principals: Map<string, Principal>;
  /** Functions whose recursion setting is not that of the template. */
  readonly terminated: Set<string>;
  /** The environment with which a program uses the account, with permissions. */
  readonly environment: Readonly<Record<string, string>>;
  /** Creates the queues that are gone. */
  createQueues(): Promise<readonly LocalQueue[]>;
  setTable(entries: ReadonlyMap<string, object>): Promise<void>;
  /** Deletes the table; returns what deletes the delete marker. */
  deleteTable(): Promise<() => Promise<void>>;
  /** Creates the schedule of the resync, which the emulator does not take from the template, or deletes it. */
  schedule(method: 'POST' | 'DELETE'): Promise<void>;
  /** Runs a command of the CLI on the stage. */
  run(command: Parameters<typeof runHere>[0], argv: readonly string[]): Promise<CommandResult>;
};

/** Deploys and starts a stage; `parts` ends it. Throws with the output of osls. */
export async function openStage(
  parts: AsyncDisposableStack,
  {
    aws,
    service,
    stage,
    params,
  }: {
    readonly aws: EmulatedAccount;
    readonly service: ServiceFolder;
    readonly stage: string;
    readonly params: readonly string[];
  },
): Promise<EmulatedStage> {
  const prefix = `outrigger-${stage}-`;
  const deployed = await service.osls(['deploy', '--stage', stage, '--region', aws.region, ...params], aws.environment);
  if (deployed.status !== 0) throw new Error(deployed.output + deployed.progress);
  const template = await service.template();
  const principals = new Map(
    [...deployedPolicies(template)].map(([name, statements]): [string, Principal] => {
      return [name, { arn: `arn:aws:iam::${localAccountId}:role/${name}`, statements }];
    }),
  );
  const queuePolicies = deployedQueuePolicies(template);
  const terminated = new Set<string>();
  const invoke = (name: string, event: unknown) =>
    void lambda.functions
      .find((one) => one.name === name)
      ?.invoke(event)
      .catch(() => undefined);
  const rule: Rule = (asked) => {
    if (asked.headers['x-amz-target'] === 'AmazonSQS.GetQueueUrl')
      return respond(200, { QueueUrl: `${urlPrefix}${JSON.parse(asked.body).QueueName.slice(prefix.length)}` });
    const emulated = lacking(asked, { terminated, invoke });
    if (emulated !== undefined) return emulated;
    const call = String(asked.headers['x-amz-target']).startsWith('AmazonSQS') ? parseCall(asked) : undefined;
    const principal = principals.get(call?.caller ?? '');
    if (call === undefined || principal === undefined) return undefined;
    const policy = queuePolicies.get(call.resource.split(':').at(-1) ?? '') ?? [];
    if (mayCall(principal, call, policy)) return undefined;
    return respond(403, { __type: 'com.amazon.coral.service#AccessDeniedException', message: `no ${call.action}` });
  };
  const guarded = async (url: string) => {
    const proxy = await startChaosProxy({ url });
    parts.defer(() => proxy.close());
    proxy.rule(rule);
    return proxy.url;
  };
  const endpoint = await guarded(aws.client.endpoint);
  // moto gives a message to several receives at once.
  const server = await startSqs();
  parts.defer(() => server.close());
  const queueEndpoint = await guarded(server.endpoint);
  const sqs = createLocalSqsClient(server.endpoint);
  parts.defer(() => sqs.destroy());

  const { PLANT_URL, PANTRY_URL } = sampleSettings;
  const parameters = { PlantUrl: PLANT_URL, PantryUrl: PANTRY_URL };
  const { region, accountId } = aws;
  const packaged = readStack(parseTemplate(template), { region, accountId, parameters });
  const account = createAccount(aws, prefix);
  const log = await openLogs(
    new CloudWatchLogsClient(aws.client),
    packaged.functions.map(({ name }) => name),
  );
  const functions = await Promise.all(
    packaged.functions.map(async (one) => {
      const { Environment } = await account.function(one.name.slice(prefix.length));
      // A role has its region in its name, and so has the token with which a function signs in to EKS here.
      const more: Record<string, string> = { AWS_ENDPOINT_URL_SQS: queueEndpoint, AWS_SESSION_TOKEN: region };
      return { ...one, environment: { ...Environment?.Variables, ...more } };
    }),
  );
  const table = functions.flatMap(({ environment }) => environment.CLUSTERS ?? [])[0] ?? '';
  const { host: bucket, pathname: key } = new URL(table);
  const stack = { ...packaged, functions, schedules: [] };
  const makeQueues = async () =>
    await createQueues(sqs, stack.queues, { endpoint: queueEndpoint, signal: AbortSignal.timeout(60_000) });
  const queues = await makeQueues();
  const urlPrefix = queues[0]?.url.replace(/[^/]*$/, prefix) ?? '';
  const lambda = startLambda(
    {
      stack,
      queues,
      client: sqs,
      queueEndpoint: endpoint,
      taskRoot: root,
      onEvent: (event) => log(event.function, event.type === 'line' ? event.text : event.error.message),
      onProcesses: () => undefined,
    },
    { region, accountId, concurrency: 1, longPollSeconds: 1 },
  );
  parts.defer(() => lambda.stop());
  const environment = { ...aws.environment, AWS_ENDPOINT_URL: endpoint, AWS_ENDPOINT_URL_SQS: queueEndpoint };
  return {
    stack,
    lambda,
    queues,
    sqs,
    urlPrefix,
    principals,
    terminated,
    environment,
    depth: messagesOn(sqs, urlPrefix),
    createQueues: makeQueues,
    setTable: (to) => changeEntries({ aws: aws.client.endpoint, ...aws.client }, () => to, bucket),
    deleteTable: async () => {
      const object = `${aws.client.endpoint}/${bucket}${key}`;
      const { headers } = await unsigned(aws, 's3', object, { method: 'DELETE' });
      const marker = `${object}?versionId=${headers.get('x-amz-version-id')}`;
      return async () => void (await unsigned(aws, 's3', marker, { method: 'DELETE' }));
    },
    schedule: (method) => schedule(aws, prefix, method),
    run: (command, argv) => runHere(command, argv, environment),
  };
}

const respond = (status: number, body: object) => ({ type: 'respond', status, body: JSON.stringify(body) }) as const;

/** What moto lacks: invocations, and the settings of recursion and of the account. */
function lacking(
  { url, body }: Parameters<Rule>[0],
  deps: { readonly terminated: ReadonlySet<string>; readonly invoke: (name: string, event: unknown) => void },
) {
  const [, name = '', what] =
    /^\/\d{4}-\d{2}-\d{2}\/functions\/([^/]+)\/(invocations|recursion-config)/.exec(url) ?? [];
  if (what === 'invocations') {
    deps.invoke(name, JSON.parse(body));
    return respond(202, {});
  }
  if (what !== undefined) return respond(200, { RecursiveLoop: deps.terminated.has(name) ? 'Terminate' : 'Allow' });
  if (!url.endsWith('/account-settings')) return undefined;
  return respond(200, { AccountLimit: { UnreservedConcurrentExecutions: 1000 } });
}

/** Returns what puts a line into the log of a function, in order. */
async function openLogs(logs: CloudWatchLogsClient, names: readonly string[]) {
  const streamOf = (name: string) => ({ logGroupName: `/aws/lambda/${name}`, logStreamName: 'one' });
  await Promise.all(names.map((name) => logs.send(new CreateLogStreamCommand(streamOf(name)))));
  let before: Promise<unknown> = Promise.resolve();
  return (name: string, message: string) => {
    const line = new PutLogEventsCommand({ ...streamOf(name), logEvents: [{ timestamp: Date.now(), message }] });
    before = before.then(() => logs.send(line)).catch(() => undefined);
  };
}

/** Sends a request without a signature, which the emulator does not check. Throws with the answer if it is refused. */
async function unsigned({ region }: EmulatedAccount, service: string, url: string, init: RequestInit) {
  const authorization = `AWS4-HMAC-SHA256 Credential=anyone/20260101/${region}/${service}/aws4_request`;
  const answer = await fetch(url, { ...init, headers: { authorization, 'content-type': 'application/json' } });
  if (!answer.ok) throw new Error(`${init.method} ${url}: ${answer.status} ${await answer.text()}`);
  return answer;
}

async function schedule(aws: EmulatedAccount, prefix: string, method: 'POST' | 'DELETE') {
  const { region, accountId, client } = aws;
  const Target = {
    Arn: `arn:aws:lambda:${region}:${accountId}:function:${prefix}resync`,
    RoleArn: `arn:aws:iam::${accountId}:role/${prefix}schedule-${region}`,
  };
  const body = { ScheduleExpression: 'rate(10 minutes)', FlexibleTimeWindow: { Mode: 'OFF' }, Target };
  const given = method === 'POST' ? { body: JSON.stringify(body) } : {};
  await unsigned(aws, 'scheduler', `${client.endpoint}/schedules/${prefix}resync`, { method, ...given });
}

/** The same account in another region. */
export function inRegion(aws: EmulatedAccount, region: string): EmulatedAccount {
  return {
    ...aws,
    region,
    environment: { ...aws.environment, AWS_REGION: region },
    client: { ...aws.client, region },
  };
}
