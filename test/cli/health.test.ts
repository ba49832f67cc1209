// That no part is down while a command or the console shows it as working: each way in which a part can be down, as each
// view shows it. What an object's state is, is in test/console/history.test.ts.
import { runInNewContext } from 'node:vm';
import { DeleteQueueCommand } from '@aws-sdk/client-sqs';
import { queriesOf } from '@outrigger/cli/aws/queries';
import { doctorCommand } from '@outrigger/cli/commands/doctor/doctor';
import { explainCommand } from '@outrigger/cli/commands/key-commands';
import { statusCommand } from '@outrigger/cli/commands/status/status';
import { createFlowReader } from '@outrigger/cli/console/flow';
import { conditionTone, FunctionTroubles, watcherFacts, watcherHealth } from '@outrigger/cli/console/health';
import { createHistory } from '@outrigger/cli/console/history';
import { problemsOf, verdictOf } from '@outrigger/cli/console/problems';
import { createStageSource } from '@outrigger/cli/console/stage/stage-source';
import type { Flow } from '@outrigger/cli/console/wire';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { writeCheckpoint } from '../../src/checkpoint/config-map.ts';
import { formatCheckpoint } from '../../src/checkpoint/document.ts';
import { readWatcherStatus } from '../../src/checkpoint/watcher-status.ts';
import { foo } from '../../src/controllers/foo.ts';
import { waterTank } from '../../src/controllers/water-tank.ts';
import { checkpointName, systemNamespace } from '../../src/core/names.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { parseObject } from '../../src/kube/client/object.ts';
import type { CommandResult } from './command-result.ts';
import { account, onStage, prefix, useDeployment } from './doctor/doctor-fixture.ts';
import { operatedSystem } from './operated-system.ts';

const system = operatedSystem({ samples: ['foo'] });
useDeployment();
/** `foo` with events outside of the clusters, so that there is a wake function. */
const waking = { ...foo, declaration: { ...foo.declaration, wakes: waterTank.declaration.wakes } };
const key = 'foo:local:foos.samples.example.com/default/example';
const line = (fields: object) =>
  JSON.stringify({ level: 'INFO', timestamp: new Date().toISOString(), message: 'reconciled', key, ...fields });
const postponed = (reason: string, error: string) => line({ outcome: 'postponed', reason, error });
const done = line({ outcome: 'done', cause: 'change' });
const crash = (errorType: string, error: string) =>
  line({ key: undefined, message: 'Uncaught Exception', function: 'foo', errorType, error });
const lambda = (errorType: string, errorMessage: string, request = 'undefined') =>
  `2026-01-01T00:00:00Z\t${request}\tERROR\tUncaught Exception \t${JSON.stringify({ errorType, errorMessage })}`;

const rows: (readonly string[])[] = [];
/** Notes for the record what each view says of a part: its first line with a word about it. */
function record(part: string, word: RegExp, views: readonly string[]): void {
  const said = views.map((text) => text.split('\n').find((one) => word.test(one)) ?? '');
  const plain = (text: string) => text.replaceAll(/127\.0\.0\.1:\d+|localhost:\d+/g, 'HOST');
  rows.push([part, ...said].map((text) => plain(text).replaceAll(system.folder.path, 'FOLDER').trim()));
}
const linesOf = ({ out, err }: CommandResult) => `${err}\n${out}`;
const finding = z.array(z.object({ about: z.string(), message: z.string() }));
const findingsIn = ({ out }: CommandResult) =>
  finding
    .parse(JSON.parse(out))
    .map(({ about, message }) => `${about}: ${message}`)
    .join('\n');
/** The verdict of the console, and what it says is wrong. */
async function saidBy(flow: () => Promise<Flow>): Promise<string> {
  const now = await flow();
  return [verdictOf(now, []).text, ...problemsOf(now, []).map(({ text }) => text)].join('\n');
}

/** The health that the console shows of the function `foo`. */
async function inConsole(lines: readonly string[], isKnown = true, hidden?: string) {
  return (await flowOf(lines, isKnown, hidden)).controllers[0]?.health;
}

async function flowOf(lines: readonly string[], isKnown: boolean, hidden: string | undefined) {
  const history = createHistory([foo], { onEntry: () => undefined });
  for (const text of lines) history.addLogLine(text, 'foo');
  const { sqs, urlPrefix } = system.queues;
  const paused = async () => (isKnown ? new Set<string>() : await Promise.reject(new Error('no answer')));
  const read = async () => ({ clusters: [] });
  const flow = createFlowReader([foo], {
    sqs,
    urlPrefix,
    history,
    maxAgeMilliseconds: 0,
    pausedControllers: paused,
    read,
  });
  history.troubles.setHidden(hidden);
  return await flow(new AbortController().signal);
}

/** Opens the console of a stage that has this system's cluster and queues, and returns how its flow is read. */
async function stageConsole() {
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const { sqs, urlPrefix } = system.queues;
  const never = async () => await Promise.reject(new Error('not in this test'));
  const client = system.client();
  const entries = z.record(z.string(), z.object({ server: z.string() }));
  const source = createStageSource([waking], {
    name: 'prod',
    project: 'outrigger',
    at: '',
    sqs,
    urlPrefix,
    signal: ending.signal,
    operator: {
      dryRun: never,
      pauseController: never,
      pauseCluster: never,
      pausedControllers: async () => new Set<string>(),
    },
    clusters: async () =>
      Object.entries(entries.parse(JSON.parse(await system.folder.read('clusters.json')))).map(
        ([name, { server }]) => ({
          name,
          connect: async () =>
            `${server}/` === new URL(system.apiServer.url).href ? client : createClient({ server: new URL(server) }),
        }),
      ),
    watcherOf: async (client, signal) => watcherFacts(await readWatcherStatus(client, Date.now(), { signal })),
    newLines: async (name) => {
      const text = await system.folder.read(`${name}.log`).catch(() => '');
      return text === '' ? [] : [{ text, at: Date.now() }];
    },
    readHidden: async () => undefined,
    readVersion: async () => undefined,
    throttlesOf: async (names) => new Map(names.map((name) => [name, refusedOf(name)])),
    linesBetween: async () => [],
    countsOf: never,
    deploymentOf: never,
    actions: async () => [],
    aws: undefined,
  });
  // The flow is read again after five seconds.
  const now = Date.now;
  let aheadMs = 0;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);
  onTestFinished(() => clock.mockRestore());
  return async () => {
    aheadMs += 5_001;
    return await source.flow(ending.signal);
  };
}

const throttlesOf = (name: string) => `${prefix}${name} Throttles`;
const refusedOf = (name: string) => {
  const points = account.metrics?.[throttlesOf(name)] ?? [];
  return points === 'one a period' ? 0 : points.reduce((sum, one) => sum + one, 0);
};

const ways = [
  ['answers 503 to it', [postponed('unreachable', '503'), postponed('unreachable', 'breaker')], 'unreachable', '503'],
  ['throttles it', [postponed('slow', '429')], 'slow', '429'],
  ['is no entry of the table', [postponed('unknown-cluster', 'no entry')], 'refused', 'no entry'],
  ['cannot be loaded', [crash('Runtime.ImportModuleError', 'boom')], 'cannot load', 'boom'],
  ['ends its process', [crash('Runtime.ExitError', 'exit 1')], 'crashing', 'exit 1'],
  ['throws for an object', [done, line({ outcome: 'failed', error: 'no pump' })], 'failing', 'no pump'],
] as const;

describe('a part that is down is shown by each view', () => {
  it.each(ways)(
    'a function whose cluster or code %s is red in the console, status, doctor and explain',
    async (way, lines, state, text) => {
      await system.folder.write('log.jsonl', `${lines.join('\n')}\n`);
      const shown = await inConsole(lines);
      expect(shown).toMatchObject({ state, tone: 'bad', text: expect.stringContaining(text) });
      const status = await system.run('status', '--controller', 'foo');
      expect([status.status, status.out]).toEqual([1, expect.stringMatching(new RegExp(`^foo +0 .* ${state}$`, 'm'))]);
      expect(status.err).toMatch(new RegExp(`^foo: its function .*${text}`, 'm'));
      const { functions } = JSON.parse((await system.run('status', '--json')).out);
      expect(functions).toContainEqual(expect.objectContaining({ name: 'foo', state, since: expect.any(Number) }));
      const doctor = await system.run('doctor', '--json');
      expect(doctor.status).toBe(1);
      const finding = { state: 'wrong', about: 'function foo', message: expect.stringContaining(text) };
      expect(JSON.parse(doctor.out)).toContainEqual(expect.objectContaining(finding));
      const { out } = await system.run('explain', 'foo:default/example');
      expect(out).toContain(text);
      const inPage = `function foo: ${shown?.state}: ${shown?.text}`;
      record(`a function whose cluster or code ${way}`, new RegExp(text), [
        inPage,
        status.err,
        findingsIn(doctor),
        out,
      ]);
    },
    30_000,
  );

  const broken = async (file: string, content: string) => {
    const before = await system.folder.read(file);
    onTestFinished(async () => await system.folder.write(file, before));
    await system.folder.write(file, content);
  };
  const withoutQueue = async (name: string) => {
    const { sqs, urlPrefix, create } = system.queues;
    await sqs.send(new DeleteQueueCommand({ QueueUrl: `${urlPrefix}${name}` }));
    onTestFinished(async () => await create(name));
  };
  const table = async (server: string) =>
    await broken('clusters.json', JSON.stringify({ local: { server, access: { type: 'none' } } }));

  it.each([
    {
      part: 'a cluster that does not respond',
      word: /ECONNREFUSED|cannot be reached/,
      breaks: async () => await table('http://127.0.0.1:9'),
      console: { clusters: [{ name: 'local', health: { state: 'unreachable', tone: 'bad' } }] },
      status: /^local: .*ECONNREFUSED/m,
      doctor: { about: 'cluster local', message: 'it cannot be reached' },
      explain: /ECONNREFUSED/,
    },
    {
      part: 'a watcher that has written nothing',
      word: /no watch checkpoint/,
      breaks: async () => undefined,
      console: { clusters: [{ name: 'local', health: { state: 'down', tone: 'bad' } }] },
      status: /^local: its watchers are down: no watch checkpoint/m,
      doctor: { about: 'cluster local', message: expect.stringContaining('no watch checkpoint') },
      explain: /the watchers of local are down: no watch checkpoint/,
    },
    {
      part: 'a table that is not one',
      word: /table cannot be read|clusters\.json/,
      breaks: async () => await broken('clusters.json', '{'),
      console: { notes: [expect.stringMatching(/^The clusters table cannot be read: /)] },
      status: /clusters\.json/,
      doctor: { about: 'clusters', message: 'the table cannot be read' },
      explain: /clusters\.json/,
    },
    {
      part: 'a queue of a controller that is gone',
      word: /foo\.fifo(?! was not)|foo: its queues/,
      breaks: async () => await withoutQueue('foo.fifo'),
      console: { notes: [expect.stringMatching(/^Queues cannot be read: foo\.fifo: /)] },
      status: /^foo: its queues cannot be read/m,
      doctor: { about: 'queue foo.fifo', message: 'it does not exist' },
      explain: /was not read\n {2}foo\.fifo cannot be read/,
    },
    {
      part: 'a queue of dead letters that is gone',
      word: /foo-dlq\.fifo(?! was not)|foo: its queues/,
      breaks: async () => await withoutQueue('foo-dlq.fifo'),
      console: { notes: [expect.stringMatching(/^Queues cannot be read: foo-dlq\.fifo: /)] },
      status: /^foo: its queues cannot be read/m,
      doctor: { about: 'queue foo-dlq.fifo', message: 'it does not exist' },
      explain: /was not read\n {2}foo-dlq\.fifo cannot be read/,
    },
    {
      part: 'a queue of timers that is gone',
      word: /timers.*(?:not|cannot)/,
      breaks: async () => await withoutQueue('timers'),
      console: { notes: [expect.stringMatching(/^Queues cannot be read: timers: /)] },
      status: /^timers: its queues cannot be read/m,
      doctor: { about: 'queue timers', message: 'it does not exist' },
    },
  ])('$part is red or not known in each view', async ({
    part,
    breaks,
    word,
    console: shown,
    status,
    doctor,
    explain,
  }) => {
    await system.folder.write('log.jsonl', `${done}\n`);
    await breaks();
    const flow = await stageConsole();
    await expect.poll(flow).toMatchObject(shown);
    const ran = await system.run('status');
    expect([ran.status, ran.out + ran.err]).toEqual([1, expect.stringMatching(status)]);
    const findings = await system.run('doctor', '--json');
    expect([findings.status, JSON.parse(findings.out)]).toEqual([
      1,
      expect.arrayContaining([expect.objectContaining({ ...doctor, state: 'wrong' })]),
    ]);
    const explained = await system.run('explain', 'foo:default/example');
    if (explain !== undefined) expect(explained.out + explained.err).toMatch(explain);
    record(part, word, [await saidBy(flow), linesOf(ran), findingsIn(findings), linesOf(explained)]);
  }, 30_000);

  it('a function of a stage that cannot be loaded, takes too long or is throttled is red, the shared ones as well', async () => {
    const broken = [
      { name: 'timers', log: lambda('Error', 'no timers'), state: 'cannot load', text: 'no timers' },
      {
        name: 'resync',
        log: '2026-01-01T00:00:00Z 1 Task timed out after 60.00 seconds',
        state: 'crashing',
        text: '60.00',
      },
      { name: 'wake', log: lambda('Error', 'no wake'), state: 'cannot load', text: 'no wake' },
      { name: 'foo', throttles: [3, 4], state: 'throttled', text: 'Lambda refused 7 invocations in 15 minutes' },
    ];
    account.logs = Object.fromEntries(broken.map(({ name, log }) => [name, log === undefined ? [] : [log]]));
    account.metrics = { [throttlesOf('foo')]: [3, 4] };
    for (const { name, log = '' } of broken) await system.folder.write(`${name}.log`, log);
    const flow = await stageConsole();
    const inPage = async () => {
      const { controllers, shared = [] } = await flow();
      return [...shared, ...controllers].map(({ name, health: { state, text } }) => ({ name, state, text }));
    };
    const red = broken.map(({ name, state, text }) => ({ name, state, text: expect.stringContaining(text) }));
    await expect.poll(inPage, { timeout: 30_000 }).toEqual(red);
    const [status, doctor, explained] = [
      await onStage(statusCommand()),
      await onStage(doctorCommand(), '--json'),
      await onStage(explainCommand(), 'foo'),
    ];
    expect([status.status, doctor.status, explained.status]).toEqual([1, 1, 1]);
    for (const { name, state, text } of broken) {
      expect(status.out).toMatch(new RegExp(`^${name} .* ${state}$`, 'm'));
      expect(status.err).toMatch(new RegExp(`^${name}: its function .*${text}`, 'm'));
      const finding = { state: 'wrong', about: `function ${name}`, message: expect.stringContaining(text) };
      expect(JSON.parse(doctor.out)).toContainEqual(expect.objectContaining(finding));
      const inTerminal = [linesOf(status), findingsIn(doctor), name === 'foo' ? linesOf(explained) : ''];
      const views = [await saidBy(flow), ...inTerminal];
      record(`the function ${name} of a stage: ${state}`, new RegExp(text), views);
    }
    expect(explained.out).toContain('docs/alarms/function-throttled.md');
    delete account.metrics;
    account.logs = {};
    const unread = await onStage(statusCommand());
    expect(unread.out).toMatch(/^foo .* not known$/m);
    expect(unread.err).toMatch(
      /^water-tank, .* and 7 more: its function is not known: whether it is throttled cannot be read: .*403/m,
    );
  }, 60_000);

  it('the table of all that is down, by view, is that of health-table.txt', async () => {
    const titles = [['part', 'console', 'status', 'doctor', 'explain'], Array.from({ length: 5 }, () => '---')];
    const table = [...titles, ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
    await expect(table).toMatchFileSnapshot('health-table.txt');
  });

  it('a function is green again when it has run, and not because time passes', async () => {
    const broken = [crash('Runtime.ImportModuleError', 'boom'), postponed('unreachable', '503')];
    await system.folder.write('log.jsonl', `${[...broken, done].join('\n')}\n`);
    expect(await inConsole([...broken, done])).toEqual({ state: 'working', tone: 'good' });
    expect((await system.run('status', '--controller', 'foo')).out).toMatch(/^foo +0 .* working$/m);
    expect((await system.run('doctor')).out).toContain('each run of the last 15 minutes succeeded');
  }, 30_000);

  it('what cannot be read is not known, and neither zero nor green', async () => {
    const before = await system.folder.read('state.json');
    onTestFinished(async () => await system.folder.write('state.json', before));
    await system.folder.write('elsewhere/clusters.json', await system.folder.read('clusters.json'));
    const nowhere = { ...JSON.parse(before), lambda: 'http://127.0.0.1:9', queueEndpoint: 'http://127.0.0.1:9' };
    await system.folder.write('elsewhere/state.json', JSON.stringify(nowhere));
    const { out, err, status } = await system.run(
      ...(['status', '--controller', 'foo', '--folder', system.folder.at('elsewhere')] as const),
    );
    expect(out).toMatch(/^foo +\? +\? +\? +\? +not known$/m);
    expect([status, err]).toEqual([1, expect.stringContaining('foo: its queues cannot be read')]);
    expect(err).toContain('foo: its function is not known: its log cannot be read');
    expect(await inConsole([], false)).toMatchObject({ state: 'not known', tone: 'unknown' });
    expect(watcherHealth({})).toMatchObject({ state: 'not known', tone: 'unknown' });
  }, 30_000);

  it('a log that does not show each run has no health, rate, time or missed change, but for a crash', async () => {
    const lines = [listed({ queueIdle: true }), line({ outcome: 'failed', cause: 'change', latencyMs: 5 })];
    const flow = await flowOf(lines, true, 'LOG_LEVEL=WARN');
    expect(flow.notes).toContain('Not each run is known: LOG_LEVEL=WARN');
    expect(flow.controllers).toMatchObject([{ health: { state: 'not known', text: 'LOG_LEVEL=WARN' } }]);
    for (const part of [flow, flow.controllers[0]])
      for (const figure of ['resync', 'p50Ms', 'reconcilesPerSecond', 'failuresPerSecond'])
        expect(part).not.toHaveProperty(figure);
    expect(await inConsole([crash('Runtime.ExitError', 'exit 1')], true, 'WARN')).toMatchObject({ state: 'crashing' });
  });

  it.each([
    ['whose watch fails is reconnecting', 0, 7_000, 'reconnecting', 'reconnect: a watch fails for'],
    ['of which nothing was heard for minutes is silent', 170_000, undefined, 'silent', 'are silent: no event for'],
  ] as const)(
    'a watcher %s in each view, and nothing is said to be well',
    async (_, seenMs, failingMs, state, says) => {
      const client = system.client();
      const applied = async (plural: string, namespaced: boolean, object: object) => {
        const kind = { group: '', version: 'v1', plural, namespaced };
        return await applyObject(client, kind, parseObject(object), { fieldManager: 'test' });
      };
      await applied('namespaces', false, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } });
      const metadata = { name: checkpointName, namespace: systemNamespace };
      const shipped = await applied('configmaps', true, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
      const now = Date.now();
      const failing = failingMs === undefined ? {} : { reconnectingSinceMs: now - failingMs };
      const times = { lastSeenAtMs: now - seenMs, ...failing };
      const text = formatCheckpoint({ cluster: 'uid', ...times, entries: new Map() });
      await writeCheckpoint(client, { text, resourceVersion: shipped.metadata.resourceVersion ?? '' });
      await system.folder.write('log.jsonl', `${done}\n`);
      const flow = await stageConsole();
      const health = { state, tone: 'busy', text: expect.stringMatching(new RegExp(`^its watchers ${says} \\d+ s`)) };
      await expect.poll(flow, { timeout: 15_000 }).toMatchObject({ clusters: [{ name: 'local', health }] });
      const { clusters } = await flow();
      expect(
        verdictOf(
          { at: 0, changesPerSecond: 0, clusters, controllers: [], waitingTimers: 0, sharedDeadLetters: 0 },
          [],
        ),
      ).toEqual({ text: `1 cluster is ${state}; 0 of 0 objects are Ready`, tone: 'busy' });
      expect((await system.run('status')).out).toMatch(new RegExp(`^local .* its watchers ${says} \\d+ s$`, 'm'));
      expect(findingsIn(await system.run('doctor', '--json'))).toContain(`cluster local: its watchers ${says}`);
      expect((await system.run('explain', 'foo:default/example')).out).toContain(` the watchers of local ${says}`);
    },
    30_000,
  );

  it.each([
    ['while it loads', lambda('Error', 'boom'), 'cannot load'],
    ['whose code is missing', lambda('Runtime.ImportModuleError', 'boom', 'r-1'), 'cannot load'],
    ['in a run', lambda('Error', 'boom', 'r-1'), 'crashing'],
    ['after its time-out', '2026-01-01T00:00:00Z r-1 Task timed out after 3.00 seconds', 'crashing'],
    ['of its sender', line({ message: 'message refused', outcome: 'refused', error: 'unknown cluster' }), 'refused'],
  ])('a line of Lambda for a function that ends %s is understood', (_, text, state) => {
    const troubles = new FunctionTroubles();
    troubles.add(text, 'foo', 1_000);
    expect(troubles.healthOf('foo', false)).toMatchObject({ state, since: 1_000 });
  });
});

it.each([
  ['Stalled', 'True', 'busy', 'bad'],
  ['Stalled', 'False', 'bad', 'good'],
  ['MemoryPressure', 'True', 'good', 'bad'],
  ['Reconciling', 'True', 'busy', 'busy'],
  ['Ready', 'False', 'busy', 'busy'],
  ['Ready', 'False', 'bad', 'bad'],
  ['Ready', 'Unknown', 'busy', 'unknown'],
  ['Ready', 'True', 'good', 'good'],
] as const)('the condition %s %s of an object that is %s is %s', (type, status, object, tone) => {
  expect(conditionTone({ type, status }, object)).toBe(tone);
});

const listed = (fields: object) =>
  JSON.stringify({ message: 'kind listed', controller: 'foo', cluster: 'a', run: '2026-01-01T00:10:00Z', ...fields });

it('what the last resync missed is in its lists of controllers whose queue was idle, and not known without them', () => {
  const list = (minute: number, unobserved: number, queueIdle = true) =>
    listed({ run: `2026-01-01T00:${minute}:00Z`, unobserved, queueIdle });
  const troubles = new FunctionTroubles();
  expect(troubles.resync()).toBeUndefined();
  for (const text of [list(10, 2), list(20, 1), list(20, 2), list(20, 5, false), list(10, 9)])
    troubles.add(text, 'resync', 0);
  expect(troubles.resync()).toEqual({ run: '2026-01-01T00:20:00Z', missed: 3 });
  troubles.setUnread('resync', 'AccessDenied');
  expect(troubles.resync()).toBeUndefined();
});

const found = { queueIdle: true, failed: false, unobserved: 2 };
const failed = { ...found, failed: true };
const error = { message: 'list failed', error: 'ECONNREFUSED' };
const b = { cluster: 'b' };
const next = { run: '2026-01-01T00:20:00Z' };
it.each([
  ['one has failed', [{ ...failed, unobserved: 0 }, error], { missed: 0, unknown: 1 }],
  ['the cluster of one was not found', [found, { ...error, ...b }], { missed: 2, unknown: 1 }],
  ['one found changes and failed', [failed, error], { missed: 2, unknown: 1 }],
  ['one failed and was listed again', [failed, error, found], { missed: 2 }],
  ['one failed, and its changes are observed now', [failed, error, { ...found, unobserved: 0 }], { missed: 2 }],
  ['one has two parts, of which the second failed', [found, { ...failed, unobserved: 0 }], { missed: 2, unknown: 1 }],
  [
    'one failed in a namespace',
    [
      { ...failed, namespace: 'x' },
      { ...found, namespace: 'y' },
    ],
    { missed: 4, unknown: 1 },
  ],
  [
    'a queue has an unknown depth',
    [
      { ...found, queueIdle: undefined },
      { ...found, ...b },
    ],
    { missed: 2, unknown: 1 },
  ],
  ['those of the next run are not all there', [found, { ...found, ...b }, { ...found, ...next }], { missed: 4 }],
  ['those of the next run are all there', [found, { ...found, unobserved: 1, ...next }], { missed: 1, ...next }],
])('of the lists of a resync %s', (_, lines, expected) => {
  const troubles = new FunctionTroubles();
  for (const fields of lines) troubles.add(listed(fields), 'resync', 0);
  expect(troubles.resync()).toEqual({ run: '2026-01-01T00:10:00Z', ...expected });
});

it.each([
  ['a controller without lists in the first is of the second', { controller: 'bar' }, { ...next, missed: 2 }],
  ['a controller without lists is not known', {}, undefined],
])('of two runs of the resync, what was missed of %s', (_, fields, expected) => {
  const troubles = new FunctionTroubles();
  const lines = [found, { ...found, ...b }, { ...found, ...next, ...fields }];
  for (const one of lines) troubles.add(listed(one), 'resync', 0);
  expect(troubles.resync('bar')).toEqual(expected);
});

it('the saved query of the resync counts what a list that failed has found once, and of idle queues alone', () => {
  const { Properties } = z
    .object({ Properties: z.object({ QueryString: z.string() }) })
    .parse(queriesOf([]).ResyncQuery);
  const query =
    /^\| fields (.+) as found, (.+) as known\n.* sum\(found\) as missed, count\(\*\) - sum\(known\) as notKnown,/m;
  const [, missedIn = '', knownIn = ''] = query.exec(Properties.QueryString) ?? [];
  const troubles = new FunctionTroubles();
  // A query takes true as 1, as arithmetic does here.
  const ispresent = (value: unknown) => value !== undefined;
  const counted = [failed, found, { ...found, ...b, queueIdle: false }].map((fields) => {
    troubles.add(listed(fields), 'resync', 0);
    return [missedIn, knownIn].map((text) => Number(runInNewContext(text, { ispresent, ...fields })));
  });
  expect(counted).toEqual([
    [0, 0],
    [2, 1],
    [0, 1],
  ]);
  expect(troubles.resync()?.missed).toBe(2);
  const unread = [failed, found].map((fields) => ({ ispresent, ...fields, queueIdle: undefined }));
  expect(unread.map((fields) => Number(runInNewContext(knownIn, fields)))).toEqual([0, 0]);
});
