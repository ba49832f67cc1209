// `outrigger logs`, `history` and `explain` on a system whose log a test writes: their output and exit status. Of a
// deployment only the query to CloudWatch Logs.
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { checkRuns } from '@outrigger/cli/commands/doctor/check-runs';
import { readHidden } from '@outrigger/cli/commands/function-log';
import { durationMs } from '@outrigger/cli/commands/key-commands';
import { readKeyLog, readTroubles } from '@outrigger/cli/commands/key-log';
import { lastWrites } from '@outrigger/cli/console/field-changes';
import { stateOf } from '@outrigger/cli/console/object-state';
import { createLogFile, olderLogFile } from '@outrigger/cli/dev/log-file';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { foo } from '../../src/controllers/foo.ts';
import { WaterTank } from '../../src/controllers/water-tank.ts';
import { checkpointName, controllerDeadLetterQueue } from '../../src/core/names.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { Deployment } from '../../src/kubernetes.ts';
import { formatMessage } from '../../src/sqs/message.ts';
import { createSend } from '../../src/sqs/send.ts';
import { aMessage, asRetry } from '../sqs/messages.ts';
import { startAwsServices } from './aws-services.ts';
import { expectUserError, runProcess } from './command-result.ts';
import { operatedSystem } from './operated-system.ts';

const system = operatedSystem({ samples: ['water-tanks'] });
const { signal } = new AbortController();
const north = 'water-tank:local:watertanks.plant.example.com/default/north';
const northKey = {
  controller: 'water-tank',
  cluster: 'local',
  group: 'plant.example.com',
  resource: 'watertanks',
  namespace: 'default',
  name: 'north',
};
const dueAt = Math.round(Date.now() / 1000) + 240;
const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000).toISOString();
const done = { outcome: 'done', writes: 2, durationMs: 41, nextCause: 'requeue', dueAt };
const failed = {
  ...done,
  outcome: 'failed',
  writes: 0,
  durationMs: 7,
  attempt: 2,
  error: 'no valve',
  nextCause: 'retry',
};

/** Writes log lines, each with its age in seconds and the key of `north`. */
async function writeLog(lines: readonly (readonly [secondsAgo: number, fields: object])[]): Promise<void> {
  const line = { level: 'INFO', message: 'reconciled', key: north, cause: 'change' };
  const text = lines.map(([secondsAgo, fields]) => JSON.stringify({ ...line, timestamp: at(secondsAgo), ...fields }));
  await system.folder.write('log.jsonl', `${text.join('\n')}\nnot JSON: north\n`);
}

const paused = { annotations: { 'outrigger.dev/paused': 'true' } };

beforeEach(async () => await writeLog([]));

describe('logs and history', () => {
  it('logs prints the lines of one key in this time, oldest first', async () => {
    await writeLog([
      [7200, { message: 'too old' }],
      [20, { message: 'children written', kind: 'ConfigMap', reason: 7, attempt: '1' }],
      [10, done],
      [5, { key: north.replace('north', 'north-2'), message: 'another key' }],
    ]);
    const { out, status } = await system.run('logs', 'water-tank:default/north');
    const lines = out.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/INFO children written cause=change kind=ConfigMap$/);
    expect(lines[1]).toContain('outcome=done');
    expect(status).toBe(0);
  });

  it('history lists cause, attempt, outcome, writes, duration, next and error of the last reconciles', async () => {
    await writeLog([
      [30, done],
      [20, { message: 'children written' }],
      [10, failed],
    ]);
    const { out } = await system.run('history', 'water-tank:default/north');
    const rows = out
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/\s{2,}/));
    expect(rows[0]).toEqual(['TIME', 'CAUSE', 'ATTEMPT', 'OUTCOME', 'WRITES', 'MS', 'NEXT', 'ERROR']);
    const next = new Date(dueAt * 1000).toISOString();
    expect(rows.slice(1).map(([, ...row]) => row)).toEqual([
      ['change', '1', 'done', '2', '41', `requeue ${next}`, '-'],
      ['change', '3', 'failed', '0', '7', `retry ${next}`, 'no valve'],
    ]);
    const json = await system.run('history', 'water-tank:default/north', '--json', '--limit', '1');
    expect(JSON.parse(json.out)).toMatchObject([{ outcome: 'failed', error: 'no valve' }]);
  });

  it('logs, history and explain take the name of an object alone, and with its kind as outrigger dev prints it', async () => {
    await writeLog([[10, done]]);
    expect((await system.run('logs', 'north')).out).toContain('outcome=done');
    expect((await system.run('explain', 'north')).out).toContain(`${north}: `);
    for (const name of ['watertank/north', 'WaterTank/north', 'watertanks/default/north'])
      expect((await system.run('explain', name)).out, name).toContain(`${north}: `);
    for (const name of ['nowhere', 'foo/north', 'watertank/shop/north'])
      expectUserError(await system.run('explain', name), `no object of a controller has the name "${name}"`);
    expectUserError(await system.run('explain', 'a/b/c/d'), 'write NAME, KIND/NAME or KIND/NAMESPACE/NAME');
  });

  it('logs -f prints the lines, and then each new one once', async () => {
    await writeLog([[10, done]]);
    const running = system.run('logs', 'water-tank:default/north', '-f');
    const printed = () => vi.mocked(process.stdout.write).mock.calls.join('');
    await vi.waitFor(() => expect(printed()).toContain('outcome=done'), { timeout: 10_000 });
    await writeLog([
      [10, done],
      [1, failed],
    ]);
    await vi.waitFor(() => expect(printed()).toContain('no valve'), { timeout: 10_000 });
    interrupt();
    const { out, status } = await running;
    expect([out.match(/no valve/g), status]).toEqual([['no valve'], 0]);
  }, 30_000);

  const interrupt = () => {
    const [listener] = process.rawListeners('SIGINT').slice(-1);
    listener?.('SIGINT');
  };

  it('logs -f says that the system has ended, and goes on with the log of the next one', async () => {
    const state = await system.folder.read('state.json');
    onTestFinished(async () => await system.folder.write('state.json', state));
    await writeLog([[10, done]]);
    const running = system.run('logs', 'water-tank:default/north', '-f');
    const [printed, said] = [process.stdout, process.stderr].map(
      (one) => () => vi.mocked(one.write).mock.calls.join(''),
    );
    await vi.waitFor(() => expect(printed?.()).toContain('outcome=done'), { timeout: 10_000 });
    await rm(system.folder.at('state.json'));
    await vi.waitFor(() => expect(said?.()).toContain('no system runs here; waiting'), { timeout: 10_000 });
    await rm(system.folder.at('log.jsonl'));
    await vi.waitFor(() => expect(said?.()).toContain('outrigger dev writes it; waiting'), { timeout: 10_000 });
    await system.folder.write('state.json', state);
    await writeLog([[1, failed]]);
    await vi.waitFor(() => expect(said?.()).toContain('the log goes on'), { timeout: 10_000 });
    interrupt();
    const { out, status } = await running;
    expect([out.match(/no valve|outcome=done/g), status]).toEqual([['outcome=done', 'no valve'], 0]);
  }, 60_000);

  it.each([
    [['logs', 'water-tank:default/north', '--since', 'yesterday'], '"yesterday": write a time like 30m, 3h or 7d'],
    [['history', 'water-tank:default/north', '--limit', '-3'], '--limit: a whole number above 0 is needed'],
    [['history', 'tank:north'], 'there is no controller "tank"; the controllers are '],
    [['explain', 'memcached-proxy:local:services/default/x'], 'explain is for memcachedproxies, which memcached-proxy'],
    [['explain', 'water-tank:north'], 'WaterTank is namespaced; write water-tank:NAMESPACE/north'],
  ] as const)('%j prints one line, and exits with 1', async ([command, ...argv], line) => {
    expectUserError(await system.run(command, ...argv), line);
  });

  it.each([
    [['clusters', 'remove'], "missing required argument 'name'"],
    [['dlq', 'show'], "missing required argument 'id'"],
    [['clusters', 'add', 'a'], "missing required argument 'file'"],
  ])('%j names the argument that is wrong, and the command that shows the arguments', async (argv, line) => {
    const result = await runProcess(['packages/cli/src/commands/main.ts', ...argv], '.');
    const command = argv.slice(0, 2).join(' ');
    expectUserError(result, `(outrigger ${command} --help shows its arguments and options)`);
    expect(result.err).toContain(`error: ${line}\n`);
  });

  it.each([
    ['45s', 45],
    ['30m', 1800],
    ['3h', 10_800],
    ['7d', 604_800],
  ])('--since %s is %d seconds', (text, seconds) => {
    expect(durationMs(text)).toBe(seconds * 1000);
  });

  it('logs of a deployment come from the log group of the controller, filtered by the key', async () => {
    const cloudWatch = mockClient(CloudWatchLogsClient);
    const message = JSON.stringify({ key: north, timestamp: at(5), message: 'reconciled', ...done });
    cloudWatch.on(FilterLogEventsCommand).resolves({ events: [{ message }, { message: 'START RequestId: north' }] });
    const urlPrefix = 'https://sqs.eu-central-1.amazonaws.com/123456789012/cafes-prod-';
    const deployment = { on: 'AWS', urlPrefix, region: 'eu-central-1' } as const;
    const options = { folder: 'unused', sinceMs: Date.now() - 60_000, signal };
    expect((await readKeyLog(deployment, northKey, options)).lines).toMatchObject([{ outcome: 'done' }]);
    expect(cloudWatch.commandCalls(FilterLogEventsCommand)[0]?.args[0].input).toMatchObject({
      logGroupName: '/aws/lambda/cafes-prod-water-tank',
      filterPattern: `{ $.key = "${north}" }`,
    });
    cloudWatch.restore();
  });
});

describe('the log of a function with more lines than are read', () => {
  const deployment = {
    on: 'AWS',
    region: 'eu-central-1',
    urlPrefix: 'https://sqs.eu-central-1.amazonaws.com/123456789012/cafes-prod-',
  } as const;
  const options = () => ({ folder: 'unused', sinceMs: Date.now() - 86_400_000, signal });

  /** Fakes CloudWatch Logs, which returns the oldest events first, in pages. */
  function logOf(events: readonly { readonly timestamp: number; readonly message: string }[]) {
    const [logs, lambda] = [mockClient(CloudWatchLogsClient), mockClient(LambdaClient)];
    onTestFinished(() => [logs, lambda].forEach((one) => void one.restore()));
    lambda.on(GetFunctionConfigurationCommand).resolves({});
    logs.on(FilterLogEventsCommand).callsFake(({ startTime, endTime = Number.POSITIVE_INFINITY, nextToken = '0' }) => {
      const found = events.filter(({ timestamp }) => timestamp >= startTime && timestamp <= endTime);
      const end = Number(nextToken) + 4_000;
      return { events: found.slice(end - 4_000, end), ...(found.length > end ? { nextToken: `${end}` } : {}) };
    });
    return lambda;
  }
  const run = (timestamp: number, fields: object) => {
    const line = { key: north, timestamp: new Date(timestamp).toISOString(), message: 'reconciled', ...fields };
    return { timestamp, message: JSON.stringify(line) };
  };

  it('the newest lines of a key are read, of an even log as of one whose lines are of one moment', async () => {
    const now = Date.now();
    for (const timeOf of [(line: number) => now - (25_000 - line) * 1_000, () => now - 7_200_000]) {
      logOf(Array.from({ length: 25_000 }, (_, line) => run(timeOf(line), { outcome: 'done', writes: line })));
      const { lines, isCut } = await readKeyLog(deployment, northKey, options());
      expect([isCut, lines.length]).toEqual([true, expect.toSatisfy((count: number) => count >= 10_000)]);
      if (timeOf(0) !== timeOf(1)) expect(lines.map(({ writes }) => writes)).toEqual(lastOf(25_000, lines.length));
    }
  });
  const lastOf = (all: number, count: number) => Array.from({ length: count }, (_, index) => all - count + index);

  it('all lines of a day are read, each once, if they are not too many', async () => {
    const now = Date.now();
    const times = Array.from({ length: 300 }, (_, line) => now - (299 - line) * 280_000);
    logOf(times.map((time, line) => run(time, { outcome: 'done', writes: line })));
    const { lines, isCut } = await readKeyLog(deployment, northKey, options());
    expect([isCut, lines.map(({ writes }) => writes)]).toEqual([false, lastOf(300, 300)]);
  });

  it('a function whose newest lines show a crash is bad, and one whose older lines were not read is not known', async () => {
    const services = await startAwsServices({ mappings: [], unreserved: 0, parameters: {}, metrics: {} });
    onTestFinished(() => {
      services.close();
      vi.unstubAllEnvs();
    });
    const env = { AWS_ENDPOINT_URL: services.url, AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x' };
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    const now = Date.now();
    const good = Array.from({ length: 20_000 }, (_, line) => run(now - 800_000 + line * 40, { outcome: 'done' }));
    logOf(good);
    const health = async () =>
      (await readTroubles(deployment, ['water-tank'], options())).healthOf('water-tank', false);
    expect(await health()).toMatchObject({
      state: 'not known',
      text: expect.stringMatching(/^its log has more than 10000 lines/),
    });
    const fix = 'outrigger status counts the objects that fail';
    expect(await checkRuns({ ...deployment, at: '' }, [], options())).toMatchObject([{ state: 'warning', fix }]);
    logOf([...good, { timestamp: now, message: 'r-1 Task timed out after 3.00 seconds' }]);
    expect(await health()).toMatchObject({ state: 'crashing' });
    const unreadable = 'the LOG_LEVEL of the functions cannot be read: AccessDenied';
    logOf([]).on(GetFunctionConfigurationCommand).rejects(new Error('AccessDenied'));
    expect(await health()).toMatchObject({ state: 'not known', text: unreadable });
    expect(await readHidden(deployment, signal)).toBe(unreadable);
  });
});

describe('explain', () => {
  it('an object of a foreign kind is unobserved only by declared evidence, and not by the status of another controller', () => {
    const facts = { deadLetters: 0, last: undefined, finalizer: 'none', project: 'outrigger' };
    const object = { metadata: { name: 'web', generation: 2 }, status: { observedGeneration: 1 } };
    const reconcile = async () => ({});
    const blind = Deployment.controller('blind', { reconcile });
    const noted = Deployment.controller('noted', { evidence: 'annotation', reconcile });
    const done = { ...facts, last: { outcome: 'done' } };
    expect(stateOf(object, blind, done).why).toContain('nothing shows which changes it has observed');
    // That no failure is in the logs is no success.
    expect(stateOf(object, blind, facts)).toMatchObject({
      state: 'unknown',
      why: expect.stringContaining('no reconcile of it is in the logs'),
    });
    expect(stateOf(object, noted, facts).state).toBe('unobserved');
  });

  it.each([
    ['of a controller without a selector', undefined, {}, 'unknown', 'no reconcile of it is in the logs'],
    ['without the label', { matchLabels: { a: 'b' } }, {}, 'not selected', 'the selector of picky needs label a=b'],
    ['without the annotation', { annotations: ['a'] }, {}, 'not selected', 'the selector of picky needs annotation a'],
    ['without the field', { fields: { kind: 'x' } }, {}, 'not selected', 'the selector of picky needs field kind=x'],
    ['in another namespace', { namespaces: ['b'] }, {}, 'not selected', 'the selector of picky needs namespaces b'],
    ['without the label, and paused', { matchLabels: { a: 'b' } }, paused, 'not selected', 'needs label a=b'],
    ['without the label, and deleted', { matchLabels: { a: 'b' } }, { deletionTimestamp: at(1) }, 'deleting', 'waits'],
  ] as const)('explain of an object %s says whether the selector matches it', (_, selector, metadata, state, why) => {
    const picky = Deployment.controller('picky', {
      ...(selector === undefined ? {} : { selector }),
      reconcile: async () => ({}),
    });
    const facts = { last: undefined, finalizer: 'none', project: 'outrigger' };
    const object = { kind: 'Deployment', metadata: { name: 'web', namespace: 'a', ...metadata } };
    const found = stateOf(object, picky, { ...facts, deadLetters: state === 'not selected' ? 1 : 0 });
    expect(found).toEqual({ state, why: expect.stringContaining(why) });
  });

  const explained = async () => {
    const { out } = await system.run('explain', 'water-tank:default/north', '--json');
    return JSON.parse(out);
  };

  it('explain shows an object whose generation is not reconciled yet, and the messages in the queue', async () => {
    expect(await explained()).toMatchObject({ state: 'unobserved', queued: 0, deadLetters: [] });
  });

  it('explain shows the error of a failing object, and when it is retried', async () => {
    await writeLog([[10, failed]]);
    const next = new Date(dueAt * 1000).toISOString();
    expect(await explained()).toMatchObject({
      state: 'failing',
      why: 'attempt 3 ended as failed: no valve',
      nextDueAt: next,
    });
    const { out, status } = await system.run('explain', 'water-tank:default/north');
    expect(out).toContain(`${north}: failing\n`);
    expect(out).toContain(`  next reconcile: retry due at ${next}\n`);
    expect(status).toBe(0);
  });

  it('explain shows a dead letter with its reason, and the way back', async () => {
    await writeLog([[10, failed]]);
    const message = aMessage({ ...northKey, ...asRetry({ attempt: 9 }) });
    const attributes = { reason: 'retries exhausted', error: 'no valve' };
    const entry = { body: formatMessage(message), groupId: 'g', deduplicationId: 'd', attributes };
    const { sqs, urlPrefix } = system.queues;
    await createSend(sqs, urlPrefix)(controllerDeadLetterQueue('water-tank'), [entry], { signal });
    expect(await explained()).toMatchObject({
      state: 'dead letter',
      why: `it is not retried any more: no valve; fix the cause, then outrigger dlq redrive${system.at}`,
      deadLetters: [attributes],
    });
    await writeLog([[5, done]]);
    expect((await explained()).why).toContain('its last reconcile succeeded; the dead letter is from before');
  });

  it('explain shows that the cluster is paused, and the way back ends that', async () => {
    await writeLog([[10, failed]]);
    await system.run('clusters', 'pause', 'local');
    const wayBack = `outrigger clusters resume local${system.at}`;
    expect(await explained()).toMatchObject({ state: 'paused', why: expect.stringContaining(`${wayBack} ends that`) });
    expect(await system.run('clusters', 'resume', 'local')).toMatchObject({ status: 0 });
    expect(await explained()).toMatchObject({ state: 'failing' });
  });

  it('explain shows that the controller is paused, and the way back', async () => {
    await writeLog([[10, failed]]);
    await system.run('pause', 'water-tank');
    expect(await explained()).toMatchObject({ state: 'paused', why: expect.stringContaining('resume water-tank') });
    await system.run('resume', 'water-tank');
    expect(await explained()).toMatchObject({ state: 'failing' });
  });

  it('explain shows that the cluster is paused, that its watchers are down and that the queue is gone', async () => {
    await writeLog([[10, failed]]);
    expect(await system.run('clusters', 'pause', 'local')).toMatchObject({ status: 0 });
    onTestFinished(async () => void (await system.run('clusters', 'resume', 'local')));
    await system.queues.remove('water-tank.fifo');
    onTestFinished(async () => await system.queues.create('water-tank.fifo'));
    expect(await explained()).toMatchObject({
      state: 'paused',
      why: expect.stringMatching(
        `^local is paused; outrigger clusters resume local${system.at} ends that; whether a message waits `,
      ),
      notes: [
        expect.stringMatching(`^water-tank.fifo cannot be read: .*outrigger doctor${system.at} prints the command`),
        'the watchers of local are down: no watch checkpoint; apply dist/kubernetes',
      ],
    });
  });

  it('explain without the permission to read the watch checkpoint shows that the status of the watchers is unknown', async () => {
    await writeLog([[10, failed]]);
    await system.forbid(`/configmaps/${checkpointName}`);
    const unknown = 'the status of the watchers of local is unknown: no permission to read the watch checkpoint';
    expect(await explained()).toMatchObject({ notes: [expect.stringContaining(unknown)] });
  });

  it('explain names who wrote an object, with the fields; a status is Outrigger’s own write', async () => {
    const { apiVersion, kind } = WaterTank;
    const write = async (at: string, contentType: string, body: object) =>
      await system.client().request({ method: 'PATCH', path: objectPath(WaterTank, northKey) + at, contentType, body });
    await write('?fieldManager=alice', 'application/merge-patch+json', { spec: { targetLevel: 23 } });
    const status = { apiVersion, kind, metadata: { name: 'north' }, status: { action: 'Holding' } };
    await write('/status?fieldManager=outrigger-water-tank', 'application/apply-patch+yaml', status);
    const by = 'Outrigger, the status of water-tank';
    const { writes } = await explained();
    expect(writes).toContainEqual(
      expect.objectContaining({ by, operation: 'Apply of status', fields: 'status.action' }),
    );
    const { out } = await system.run('explain', 'water-tank:default/north');
    expect(out).toMatch(/^ {2}written by +alice +Update +20\S+Z +spec\.targetLevel$/m);
  });

  it('the newest write is the first one, and names four fields at most', () => {
    const fieldsV1 = { 'f:spec': Object.fromEntries([...'abcdef'].map((name) => [`f:${name}`, {}])) };
    const entry = (manager: string, time: string) => ({ manager, operation: 'Update', time, fieldsV1 });
    const managedFields = [
      entry('old', '2026-01-01T00:00:00Z'),
      entry('outrigger-foo', '2026-01-01T00:00:02Z'),
      entry('outrigger-dev', '2026-01-01T00:00:01Z'),
    ];
    const writes = lastWrites({ metadata: { name: 'a', managedFields } }, { controllers: [foo], project: 'outrigger' });
    expect(writes.map(({ by }) => by)).toEqual(['the controller foo', 'outrigger-dev', 'old']);
    expect(writes[0]?.fields).toBe('spec.a, spec.b, spec.c, spec.d and 2 more');
  });

  it('explain of a controller says what waits, what was missed, and where its time goes', async () => {
    const list = { message: 'kind listed', controller: 'water-tank', cluster: 'local', run: '2026-01-01T00:10:00Z' };
    await writeLog([
      [10, { ...done, durationMs: 300, requestMs: 250, latencyMs: 2_000 }],
      [5, { ...list, unobserved: 2, queueIdle: true }],
      [5, { ...list, controller: 'foo', unobserved: 9, queueIdle: true }],
    ]);
    const { out, status } = await system.run('explain', 'water-tank');
    expect(out).toMatch(/^water-tank: 1 problem\n {2}local: its watchers are down: /);
    expect(out).toContain('  behind: 0 keys, the oldest change for ');
    expect(out).toContain('; missed: 2 by the resync of 2026-01-01T00:10:00Z\n');
    expect(out).toMatch(
      / 1\.7 s in watcher and queue, 250 ms in the API server, 50 ms in its code and what it calls$/m,
    );
    expect(status).toBe(1);
  });

  it('explain names a missing object on the standard error, too, and exits with 1', async () => {
    const { out, err, status } = await system.run('explain', 'water-tank:default/nowhere');
    expect(out).toContain('missing\n  there is no such object in the cluster\n');
    expect(err).toMatch(/^outrigger explain: there is no such object; .*\n$/m);
    expect(status).toBe(1);
  });
});

describe('the log of the local system', () => {
  it('the log begins empty, and keeps one file before the present one when it is large', async () => {
    const file = system.folder.at('big.jsonl');
    await system.folder.write('big.jsonl', 'of an earlier system');
    const log = createLogFile(file);
    const line = 'x'.repeat(20 * 1024 * 1024);
    for (const one of ['a', 'b', 'c']) log.write(one + line);
    const firstOf = async (name: string) => (await system.folder.read(path.basename(name))).slice(0, 1);
    expect([await firstOf(file), await firstOf(olderLogFile(file))]).toEqual(['c', 'a']);
  });
});
