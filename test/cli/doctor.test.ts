// `outrigger doctor --stage` as a person runs it, against SQS, an API server, and as much of Lambda and Systems Manager as it asks: what it
// finds, what it says to do, how it ends. What counts as silence is in test/runtime/watchers-silent.test.ts.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CreateQueueCommand, DeleteQueueCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type ExpectedQueue, expectedQueues } from '../../src/cli/doctor/expected-queues.ts';
import { doctorCommand } from '../../src/cli/doctor.ts';
import { registry } from '../../src/controllers/registry.ts';
import { createClient } from '../../src/kube/client.ts';
import { type ApiServer, startApiServer } from '../../src/local/api-server/server.ts';
import { applyManifests, readManifests } from '../../src/local/manifests.ts';
import { createSend } from '../../src/queue/send.ts';
import { formatCursor } from '../../src/runtime/cursor-document.ts';
import { readCursorObject, writeCursorObject } from '../../src/runtime/cursor-object.ts';
import { pem, startWireServer } from '../kube/wire-server.ts';
import { startTestQueues, type TestQueues } from '../queue/fauxqs.ts';
import { type Account, startAwsServices } from './aws-services.ts';
import { runHere } from './operated-system.ts';

const { signal } = new AbortController();
const prefix = 'outrigger-dev-';
const account: Account = { mappings: [], unreserved: 1000, parameters: {} };
const there: { queues?: TestQueues; services?: Awaited<ReturnType<typeof startAwsServices>>; server?: ApiServer } = {};
let expected: readonly ExpectedQueue[];

const queues = () => {
  if (there.queues === undefined) throw new Error('not started');
  return there.queues;
};
const urlOf = (name: string) => `${queues().urlPrefix}${prefix}${name}`;

async function createQueue({ name, attributes, deadLetters }: ExpectedQueue): Promise<void> {
  const RedrivePolicy =
    deadLetters === undefined
      ? {}
      : {
          RedrivePolicy: JSON.stringify({
            deadLetterTargetArn: `arn:aws:sqs:us-east-1:000000000000:${prefix}${deadLetters.name}`,
            maxReceiveCount: deadLetters.maxReceiveCount,
          }),
        };
  await queues().sqs.send(
    new CreateQueueCommand({ QueueName: `${prefix}${name}`, Attributes: { ...attributes, ...RedrivePolicy } }),
  );
}

const mappingOf = (name: string, more: object = {}) => ({
  UUID: `uuid-of-${name}`,
  State: 'Enabled',
  EventSourceArn: `arn:aws:sqs:us-east-1:000000000000:${prefix}${name}`,
  FunctionResponseTypes: ['ReportBatchItemFailures'],
  ScalingConfig: { MaximumConcurrency: 10 },
  ...more,
});
const consumed = [...registry.map(({ name }) => `${name}.fifo`), 'timers', 'resync'];
const most = 10 * consumed.length;
const parameter = '/outrigger/dev/clusters/berlin';

beforeAll(async () => {
  there.queues = await startTestQueues();
  there.services = await startAwsServices(account);
  there.server = await startApiServer();
  expected = await expectedQueues(registry, '.');
  // Those without a redrive policy first: they are where the others' letters go.
  for (const queue of expected.filter(({ deadLetters }) => deadLetters === undefined)) await createQueue(queue);
  for (const queue of expected.filter(({ deadLetters }) => deadLetters !== undefined)) await createQueue(queue);
  const client = createClient({ server: new URL(there.server.url) });
  await applyManifests(client, await readManifests('infra/kubernetes/generated'), { signal });
  const cursor = await readCursorObject(client);
  const text = formatCursor({ cluster: 'uid', framesAtMs: Date.now(), entries: new Map() });
  await writeCursorObject(client, { text, resourceVersion: cursor?.resourceVersion ?? '' });
  client.close();
}, 60_000);
afterAll(async () => {
  await there.queues?.stop();
  there.services?.close();
  await there.server?.close();
});
beforeEach(() => {
  account.mappings = consumed.map((name) => mappingOf(name));
  account.unreserved = 1000;
  account.parameters = { [parameter]: JSON.stringify({ server: there.server?.url, access: { type: 'none' } }) };
});

async function doctor(...argv: readonly string[]) {
  const env = {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_SQS: queues().endpoint,
    AWS_ENDPOINT_URL_LAMBDA: there.services?.url ?? '',
    AWS_ENDPOINT_URL_SSM: there.services?.url ?? '',
  };
  return await runHere(doctorCommand(), ['--stage', 'dev', ...argv], env);
}
/** What a shell makes of the command at the end of an advice. */
async function askedOfAws(fix = '') {
  const command = fix.slice(fix.lastIndexOf('since: ') + 'since: '.length);
  const { stdout } = await promisify(execFile)('/bin/sh', ['-euc', `aws() { printf '%s\\0' "$@"; }; ${command}`]);
  const words = stdout.split('\0');
  const after = (option: string) => words[words.indexOf(option) + 1];
  const attributes = z.record(z.string(), z.string()).parse(JSON.parse(after('--attributes') ?? ''));
  return { name: after('--queue-name'), attributes };
}
const finding = z.object({ state: z.string(), about: z.string(), says: z.string(), fix: z.string().optional() });
async function findings(...argv: readonly string[]) {
  const { out, status } = await doctor('--output', 'json', ...argv);
  const all = z.array(finding).parse(JSON.parse(out));
  return { all, bad: all.filter(({ state }) => state !== 'ok'), status };
}

describe('doctor', () => {
  it('finds nothing wrong in a deployment as it should be, says what it looked at, and ends with 0', async () => {
    const { all, bad, status } = await findings();
    expect(bad).toEqual([]);
    expect(status).toBe(0);
    const looked = new Set(all.map(({ about }) => about));
    const areas = ['credentials', 'node', 'generated files', 'queues', 'concurrency', 'cluster berlin'];
    expect([...looked].sort()).toEqual(areas.sort());
    const { out } = await doctor();
    expect(out).toMatch(/^0 wrong, 0 to look at, \d+ ok$/m);
    expect(out).toContain(`${most} functions may run at once, the account has 1000 unreserved`);
  });

  it('knows the attributes that are deployed: those of timers and resync, and those of each controller', () => {
    const of = (name: string) => expected.find((one) => one.name === name);
    expect(of('foo.fifo')?.attributes).toMatchObject({ FifoQueue: 'true', VisibilityTimeout: '180' });
    expect(of('foo.fifo')?.deadLetters).toEqual({ name: 'foo-dlq.fifo', maxReceiveCount: 10 });
    expect(of('timers')?.attributes).toMatchObject({ VisibilityTimeout: '180' });
    expect(of('resync')?.deadLetters).toEqual({ name: 'resync-dlq', maxReceiveCount: 3 });
    expect(expected).toHaveLength(2 * registry.length + 4);
  });

  it('names an attribute that differs and a redrive policy that is gone, and says what deploys them', async () => {
    const set = async (attributes: Record<string, string>) =>
      await queues().sqs.send(new SetQueueAttributesCommand({ QueueUrl: urlOf('foo.fifo'), Attributes: attributes }));
    await set({ VisibilityTimeout: '30', RedrivePolicy: '' });
    const { bad, status } = await findings();
    const advice = expect.stringMatching(
      /^what was never deployed: npx osls deploy --stage dev; one that was changed since: /,
    );
    expect(bad).toEqual([
      {
        state: 'wrong',
        about: 'queue foo.fifo',
        says: 'VisibilityTimeout is 30, the deployment says 180',
        fix: advice,
      },
      {
        state: 'wrong',
        about: 'queue foo.fifo',
        says: expect.stringContaining('its dead letters go nowhere'),
        fix: advice,
      },
    ]);
    expect(status).toBe(1);
    for (const { fix } of bad) await set((await askedOfAws(fix)).attributes);
    expect((await findings()).bad).toEqual([]);
  });

  it('names queues that are gone, and prints the commands, in their order, after which nothing is wrong', async () => {
    for (const name of ['foo.fifo', 'foo-dlq.fifo'])
      await queues().sqs.send(new DeleteQueueCommand({ QueueUrl: urlOf(name) }));
    const { bad, status } = await findings();
    const gone = { state: 'wrong', says: 'it is not there' };
    expect(bad).toMatchObject([
      { ...gone, about: 'queue foo-dlq.fifo' },
      { ...gone, about: 'queue foo.fifo' },
    ]);
    expect(status).toBe(1);
    for (const { fix } of bad) {
      const { name, attributes } = await askedOfAws(fix);
      await queues().sqs.send(new CreateQueueCommand({ QueueName: name ?? '', Attributes: attributes }));
    }
    expect((await findings()).bad).toEqual([]);
  });

  it('only points at dead letters: somebody should look, nothing is broken', async () => {
    const letter = { body: '{}', groupId: 'a', deduplicationId: 'a' };
    await createSend(queues().sqs, `${queues().urlPrefix}${prefix}`)('foo-dlq.fifo', [letter], { signal });
    const { bad, status } = await findings();
    expect(bad).toMatchObject([{ state: 'warning', about: 'queue foo-dlq.fifo', says: '1 dead letters' }]);
    expect(status).toBe(0);
    await queues().drain(`${prefix}foo-dlq.fifo`);
  });
});

describe('doctor, of functions', () => {
  const without = (name: string) =>
    account.mappings.filter((one) => JSON.stringify(one) !== JSON.stringify(mappingOf(name)));

  it('names a queue from which no function takes messages', async () => {
    account.mappings = without('foo.fifo');
    const { bad, status } = await findings();
    expect(bad).toMatchObject([{ state: 'wrong', about: 'function of foo.fifo' }]);
    expect(status).toBe(1);
  });

  it('points at a controller that is paused, and says how to resume it', async () => {
    const paused = ['foo.fifo', 'timers'].map((name) => mappingOf(name, { State: 'Disabled' }));
    account.mappings = [...account.mappings.filter((one) => !/foo|timers/.test(JSON.stringify(one))), ...paused];
    const { bad, status } = await findings();
    expect(bad).toMatchObject([
      { state: 'warning', about: 'function of foo.fifo', fix: 'to go on: outrigger resume foo' },
      { state: 'warning', about: 'function of timers', fix: expect.stringContaining('--uuid uuid-of-timers') },
    ]);
    expect(status).toBe(0);
  });

  it('names one that fails whole batches, and one without a limit', async () => {
    account.mappings = [
      ...without('foo.fifo'),
      mappingOf('foo.fifo', { FunctionResponseTypes: [], ScalingConfig: {} }),
    ];
    const { bad } = await findings();
    expect(bad.map(({ about, says }) => `${about}: ${says}`)).toEqual([
      'function of foo.fifo: it does not report single failures of a batch',
      'function of foo.fifo: it has no maximumConcurrency, and may take all that the account has',
    ]);
  });

  it('says when together they may want more than the account has, as a new account’s 10', async () => {
    account.unreserved = 10;
    const { bad, status } = await findings();
    const says = `${most} functions may run at once, the account has 10 unreserved`;
    expect(bad).toMatchObject([
      { state: 'wrong', about: 'concurrency', says, fix: expect.stringContaining('raise the quota') },
    ]);
    expect(status).toBe(1);
  });

  it('says which right is missing where the account may not be read', async () => {
    account.unreserved = undefined;
    const { bad, status } = await findings();
    expect(bad).toMatchObject([
      { state: 'warning', about: 'account', fix: expect.stringContaining('have this right given to you') },
    ]);
    expect(status).toBe(0);
  });
});

describe('doctor, of clusters', () => {
  it('names those that do not answer, whose certificate has changed, and whose entry is not valid, and looks at the others all the same', async () => {
    account.parameters['/outrigger/dev/clusters/dark'] = '{"server":"http://127.0.0.1:9","access":{"type":"none"}}';
    account.parameters['/outrigger/dev/clusters/odd'] = 'not JSON';
    const wire = await startWireServer((_, response) => response.destroy(), { tls: true });
    account.parameters['/outrigger/dev/clusters/moved'] = JSON.stringify({
      server: wire.url.href,
      ca: pem('other.pem'),
      access: { type: 'token', token: 'secret-token' },
    });
    account.parameters['/outrigger/dev/clusters/gone'] =
      '{"server":"http://127.0.0.1:9","access":{"type":"none"},"leaving":true}';
    const { all, bad, status } = await findings();
    expect(bad).toMatchObject([
      { state: 'wrong', about: 'cluster dark', fix: expect.stringContaining('nothing answers there') },
      { state: 'warning', about: 'cluster gone', says: 'is leaving: its messages are deleted' },
      {
        state: 'wrong',
        about: 'cluster moved',
        says: 'it cannot be asked',
        fix: expect.stringContaining('cluster "moved": if its certificate has changed, put the CA certificate'),
      },
      {
        state: 'wrong',
        about: 'cluster odd',
        says: 'its entry cannot be used',
        fix: expect.stringContaining('cluster "odd"'),
      },
    ]);
    expect(all.filter(({ about, state }) => about === 'cluster berlin' && state === 'ok').length).toBeGreaterThan(2);
    expect(status).toBe(1);
    expect((await findings('--cluster', 'berlin')).bad).toEqual([]);
  });

  it('names what a cluster without our manifests lacks: the kinds, and watchers', async () => {
    await using bare = await startBare();
    account.parameters[parameter] = JSON.stringify({ server: bare.url, access: { type: 'none' } });
    const { bad } = await findings();
    const said = bad.map(({ says }) => says);
    expect(said).toContain('it has no watertanks.plant.example.com');
    expect(said).toContain('its watchers are silent: there is no cursor; apply infra/kubernetes/generated');
    const fixes = new Set(bad.filter(({ says }) => says.startsWith('it has no')).map(({ fix }) => fix));
    expect(fixes).toEqual(new Set(['kubectl apply --server-side -k infra/kubernetes']));
  });
});

async function startBare() {
  const server = await startApiServer();
  return { url: server.url, [Symbol.asyncDispose]: () => server.close() };
}

describe('a mistake is one line that says what to do, and exit status 1:', () => {
  it('a stage that does not exist', async () => {
    const { err, out, status } = await doctor('--stage', 'prod');
    expect(err).toBe(
      'outrigger doctor: --stage prod: there is no queue outrigger-prod-timers in this account and region; name another --stage or --region, or deploy this one\n',
    );
    expect(out).toBe('');
    expect(status).toBe(1);
  });

  it('no credentials', async () => {
    const nobody = {
      ...{ AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined, AWS_EC2_METADATA_DISABLED: 'true' },
      ...{ AWS_REGION: 'us-east-1', AWS_SHARED_CREDENTIALS_FILE: '/nowhere', AWS_CONFIG_FILE: '/nowhere' },
    };
    const { err, status } = await runHere(doctorCommand(), ['--stage', 'dev'], nobody);
    expect(err).toMatch(
      /^outrigger doctor: --stage dev: CredentialsProviderError: .*; sign in \(aws sso login\), or set AWS_PROFILE\n$/,
    );
    expect(status).toBe(1);
  });

  it('no region', async () => {
    const nowhere = { AWS_REGION: undefined, AWS_CONFIG_FILE: '/nowhere', AWS_SHARED_CREDENTIALS_FILE: '/nowhere' };
    const { err, status } = await runHere(doctorCommand(), ['--stage', 'dev'], nowhere);
    expect(err).toMatch(
      /^outrigger doctor: --stage dev: .*Region is missing; name one with --region, or set AWS_REGION\n$/,
    );
    expect(status).toBe(1);
  });
});
