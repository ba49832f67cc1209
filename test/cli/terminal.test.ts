// Only how lines look on a terminal; in a pipe they stay as they are.
import { WriteStream } from 'node:tty';
import { judge } from '@outrigger/cli/commands/status/verdict';
import { ageText, colourOf, fitted, fold } from '@outrigger/cli/commands/terminal';
import { healthOf } from '@outrigger/cli/console/health';
import { problemsOf } from '@outrigger/cli/console/problems';
import { RunTimes, timesText } from '@outrigger/cli/console/run-times';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';

// CI, TMUX and others say how many colours a terminal has: here only TERM and NO_COLOR do.
const getColorDepth = () =>
  WriteStream.prototype.getColorDepth({ TERM: 'xterm-256color', ...(process.env.NO_COLOR ? { NO_COLOR: '1' } : {}) });
const stream = (isTTY: boolean, columns = 20) =>
  Object.assign(Object.create(process.stdout), { isTTY, columns, getColorDepth });

it('a long line is broken between words on a terminal, and stays as it is in a pipe', () => {
  const line = '  foo  waits for the cluster of the kitchen';
  expect(fitted(line, stream(false), () => 'red')).toBe(line);
  expect(fold(line, 20).split('\n')).toEqual(['  foo  waits for the', '      cluster of the', '      kitchen']);
});

it('no line is longer than the terminal, unless a word is', () => {
  const word = fc.stringMatching(/^[a-z]{1,9}$/);
  fc.assert(
    fc.property(fc.array(word, { minLength: 1 }), fc.integer({ min: 20, max: 60 }), (words, columns) => {
      const lines = fold(words.join(' '), columns).split('\n');
      expect(lines.join(' ').split(/\s+/)).toEqual(words);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
    }),
  );
});

it('a problem has a colour on a terminal, and none with NO_COLOR', () => {
  vi.stubEnv('NO_COLOR', undefined);
  vi.stubEnv('FORCE_COLOR', undefined);
  expect(fitted('local  DOWN', stream(true), colourOf)).toBe('\u001b[31mlocal  DOWN\u001b[39m');
  expect(fitted('foo  not known', stream(true), colourOf)).toContain('\u001b[33m');
  expect(fitted('foo  working', stream(true), colourOf)).toBe('foo  working');
  vi.stubEnv('NO_COLOR', '1');
  expect(fitted('local  DOWN', stream(true), colourOf)).toBe('local  DOWN');
  vi.unstubAllEnvs();
});

it.each([
  [90, '90 s'],
  [2_041, '34 min'],
  [18_000, '5 h'],
  [300_000, '3 d'],
])('%d seconds are %j', (seconds, text) => {
  expect(ageText(seconds)).toBe(text);
});

it('the verdict counts problems, what is not known, and dead letters', () => {
  const counts = { more: false, failing: 0, stalled: 0, paused: 0 };
  const controllers = [{ controller: 'foo', objects: 3, ready: 2, ...counts }];
  const well = {
    clusters: [{ name: 'local', lastSeenSeconds: 4, controllers }],
    queues: [{ name: 'foo', queued: 0, inFlight: 0, delayed: 0, deadLetters: 0 }],
    functions: [{ name: 'foo', ...healthOf('working') }],
    paused: [],
    others: [],
    resync: { run: '2026-01-01T00:10:00Z', missed: 2 },
  };
  expect(judge(well)).toMatchObject({
    line: 'All is well: 2 of 3 objects are Ready',
    lag: 'behind: 0 keys; missed: 2 by the resync of 2026-01-01T00:10:00Z',
  });
  const unlisted = { ...well, resync: { ...well.resync, unknown: 2 } };
  expect(judge(unlisted).lag).toBe(
    'behind: 0 keys; missed: 2 by the resync of 2026-01-01T00:10:00Z, not known for 2 lists',
  );
  const timed = (cause: string, latencyMs: number) => ({ cause, latencyMs, durationMs: 300, requestMs: 250 });
  const times = new RunTimes();
  for (const run of [timed('change', 1_000), timed('change', 3_000), timed('retry', 60_000)]) times.add('foo', run);
  times.add('bar', timed('change', 400));
  const functions = ['bar', 'foo'].map((name) => ({ name, ...healthOf('working'), times: times.of(name) }));
  const { slowest } = judge({ ...well, functions });
  expect(slowest).toMatchObject({
    controller: 'foo',
    runs: 3,
    p50Ms: 3_000,
    parts: [{ name: 'wait', ms: 1_700 }, {}, {}],
  });
  expect(slowest && timesText(slowest)).toBe(
    '3 runs, p50 3.0 s, p99 3.0 s from a change to its status; ' +
      'on average 1.7 s in watcher and queue, 250 ms in the API server, 50 ms in its code and what it calls',
  );
  expect(timesText({ runs: 12, parts: [] })).toBe('12 runs');
  const reconnecting = { name: 'local', lastSeenSeconds: 4, reconnectingSeconds: 7, controllers };
  expect(judge({ ...well, clusters: [reconnecting] })).toMatchObject({
    line: '1 cluster is reconnecting',
    problems: [],
    unknown: [],
  });
  const paused = [{ name: 'foo', ...healthOf('paused') }];
  expect(judge({ ...well, functions: paused })).toMatchObject({ line: '1 controller is paused', problems: [] });
  const broken = {
    ...well,
    clusters: [
      { name: 'local', problem: 'no route' },
      { name: 'old', decommissioning: true as const },
    ],
    functions: [{ name: 'foo', ...healthOf('not known', 'its log cannot be read') }],
    queues: [{ name: 'foo', deadLetters: 2 }],
    resync: undefined,
  };
  expect(judge(broken)).toEqual({
    line: '1 problem, 1 not known, 1 cluster is decommissioning, 2 dead letters',
    lag: 'behind: not known, changes not known for 1 cluster; missed: not known: no resync was read',
    problems: ['local: no route'],
    unknown: ['foo: its function is not known: its log cannot be read'],
  });
});

it('parts that say the same are one problem, which names three of them, in the status and in the console', () => {
  const health = healthOf('unreachable', 'cannot reach the API server of local: ECONNREFUSED');
  const functions = ['bar', 'baz', 'foo', 'qux'].map((name) => ({ name, ...health }));
  const other = { name: 'quux', ...healthOf('unreachable', 'cannot reach the API server of west: EHOSTUNREACH') };
  const read = {
    clusters: [],
    queues: [],
    functions: [...functions, other],
    paused: [],
    others: [],
    resync: undefined,
  };
  const status = judge(read);
  expect(status.line).toBe('2 problems');
  const controllers = read.functions.map(({ name, ...one }) => ({ name, kind: 'Foo', health: one }));
  const page = problemsOf({ at: 0, changesPerSecond: 0, clusters: [], controllers, sharedDeadLetters: 0 }, []);
  const names = ['bar, baz, foo and 1 more', 'quux'];
  expect(status.problems).toEqual([
    expect.stringMatching(new RegExp(`^${names[0]}: .* local: ECONNREFUSED$`)),
    expect.stringMatching(new RegExp(`^${names[1]}: .* west: EHOSTUNREACH$`)),
  ]);
  expect(page.map(({ text }) => text)).toEqual([
    `functions ${names[0]}: unreachable: ${health.text}`,
    `function ${names[1]}: unreachable: ${other.text}`,
  ]);
});
