// Only the picture of `outrigger dev`, and its terminal with a system in memory. test/journey/dev-picture.test.ts has a
// whole system.
import path from 'node:path';
import { startResync } from '@outrigger/cli/commands/dev';
import { type PictureState, picture, sparkline } from '@outrigger/cli/commands/dev-picture';
import { healthOf, watcherHealth } from '@outrigger/cli/console/health';
import type { ControllerFlow } from '@outrigger/cli/console/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rowOf } from '../console/fake-source.ts';
import { startOnTerminal } from '../support/terminal.ts';

const url = 'http://127.0.0.1:41234/#a-token-that-is-long-enough-for-a-console';
const flowOf = (name: string, fields: Partial<ControllerFlow> = {}): ControllerFlow => ({
  name,
  kind: 'Foo',
  queued: 0,
  inFlight: 0,
  deadLetters: 0,
  reconcilesPerSecond: 0.4,
  failuresPerSecond: 0,
  health: healthOf('working'),
  ...fields,
});
const stateOf = (controllers: readonly ControllerFlow[], fields: Partial<PictureState> = {}): PictureState => ({
  seconds: 12,
  url,
  rows: [rowOf('foos.example.com/default/a')],
  faults: [],
  shows: 'problems',
  said: 'saved',
  flow: { at: 0, changesPerSecond: 0, waitingTimers: 0, sharedDeadLetters: 0, clusters: [], controllers },
  runs: new Map([['foo', [0, 1, 4]]]),
  log: ['first', 'second', 'last'],
  ...fields,
});
const shown = (state: PictureState, columns = 80, rows = 12) =>
  picture(state, { columns, rows }).map(({ text }) => text);
const broken = flowOf('bar', { queued: 3, deadLetters: 2, health: healthOf('cannot load', 'no module') });
const { queued: _, ...unread } = flowOf('foo');
const noted = { at: 0, changesPerSecond: 0, clusters: [], notes: ['Queues cannot be read: foo.fifo: no response'] };
const faults = [{ name: 'sqs-down', title: 'SQS down', text: 'Every call is a 503.', part: 'Queues' }];

describe('the picture', () => {
  it.each<[string, PictureState, readonly RegExp[]]>([
    [
      'the seconds and the log of a start',
      stateOf([], { url: undefined, flow: undefined }),
      [/starting: 12 s/, /^last$/, /^q quit/],
    ],
    [
      'that all is well',
      stateOf([flowOf('foo')]),
      [/41234/, /^All is well: 1 of 1/, /^foo .* ▁▃█ +0\.4 +0 +0 +working/, /^c console +l log +r resync +q quit$/],
    ],
    [
      'that a watcher is reconnecting, and not that all is well',
      {
        ...stateOf([flowOf('foo')]),
        flow: {
          at: 0,
          changesPerSecond: 0,
          waitingTimers: 0,
          sharedDeadLetters: 0,
          controllers: [flowOf('foo')],
          clusters: [{ name: 'local', health: watcherHealth({ lastSeenSeconds: 4, reconnectingSeconds: 7 }) }],
        },
      },
      [/41234/, /^1 cluster is reconnecting; 1 of 1 objects are Ready; behind/, /^foo /],
    ],
    [
      'that a controller is paused, and not that all is well',
      stateOf([flowOf('foo', { health: healthOf('paused') })]),
      [/41234/, /^1 controller is paused; 1 of 1 objects are Ready; behind/, /^foo .* paused/],
    ],
    [
      'a controller with a problem first',
      stateOf([flowOf('foo'), broken]),
      [
        /^2 problems; behind: 3 keys; missed: not known/,
        /^bar .* 3 +2 +cannot load/,
        /^foo /,
        /function bar: cannot load: no module/,
      ],
    ],
    [
      'that queues cannot be read',
      stateOf([unread], { flow: { ...noted, controllers: [unread] } }),
      [/^1 problem; behind: not known/, /^foo .* \? +0/, /^Queues cannot be read: foo\.fifo/],
    ],
    [
      'the log when it is asked for',
      stateOf([flowOf('foo')], { shows: 'log' }),
      [/41234/, /^foo /, /^first$/, /^last$/, /l problems/],
    ],
    [
      'the faults with their letters',
      stateOf([flowOf('foo')], { shows: 'faults', faults }),
      [/^a +SQS down: Every call/, /Escape/],
    ],
    [
      'an experiment that lost nothing',
      stateOf([flowOf('foo')], {
        faults,
        experiment: {
          fault: 'sqs-down',
          startedAt: 0,
          seconds: 8,
          total: 5,
          awaited: 0,
          failed: 0,
          repairedAt: 8_000,
          reconciledAt: 9_500,
          endedAt: 9_600,
        },
      }),
      [/^SQS down: 5 reconciles until 1\.5 s after the repair, 0 failed, 0 lost$/],
    ],
  ])('shows %s', (_, state, lines) => {
    const found = shown(state);
    const places = lines.map((line) => found.findIndex((one) => line.test(one)));
    expect(places, found.join('\n')).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
  });

  it('has the whole URL, the keys, and the size of the terminal, whatever there is to show', () => {
    const name = fc.stringMatching(/^[a-z-]{1,60}$/);
    const shows = fc.constantFrom('problems' as const, 'log' as const, 'faults' as const);
    fc.assert(
      fc.property(
        fc.array(name, { maxLength: 40 }),
        shows,
        fc.integer({ min: 40, max: 200 }),
        fc.integer({ min: 6, max: 60 }),
        (names, below, columns, rows) => {
          const controllers = names.map((one) =>
            flowOf(one, one.length % 3 === 0 ? { health: healthOf('crashing') } : {}),
          );
          const found = shown(stateOf(controllers, { shows: below, faults }), columns, rows);
          expect(found).toHaveLength(rows);
          for (const line of found) expect(line.length).toBeLessThanOrEqual(columns);
          expect(found.slice(0, 3).join('')).toContain(url);
          expect(found.at(-1)).toMatch(below === 'faults' ? /a letter/ : /c console/);
        },
      ),
    );
  });

  it('says how many lines there is no room for', () => {
    const found = shown(stateOf(Array.from({ length: 30 }, (_, index) => flowOf(`foo-${index}`))), 80, 14);
    expect(found).toContain('and 23 more');
  });

  it('draws no reconcile as the lowest mark, and the most as the highest', () => {
    expect(sparkline([0, 10, 20], 4)).toBe(' ▁▅█');
    expect(sparkline([1, 2, 3], 2)).toBe('▅▆');
  });
});

describe('the terminal', { timeout: 30_000 }, () => {
  const program = [process.execPath, path.join(import.meta.dirname, 'dev-screen-program.ts')];

  it('keeps the URL over many lines and a new size, and is as it was after Ctrl-C, with the last lines', async () => {
    await using terminal = startOnTerminal(program);
    await terminal.screen((lines) => lines.at(-2) === 'line 600' && lines[0]?.includes('#token') === true);
    terminal.press('l');
    const log = await terminal.screen((lines) => lines.some((line) => /system .* line 600$/.test(line)));
    expect(log[0]).toContain('http://127.0.0.1:1/#token');
    terminal.resize(10, 40);
    const small = await terminal.screen((lines) => lines.length === 10);
    expect(small[0]).toContain('http://127.0.0.1:1/#token');
    terminal.press('\u0003');
    const { status, isRestored, after } = await terminal.ended;
    expect({ status, isRestored }).toEqual({ status: 0, isRestored: true });
    expect(after).toContain('line 401\n');
    expect(after).toContain('line 600\n');
    expect(after).not.toContain('line 400\n');
  });

  it('is as it was after a crash, and shows the error', async () => {
    await using terminal = startOnTerminal(program);
    await terminal.screen((lines) => lines[0]?.includes('#token') === true);
    terminal.press('r');
    const { status, isRestored, after } = await terminal.ended;
    expect({ status, isRestored }).toEqual({ status: 1, isRestored: true });
    expect(after).toContain('Error: a crash');
  });
});

it('a resync without its function is an error, and does not say that a run has started', async () => {
  const said: string[] = [];
  const system = { functions: [], queues: { timers: 'http://127.0.0.1:1/000000000000/outrigger-dev-timers' } };
  const started = startResync(system, (text) => said.push(text));
  await expect(started).rejects.toThrow('there is no function outrigger-dev-resync');
  expect(said).toEqual([]);
});
