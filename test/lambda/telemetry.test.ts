// The telemetry of a function: one JSON line for each log entry, and metrics with the controller as the only dimension.
import { afterEach, expect, it, vi } from 'vitest';
import { createTelemetry } from '../../src/lambda/telemetry.ts';
import { captureConsole } from '../support/capture-console.ts';
import { aContext } from './invocation.ts';

afterEach(() => vi.unstubAllEnvs());

/** Runs `act` and returns the JSON lines that it printed. */
function printed(act: () => void): readonly Record<string, unknown>[] {
  const { lines, restore } = captureConsole();
  act();
  restore();
  return lines.map((line) => JSON.parse(line));
}

const settings = { level: 'INFO', namespace: 'Outrigger' } as const;

it('a log line has the fields of its log and of the entry', () => {
  const lines = printed(() => {
    const { log } = createTelemetry('widget', settings);
    log({ key: 'a' }).warn('reconciled', { outcome: 'failed' });
    log({ key: 'a' }).debug('not at this level');
  });
  expect(lines).toMatchObject([
    { level: 'WARN', message: 'reconciled', service: 'widget', key: 'a', outcome: 'failed' },
  ]);
});

it('H6: a character that turns the direction of the text, or a line of its own, is written escaped in each field', () => {
  const { lines, restore } = captureConsole();
  createTelemetry('widget', settings)
    .log({ key: 'a\u202eb' })
    .warn('c\u2066d', { more: { nested: ['e\u202ef'] }, error: new Error('g\u009bh') });
  restore();
  expect(lines.join()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ key: 'a\\u202eb', more: { nested: ['e\\u202ef'] } });
});

it('an error in the place of the fields, or in one of them, is text without credentials, and no field replaces the key', () => {
  const secret = 'hvs.abcdefghijkl';
  const error = Object.assign(new TypeError(`no host ${secret}`), { request: `with ${secret}` });
  const lines = printed(() => {
    const log = createTelemetry('widget', settings).log({ key: 'a' });
    log.error('not sent', error);
    log.error('not sent', { error, to: 'b' });
    log.warn('not sent', { first: error });
    log.info('issued', { key: 'tls.key', size: 2 });
  });
  const expected = { key: 'a', error: 'no host [redacted]', stack: [expect.stringContaining('telemetry.test.ts')] };
  const { key, error: text } = expected;
  expect(lines).toMatchObject([expected, { ...expected, to: 'b' }, { key, first: text }, { key, size: 2 }]);
  expect(JSON.stringify(lines)).not.toContain(secret);
});

it('B11: a field with the name of one that the line has is written under another name, and nothing is dropped', () => {
  vi.stubEnv('_X_AMZN_TRACE_ID', 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1');
  const fields = { key: 'a', cluster: 'c', cause: 'change' };
  const written = (more?: object) =>
    printed(() => {
      const { log, begin } = createTelemetry('widget', settings);
      begin(aContext());
      log(fields).warn('found', more);
    });
  const [line = {}] = written();
  const given = Object.fromEntries(Object.keys(line).map((name) => [name, `my ${name}`]));
  const expected = Object.fromEntries(Object.entries(given).map(([name, value]) => [`author_${name}`, value]));
  const { timestamp: _, ...same } = line;
  const lines = written({ ...given, size: 2 });
  expect(lines).toMatchObject([{ ...same, ...expected, size: 2 }]);
  expect(Object.keys(given)).toEqual(expect.arrayContaining(['service', 'level', 'xray_trace_id', 'key', 'cluster']));
  // The same value again is no other field.
  expect(Object.keys(written({ cluster: 'c' })[0] ?? {})).toEqual(Object.keys(line));
});

const root = 'Root=1-5759e988-bd862e3fe1be46a994272793';
it.each([
  ['with its id if it is sampled', `${root};Sampled=1`, ['xray_trace_id']],
  ['without its id if it is not sampled', `${root};Parent=53995c3f42cd8ad8;Sampled=0`, []],
])('a log line of a traced invocation is written %s', (_, header, more) => {
  vi.stubEnv('_X_AMZN_TRACE_ID', header);
  const [line = {}] = printed(() => createTelemetry('widget', settings).log({ key: 'a' }).info('reconciled'));
  expect(Object.keys(line).sort()).toEqual(['key', 'level', 'message', 'service', 'timestamp', ...more].sort());
});

it('a warning and an error name the invocation of their function, and no other line does', () => {
  const lines = printed(() => {
    const { log, begin } = createTelemetry('widget', settings);
    for (const awsRequestId of ['first', 'second']) {
      begin({ ...aContext(), awsRequestId });
      for (const level of ['info', 'warn', 'error'] as const) log({})[level]('reconciled');
    }
  });
  expect(lines.map((line) => line.function_request_id)).toEqual([
    undefined,
    'first',
    'first',
    undefined,
    'second',
    'second',
  ]);
});

it('metrics are written once, with the controller as the only dimension', () => {
  const lines = printed(() => {
    const { metrics: counters, flush } = createTelemetry('widget', settings);
    counters.count('ReconcilesDone');
    counters.count('ReconcilesDone', 2, { cluster: 'alpha' });
    counters.milliseconds('ReconcileLatency', 17);
    flush();
    flush();
  });
  expect(lines).toHaveLength(1);
  const [metrics] = lines;
  expect(metrics).toMatchObject({ service: 'widget', ReconcilesDone: [1, 2], ReconcileLatency: 17 });
  expect(metrics?._aws).toMatchObject({ CloudWatchMetrics: [{ Namespace: 'Outrigger', Dimensions: [['service']] }] });
});

/** What each alarm of lean monitoring counts, and what an operator waits for. */
const leanMetrics = [
  ...(['DeadLetters', 'DeadLetterQueueDepth', 'DecommissioningClusterMessages', 'ResyncRuns'] as const),
  ...(['SelfTriggered', 'SendersRefused', 'ClustersTableStale'] as const),
];
it.each([
  ['full', ['ReconcilesDone', 'ReconcileLatency', ...leanMetrics, 'ClusterTrouble']],
  ['lean', [...leanMetrics, 'ClusterTrouble']],
  ['off', []],
] as const)('with MONITORING %s the metrics are %j', (monitoring, expected) => {
  const lines = printed(() => {
    const { metrics, flush } = createTelemetry('resync', { ...settings, monitoring, perCluster: true });
    metrics.count('ReconcilesDone', 1, { cluster: 'alpha' });
    metrics.milliseconds('ReconcileLatency', 17);
    for (const name of leanMetrics) metrics.count(name);
    metrics.trouble('alpha', 'watcher-down');
    flush();
  });
  const written = lines.flatMap((line) => Object.keys(line).filter((name) => /^[A-Z]/.test(name)));
  expect([...new Set(written)]).toEqual(expected);
  const trouble = lines.find((line) => 'ClusterTrouble' in line);
  if (monitoring === 'off') expect(trouble).toBeUndefined();
  else expect(trouble).toMatchObject({ service: 'resync', cluster: 'alpha', what: 'watcher-down' });
});

it.each([
  'full',
  'lean',
] as const)('with %s monitoring a metric of the author is written, with the controller as its dimension', (monitoring) => {
  const lines = printed(() => {
    const { metrics, flush } = createTelemetry('widget', { ...settings, perCluster: true, monitoring });
    metrics.author('RecordsWritten', 2);
    metrics.author('RecordsWritten', 1);
    flush();
  });
  expect(lines).toMatchObject([
    {
      service: 'widget',
      RecordsWritten: [2, 1],
      _aws: {
        CloudWatchMetrics: [{ Dimensions: [['service']], Metrics: [{ Name: 'RecordsWritten', Unit: 'Count' }] }],
      },
    },
  ]);
});

it('a value that JSON does not have is written as text, and the entry is not lost', () => {
  const cycle: { self?: object } = {};
  cycle.self = cycle;
  const lines = printed(() => {
    const log = createTelemetry('widget', settings).log({ key: 'a' });
    log.info('counted', { size: 2n });
    log.info('seen', { cycle, token: 'hvs.abcdefghijkl' });
  });
  expect(lines).toMatchObject([
    { message: 'counted', size: '2' },
    { message: 'seen', key: 'a', cycle: expect.stringContaining('Circular') },
  ]);
  expect(JSON.stringify(lines)).not.toContain('hvs.abc');
});

it('a line of metrics has at most 100 values of a metric and 100 metrics, and none is lost', () => {
  const lines = printed(() => {
    const { metrics, flush } = createTelemetry('widget', settings);
    for (let value = 0; value < 250; value += 1) metrics.author('Records', value);
    for (let number = 0; number < 250; number += 1) metrics.author(`Own${number}`, 1);
    flush();
  });
  const values = lines.flatMap(({ Records = [] }) => Records);
  expect(values).toEqual(Array.from({ length: 250 }, (_, value) => value));
  expect(new Set(lines.flatMap((line) => Object.keys(line)).filter((name) => name.startsWith('Own'))).size).toBe(250);
  for (const line of lines) {
    expect(Object.keys(line).length).toBeLessThanOrEqual(102);
    for (const value of Object.values(line)) if (Array.isArray(value)) expect(value.length).toBeLessThanOrEqual(100);
  }
});
