// `outrigger console --stage` with its server, in this process: what it shows of a stage, and what an action leaves there.
// The page and the processes are test/deploy/console.test.ts.
import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { startApiServer } from '@outrigger/apiserver';
import { consoleCommand } from '@outrigger/cli/commands/console/console';
import { statusCommand } from '@outrigger/cli/commands/status/status';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { parseMessage } from '../../../src/sqs/message.ts';
import { startFakeIdentity } from '../../clusters/auth/identity-server.ts';
import { startTestQueues, type TestQueues } from '../../sqs/fauxqs.ts';
import { useFolder } from '../../support/folder.ts';
import { type Account, startAwsServices } from '../aws-services.ts';
import { expectUserError, runHere } from '../command-result.ts';
import { applySamples } from '../operated-system.ts';

const id = 'lab:foos.samples.example.com/default/example';
const arn = 'arn:aws:sts::123456789012:assumed-role/watcher/chosen-by-the-sender';
const detailSchema = z.object({ timeline: z.array(z.object({ type: z.string(), at: z.number() })) });
const pastSchema = z.object({
  entries: z.array(z.object({ type: z.string(), text: z.string() })),
  functions: z.array(z.looseObject({ name: z.string() })),
  notes: z.array(z.string()),
});
const version = '1.4.0 (3fa9c1d)';
const account: Account = { mappings: [], unreserved: 1000, parameters: {}, description: `version ${version}` };
const folder = useFolder({ shared: true });
const parts = new AsyncDisposableStack();
let queues: TestQueues;
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  const server = await startApiServer();
  parts.defer(() => server.close());
  await applySamples(server, ['foo']);
  queues = await startTestQueues();
  parts.defer(() => queues.stop());
  await queues.create('outrigger-dev-timers', 'outrigger-dev-foo.fifo');
  const sts = await startFakeIdentity();
  parts.defer(async () => sts.close());
  const services = await startAwsServices(account);
  parts.defer(async () => void services.close());
  const EventSourceArn = 'arn:aws:sqs:us-east-1:000000000000:outrigger-dev-foo.fifo';
  account.mappings = [{ UUID: 'of-foo', State: 'Enabled', EventSourceArn }];
  account.table = folder.at('clusters.json');
  const lab = { server: server.url, access: { type: 'none' } };
  const table = { lab, held: { ...lab, paused: true }, gone: { ...lab, decommissioning: true }, broken: {} };
  await folder.write('clusters.json', JSON.stringify(table));
  environment = {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL: services.url,
    AWS_ENDPOINT_URL_SQS: queues.endpoint,
    AWS_ENDPOINT_URL_STS: sts.url,
  };
});
afterAll(async () => await parts.disposeAsync());

it('the console of a stage shows its clusters and the past of an object, and each action is carried out and audited', async () => {
  const logs = mockClient(CloudWatchLogsClient);
  parts.defer(async () => logs.restore());
  const line = {
    message: 'reconciled',
    key: `foo:${id}`,
    cause: 'change',
    outcome: 'done',
  };
  const timestamp = Date.now() - 3_600_000;
  logs.on(FilterLogEventsCommand).resolves({ events: [{ timestamp, message: JSON.stringify(line) }] });
  const running = runHere(consoleCommand(), ['--stage', 'dev', '--folder', folder.path], environment);
  const printed = () => vi.mocked(process.stdout.write).mock.calls.join('');
  const url = await vi.waitFor(() => new URL(/http:\S+/.exec(printed())?.[0] ?? ''), { timeout: 30_000 });
  const headers = { authorization: `Bearer ${url.hash.slice(1)}`, 'content-type': 'application/json' };
  const get = async (path: string) => await fetch(new URL(path, url), { headers });
  const act = async (action: object) => {
    const response = await fetch(new URL('/api/actions', url), {
      method: 'POST',
      headers,
      body: JSON.stringify(action),
    });
    return JSON.stringify(await response.json());
  };
  /** Reads the stream until an event has this text. */
  const streamed = async (text: string) => {
    let read = '';
    for await (const chunk of (await get('/api/events')).body ?? []) {
      read += new TextDecoder().decode(chunk);
      if (read.includes(text)) return read;
    }
    throw new Error(`no ${text} in ${read}`);
  };

  const past = async () => {
    const detail = detailSchema.safeParse(await (await get(`/api/object?id=${encodeURIComponent(id)}`)).json());
    return detail.data?.timeline.map(({ type, at }) => type === 'reconcile' && at);
  };
  try {
    await expect.poll(past).toEqual([false, timestamp]);
    const shown = await streamed('"name":"gone","health":{"state":"decommissioning"');
    expect(shown).toMatch(/"name":"held","health":\{[^}]*\},"paused":true/);
    expect(shown).toContain('access missing, unknown or of the wrong type');
    await streamed(`"version":"${version}"`);

    expect(await act({ type: 'reconcile', id })).not.toContain('error');
    const [sent] = await queues.drain('outrigger-dev-foo.fifo');
    expect(parseMessage(sent?.Body ?? '')).toMatchObject({
      cluster: 'lab',
      name: 'example',
      cause: { type: 'command' },
    });
    expect(await act({ type: 'pause-controller', controller: 'foo' })).toContain('foo is paused: its messages wait');
    expect(account.mappings).toMatchObject([{ State: 'Disabled' }]);
    expect(await act({ type: 'pause-cluster', cluster: 'lab' })).toContain('lab is paused within a minute');
    expect(await folder.json('clusters.json')).toMatchObject({ lab: { paused: true } });
    expect(await act({ type: 'pause-cluster', cluster: 'none' })).toContain('error');

    account.functions = { foo: { LastModified: '2026-11-28T03:05:12.123+0000' } };
    const day = `from=${new Date(timestamp - 1_000).toISOString()}&to=${new Date(Date.now() + 1_000).toISOString()}`;
    const read = pastSchema.parse(await (await get(`/api/past?${day}`)).json());
    expect(read.functions).toContainEqual({
      name: 'foo',
      timeouts: 0,
      deployedAt: Date.UTC(2026, 10, 28, 3, 5, 12, 123),
    });
    expect(read.notes).toEqual([expect.stringMatching(/^What AWS counts .* answered 403 \(AccessDenied\)$/)]);
    expect(read.entries.map(({ type, text }) => `${type} ${text}`)).toEqual([
      expect.stringMatching(`^action pause-cluster none by ${arn}: .*"none"`),
      `action pause-cluster lab by ${arn}: lab is paused within a minute, when the functions have read the table.`,
      `action pause-controller foo by ${arn}: foo is paused: its messages wait in its queue.`,
      expect.stringMatching(`^action reconcile by ${arn}: `),
      'reconcile ran because it changed: nothing to write',
    ]);
  } finally {
    const [interrupt] = process.rawListeners('SIGINT').slice(-1);
    interrupt?.('SIGINT');
  }
  const { out, status } = await running;
  expect(status).toBe(0);
  expect(out).toContain(`you are ${arn}\n`);
  const audit = (await folder.read('audit.jsonl'))
    .trimEnd()
    .split('\n')
    .map((one) => JSON.parse(one));
  expect(audit.map((one) => `${one.who === arn} ${one.action} ${one.state}`)).toEqual([
    ...['true reconcile started', 'true reconcile done'],
    ...['true pause-controller started', 'true pause-controller done'],
    ...['true pause-cluster started', 'true pause-cluster done'],
    ...['true pause-cluster started', 'true pause-cluster failed'],
  ]);
});

it.each([
  `version ${version}`,
  undefined,
])('status of a stage whose functions have the description %j names the version', async (description) => {
  account.description = description;
  const { out } = await runHere(statusCommand(), ['--stage', 'dev'], environment);
  expect(out).toContain(`deployed version: ${description === undefined ? 'not known' : version}\n\nCLUSTER `);
});

it('the console of a stage that does not exist prints one line', async () => {
  const result = await runHere(consoleCommand(), ['--stage', 'none', '--folder', folder.path], environment);
  expectUserError(result, 'outrigger console: --stage none: there is no queue outrigger-none-timers');
});
