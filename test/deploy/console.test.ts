// `outrigger console --stage` as an operator starts it, in a real browser: against a stage that osls deployed to the
// emulated AWS, and two clusters of its table. No function runs there, so a sent message stays on its queue. Excluded:
// the page by itself (test/console/browser).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import {
  CloudWatchLogsClient,
  CreateLogGroupCommand,
  CreateLogStreamCommand,
  PutLogEventsCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import {
  DeleteMessageCommand,
  DeleteQueueCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { type ApiServer, startApiServer } from '@outrigger/apiserver';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Foo } from '../../src/controllers/foo.ts';
import { pausedAnnotation } from '../../src/core/names.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { formatMessage, parseMessage } from '../../src/sqs/message.ts';
import { applySamples } from '../cli/operated-system.ts';
import { eventually, openPage, startBrowser } from '../console/browser/chromium.ts';
import { useFolder } from '../support/folder.ts';
import { paramsOf, type ServiceFolder, sampleSettings, serviceFolder } from '../support/service-folder.ts';
import { type Account, createAccount } from './account.ts';
import { type EmulatedAccount, startEmulatedAccount } from './emulated-account.ts';
import { openTableObject } from './emulated-table.ts';

const root = path.resolve(import.meta.dirname, '../..');
const stage = 'proof';
const prefix = `outrigger-${stage}-`;
const key = {
  controller: 'foo',
  group: 'samples.example.com',
  resource: 'foos',
  namespace: 'default',
  name: 'example',
};
const parts = new AsyncDisposableStack();
let aws: EmulatedAccount;
let account: Account;
let clusters: Readonly<Record<'lab' | 'prod', ApiServer>>;
let sqs: SQSClient;
const folder = useFolder({ shared: true });
let page: Page;
let problems: readonly string[];
let output = '';

/** Starts the command with the operator's credentials. */
function start(argv: readonly string[]) {
  const env = { PATH: process.env.PATH ?? '', HOME: folder.path, ...aws.environment };
  const child = spawn(process.execPath, ['packages/cli/bin/outrigger.js', ...argv], { cwd: root, env });
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => {
      output += String(data);
    });
  return child;
}

async function printed(argv: readonly string[]): Promise<string> {
  const child = start(argv);
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => {
      text += String(data);
    });
  await once(child, 'close');
  return text;
}

async function startCluster(): Promise<ApiServer> {
  const server = await startApiServer();
  parts.defer(() => server.close());
  await applySamples(server, ['foo']);
  return server;
}

async function queueUrl(name: string): Promise<string> {
  const { QueueUrl = '' } = await sqs.send(new GetQueueUrlCommand({ QueueName: `${prefix}${name}` }));
  return QueueUrl;
}

async function log(line: object, name = 'foo'): Promise<void> {
  const client = new CloudWatchLogsClient(aws.client);
  const stream = { logGroupName: `/aws/lambda/${prefix}${name}`, logStreamName: 'one' };
  await client.send(new CreateLogGroupCommand(stream)).catch(() => undefined);
  await client.send(new CreateLogStreamCommand(stream)).catch(() => undefined);
  const logEvents = [{ timestamp: Date.now(), message: JSON.stringify(line) }];
  await client.send(new PutLogEventsCommand({ ...stream, logEvents }));
  client.destroy();
}

/** Takes what is on a queue. */
async function received(name: string): Promise<readonly string[]> {
  const QueueUrl = await queueUrl(name);
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
  for (const { ReceiptHandle } of Messages) await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  return Messages.map(({ Body = '' }) => Body);
}

beforeAll(async () => {
  let service: ServiceFolder;
  [aws, service] = await Promise.all([startEmulatedAccount(), serviceFolder()]);
  parts.defer(() => aws.close());
  parts.defer(() => service.remove());
  account = createAccount(aws, prefix);
  const params = paramsOf(sampleSettings);
  const deployed = await service.osls(['deploy', '--stage', stage, '--region', aws.region, ...params], aws.environment);
  expect(deployed.status, deployed.progress).toBe(0);

  clusters = { lab: await startCluster(), prod: await startCluster() };
  for (const [name, { url }] of Object.entries(clusters)) {
    await folder.write(`${name}.json`, JSON.stringify({ server: url, access: { type: 'none' } }));
    const file = folder.at(`${name}.json`);
    expect(await once(start(['clusters', 'add', name, file, '--stage', stage]), 'exit'), output).toEqual([0, null]);
  }
  sqs = new SQSClient({ ...aws.client, useQueueUrlAsEndpoint: false });
  parts.defer(() => sqs.destroy());
  const body = formatMessage({ ...key, cluster: 'lab', cause: { type: 'change', observedAt: Date.now() } });
  const text = (StringValue: string) => ({ DataType: 'String', StringValue });
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: await queueUrl('foo-dlq.fifo'),
      MessageBody: body,
      MessageGroupId: 'a',
      MessageDeduplicationId: 'a',
      MessageAttributes: { reason: text('RetriesExhausted'), error: text('the pump is stuck'), messageId: text('m-1') },
    }),
  );
  const reconciled = { key: 'foo:lab:foos.samples.example.com/default/example', message: 'reconciled' };
  await log({ ...reconciled, cause: 'change', outcome: 'done', durationMs: 12, latencyMs: 40, writes: 1 });

  const console = start(['console', '--stage', stage, '--folder', folder.path]);
  parts.defer(async () => {
    const ended = once(console, 'exit');
    console.kill('SIGINT');
    expect(await ended, output).toEqual([0, null]);
  });
  const url = await new Promise<string>((resolve, reject) => {
    console.stdout.on('data', () => {
      const [, found] = /a browser: (http\S+)\n/.exec(output) ?? [];
      if (found !== undefined) resolve(found);
    });
    console.once('exit', () => reject(new Error(output)));
  });
  const browser = await startBrowser();
  parts.defer(() => browser.close());
  ({ page, problems } = await openPage(browser, url));
}, 480_000);
afterAll(() => parts.disposeAsync(), 60_000);

/** The lines of the audit file, which the command prints too. */
async function audit(): Promise<readonly Record<string, unknown>[]> {
  const text = await folder.read('audit.jsonl').catch(() => '');
  const lines = text.split('\n').filter((line) => line !== '');
  for (const line of lines) expect(output).toContain(line);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Confirms the question of an action, and waits until it is in the audit. */
async function confirm(action: string): Promise<void> {
  expect((await audit()).filter((line) => line.action === action)).toEqual([]);
  await page.locator('dialog .confirm-buttons button:last-child').click();
  await eventually(audit, (lines) => {
    const own = lines.filter((line) => line.action === action);
    expect(own.map(({ state }) => state)).toEqual(['started', 'done']);
    for (const line of own) expect(line).toMatchObject({ stage, who: expect.stringMatching(/^arn:aws:.*:/) });
  });
}

const foo = async (cluster: 'lab' | 'prod') => {
  const client = createClient({ server: new URL(clusters[cluster].url) });
  const object = await getObject(client, Foo, { namespace: 'default', name: 'example' });
  client.close();
  return object;
};

it('the flow has both clusters, the reconciles of the log, and no faults', async () => {
  await page.getByText(`stage ${stage}`).waitFor();
  for (const name of ['lab', 'prod']) await page.getByRole('region', { name: 'Clusters' }).getByText(name).waitFor();
  await page
    .locator('.activity li')
    .filter({ hasText: /foo.*example/ })
    .first()
    .waitFor();
  await page.getByRole('link', { name: /^Queues 1 dead/ }).waitFor();
  expect(await page.getByRole('link', { name: 'Break it' }).count()).toBe(0);
});

it('the wake function of a stage is green until it cannot be loaded, in the status and the flow', async () => {
  const state = async () => /^wake +- +- +- +- +(.+)$/m.exec(await printed(['status', '--stage', stage]))?.[1];
  expect(await state()).toBe('working');
  const fields = { errorType: 'Runtime.ImportModuleError', error: 'no module', function: 'wake' };
  await log({ level: 'ERROR', message: 'Uncaught Exception', ...fields }, 'wake');
  expect(await state()).toBe('cannot load');
  await page.getByRole('link', { name: 'function wake: cannot load: no module' }).waitFor({ timeout: 30_000 });
});

it('a controller and a cluster are paused and resumed, each after a question', async () => {
  await page.getByRole('button', { name: 'Pause foo' }).click();
  await confirm('pause-controller');
  const mapping = async () =>
    (await account.mappings()).find(({ EventSourceArn = '' }) => EventSourceArn.endsWith(`${prefix}foo.fifo`));
  expect(await mapping()).toMatchObject({ State: expect.stringMatching(/^Disabl/) });
  await page.getByRole('button', { name: 'Resume foo' }).click();
  await confirm('resume-controller');
  expect(await mapping()).toMatchObject({ State: expect.stringMatching(/^Enabl/) });

  const list = async () => await printed(['clusters', 'list', '--stage', stage]);
  await page.getByRole('button', { name: 'Pause prod' }).click();
  await confirm('pause-cluster');
  expect(await list()).toMatch(/^prod .* PAUSED$/m);
  await page.getByRole('button', { name: 'Resume prod' }).click();
  await confirm('resume-cluster');
  expect(await list()).not.toContain('PAUSED');
});

it('an object of one cluster is run dry, reconciled, paused and resumed; that of the other cluster is not touched', async () => {
  await page.getByRole('link', { name: /^Objects 2/ }).click();
  await page.getByRole('link', { name: 'lab: example' }).click();
  await page.getByRole('button', { name: 'Dry run' }).click();
  await confirm('dry-run');
  await page
    .getByRole('region', { name: 'Dry run' })
    .getByText(/Deployment default\/example-foo/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Reconcile now' }).click();
  await confirm('reconcile');
  const [sent = ''] = await received('foo.fifo');
  expect(parseMessage(sent)).toMatchObject({ ...key, cluster: 'lab', cause: { type: 'command' } });
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await confirm('pause');
  expect((await foo('lab'))?.metadata.annotations?.[pausedAnnotation]).toBe('true');
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  await confirm('resume');
  for (const cluster of ['lab', 'prod'] as const)
    expect((await foo(cluster))?.metadata.annotations?.[pausedAnnotation]).toBeUndefined();
  await page.getByRole('tab', { name: 'Timeline' }).click();
  await page.getByRole('tabpanel').getByText('because it changed').waitFor();
});

it('a dead letter is shown with its error, and sent again after a question', async () => {
  await page.getByRole('link', { name: /^Queues/ }).click();
  await page.getByText('the pump is stuck').waitFor({ timeout: 60_000 });
  await page.getByRole('button', { name: 'Redrive example' }).click();
  await confirm('redrive');
  await eventually(
    async () => await received('foo.fifo'),
    (bodies) => expect(bodies.map((one) => parseMessage(one).cause.type)).toContain('command'),
  );
  expect(await received('foo-dlq.fifo')).toEqual([]);
});

it('the history has the run of the log, when the function was deployed, and who did what', async () => {
  await page.getByRole('link', { name: 'History' }).click();
  const events = page.getByRole('region', { name: 'Events' });
  await events.getByText('ran because it changed').first().waitFor({ timeout: 60_000 });
  await events.getByText(/^redrive foo-dlq\.fifo .* by arn:aws:/).waitFor();
  const cells = page
    .getByRole('row')
    .filter({ has: page.locator('th').filter({ hasText: /^foo$/ }) })
    .locator('td');
  expect(await cells.nth(3).innerText()).toBe('0');
  expect(await cells.nth(4).innerText()).toMatch(/^\d\d:\d\d:\d\d/);
  const log = `https://${aws.region}.console.aws.amazon.com/cloudwatch/home?region=${aws.region}#logsV2:`;
  expect(await cells.getByRole('link').getAttribute('href')).toContain(log);
  expect(problems).toEqual([]);
});

const crash = async (errorType: string, error: string) =>
  await log({ level: 'ERROR', message: 'Uncaught Exception', errorType, error, function: 'foo' });
const postponed = async (error: string) => {
  const run = { key: 'foo:lab:foos.samples.example.com/default/example', cause: 'change', durationMs: 1 };
  await log({ ...run, message: 'reconciled', outcome: 'postponed', reason: 'unreachable', error });
};
const views: Readonly<Record<string, () => Promise<string>>> = {
  page: async () => await page.getByRole('region', { name: 'Verdict' }).innerText(),
  status: async () => await printed(['status', '--stage', stage]),
  doctor: async () => await printed(['doctor', '--stage', stage]),
};

it('watchers that have written nothing are named in the page, in status and in doctor', async () => {
  await page.getByRole('link', { name: 'Flow' }).click();
  for (const [name, read] of Object.entries(views))
    await expect.poll(read, { message: name, timeout: 90_000 }).toContain('no watch checkpoint');
}, 180_000);

it.each([
  {
    part: 'a function whose API server returns 503',
    breaks: async () => await postponed('GET /api/v1/namespaces returned 503: ServiceUnavailable: overloaded'),
    says: /returned 503/,
  },
  {
    part: 'a function whose code cannot be loaded',
    breaks: async () => await crash('Runtime.ImportModuleError', 'Cannot find module pump'),
    says: /Cannot find module pump/,
  },
  {
    part: 'a function whose process ends',
    breaks: async () => await crash('Runtime.ExitError', 'exit status 134'),
    says: /exit status 134/,
  },
  {
    part: 'an API server that is down',
    breaks: async () => await clusters.prod.close(),
    says: /ECONNREFUSED/,
  },
  {
    part: 'a queue that is deleted',
    breaks: async () => void (await sqs.send(new DeleteQueueCommand({ QueueUrl: await queueUrl('foo.fifo') }))),
    says: /(?:foo(?:\.fifo)?: .*does not exist|wrong +queue foo\.fifo )/,
  },
  {
    part: 'the queue of timers that is deleted',
    breaks: async () => void (await sqs.send(new DeleteQueueCommand({ QueueUrl: await queueUrl('timers') }))),
    says: /(?:timers: .*(?:does not exist|cannot be read)|wrong +queue timers )/,
  },
  {
    part: 'a clusters table that is no JSON',
    breaks: async () => {
      const { Environment } = await account.function('foo');
      const bucket = new URL(Environment?.Variables?.CLUSTERS ?? '').host;
      const table = openTableObject({ aws: aws.client.endpoint, ...aws.client }, bucket);
      const found = await table.get();
      expect(await table.put('{ no JSON', found.type === 'object' ? found.etag : undefined)).toBe(true);
    },
    says: /clusters table/,
  },
])('$part is named in the page, in status and in doctor', { timeout: 180_000 }, async ({ breaks, says }) => {
  await page.getByRole('link', { name: 'Flow' }).click();
  for (const [name, read] of Object.entries(views)) expect(await read(), name).not.toMatch(says);
  await breaks();
  for (const [name, read] of Object.entries(views))
    await expect.poll(read, { message: name, timeout: 90_000 }).toMatch(says);
});
