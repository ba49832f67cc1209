// Only how the bench handles peers that cannot be built, do not start, or end early: their columns show the error, and the others are
// measured. `npm run bench` measures.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { describe, expect, it, vi } from 'vitest';
import { compare, type Goal } from '../../bench/compare.ts';
import { type Entrant, measureContestants } from '../../bench/contest.ts';
import { render } from '../../bench/document.ts';
import { measureAll } from '../../bench/measure.ts';
import type { Contestant, Program } from '../../bench/peers/contestant.ts';
import type { Row } from '../../bench/row.ts';
import { startContestant } from '../../bench/start-contestant.ts';
import { renderSummary } from '../../bench/summary.ts';

const program = (script: string): Program => ({ command: process.execPath, args: ['-e', script], version: '1' });
const contestant = (name: string, prepare: Contestant['prepare']): Contestant => ({
  name,
  prepare,
  jobs: ['ping'],
  settings: ['default'],
});
const ready = "console.log('ready'); setInterval(() => {}, 1000);";
const good = contestant('ours', () => Promise.resolve(program(ready)));
const unbuilt = contestant('unbuilt', () => Promise.reject(new Error('go build: 2 errors\nmain.go:3: undefined: x\n')));
const silent = contestant('silent', () =>
  Promise.resolve(program("console.error('loading'); console.error('no module named kopf'); process.exit(3)")),
);
const absent = contestant('absent', () => Promise.resolve({ ...program(''), command: '/nowhere/kopf' }));
const mortal = contestant('mortal', () =>
  Promise.resolve(
    program("console.log('ready'); console.error('out of memory'); setTimeout(() => process.exit(1), 50)"),
  ),
);

/** Starts the program, and measures until the short-lived one has ended. */
async function measure({ name, program: started, setting }: Entrant): Promise<number> {
  const place = { kubeconfig: '/nowhere', outsideUrl: 'http://127.0.0.1:1' };
  await using running = await startContestant(started, { job: 'ping', setting, ...place });
  const measured = name === 'mortal' ? new Promise<number>(() => undefined) : Promise.resolve(1);
  return await Promise.race([measured, running.died]);
}
const options = { runs: 2, log: () => undefined };
const about = { figure: 'f2', what: 'edit to status', unit: 'ms', goals: [] };
const row = async () =>
  compare(about, await measureContestants([good, unbuilt, silent, absent, mortal], 'ping', measure, options), Number);

it('a peer with long runs is measured once, the others as often as requested', async () => {
  const sleepy = async ({ name }: Entrant) => {
    if (name === 'unhurried') await new Promise((resolve) => setTimeout(resolve, 300));
    return 1;
  };
  const unhurried = { ...good, name: 'unhurried' };
  const outcomes = await measureContestants([good, unhurried], 'ping', sleepy, { ...options, longMilliseconds: 200 });
  expect(outcomes.map(({ name, runs }) => [name, runs.length])).toEqual([
    ['ours', 2],
    ['unhurried', 1],
  ]);
});

it('a peer that fails to build, to start or during its run shows the last line of its error in its column, and the others are measured', async () => {
  const { comparisons = [], failed } = await row();
  expect(comparisons.map(({ name, failure }) => [name, failure])).toEqual([
    ['ours', undefined],
    ['unbuilt', 'main.go:3: undefined: x'],
    ['silent', 'no module named kopf'],
    ['absent', 'spawn /nowhere/kopf ENOENT'],
    ['mortal', 'out of memory'],
  ]);
  expect(comparisons.map(({ spread }) => spread?.median)).toEqual([1, undefined, undefined, undefined, undefined]);
  expect(failed).toBe(true);
});

it('a peer that fails makes the run fail, and is in the document', async () => {
  const rows = [await row()];
  const figure = { name: 'f2', seconds: 1, measure: () => Promise.resolve(rows) };
  expect(await measureAll([figure], options)).toEqual({ rows, failed: true });
  const text = render({ f2: { on: '2026-01-01', machine: 'a machine', rows } }, { drawn: new Set(), folder: 'x' });
  expect(text).toContain(
    '| unbuilt | main.go:3: undefined: x | - |\n| silent | no module named kopf | - |\n| absent | spawn /nowhere/kopf ENOENT | - |',
  );
});

it('the summary has the ratio to the best setting of a peer, and counts the goals of the other rows', () => {
  const about = { figure: 'f2', what: 'p50', unit: 'ms', goals: [{ than: 'kopf', times: 1 }] };
  const outcome = (name: string, figure: number) => ({ name, setting: 'best' as const, runs: [figure] });
  const compared = compare(
    about,
    [outcome('Outrigger', 6), outcome('kopf (default)', 12), outcome('kopf (best)', 4)],
    Number,
  );
  const plain = { figure: 'f4', what: 'requests', ours: '1', goal: '1', met: true };
  const stored = (row: Row) => ({ on: '2026-01-01', machine: 'a machine', rows: [row] });
  const text = renderSummary({ f4: stored(plain), f2: stored(compared) });
  expect(text).toContain('| f2: p50 | 6.0 ms | - | 1.5 | - | - | **missed** |');
  expect(text).toContain('f4 1 of 1.');
});

it('the summary fits a screen, and no line of it and of its records is over 120 columns', async () => {
  const files = ['docs/performance.md', 'docs/records/performance.md', 'docs/records/profiles.md'];
  const texts = await Promise.all(files.map(async (file) => await readFile(file, 'utf8')));
  expect(texts[0]?.split('\n').length).toBeLessThanOrEqual(65);
  expect(texts.flatMap((text) => text.split('\n').filter((line) => line.length > 120))).toEqual([]);
});

it('a measured program ends with the bench, even if the bench is killed', async () => {
  const module = JSON.stringify(new URL('../../bench/child-process.ts', import.meta.url).href);
  const script = `const { startGuarded } = await import(${module}); console.log(startGuarded('sleep', ['600'], { env: process.env }).pid);`;
  const bench = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(createInterface(bench.stdout), 'line');
  process.kill(Number(line), 0);
  bench.kill('SIGKILL');
  await vi.waitFor(() => expect(() => process.kill(Number(line), 0)).toThrow('ESRCH'), 30_000);
});

it('a figure that hangs is reported as such, and the others are measured', async () => {
  const hanging = { name: 'f1', seconds: 1, measure: () => new Promise<never>(() => undefined) };
  const rows = [{ figure: 'f4', what: 'requests', ours: '1', goal: '-' }];
  const counted = { name: 'f4', seconds: 1, measure: () => Promise.resolve(rows) };
  const measured = await measureAll([hanging, counted], { ...options, longestMs: 50 });
  expect(measured.rows.map(({ figure, ours }) => [figure, ours])).toEqual([
    ['f1', 'timeout after 1 s'],
    ['f4', '1'],
  ]);
  expect(measured.failed).toBe(true);
});

describe('a goal', () => {
  const outcome = (name: string, figure: number) => ({ name, setting: 'best' as const, runs: [figure] });
  const outcomes = [outcome('ours', 10), outcome('peer (default)', 9), outcome('peer (best)', 4)];

  it('a goal is missed if ours is above the factor for any setting of the peer', async () => {
    const met = (times: number) => compare({ ...about, goals: [{ than: 'peer', times }] }, outcomes, Number).met;
    expect([met(2), met(2.5)]).toEqual([false, true]);
  });

  it('a goal with a peer that was not measured is not met; another peer can still miss it', () => {
    const unmeasured = { than: 'unmeasured', times: 1 };
    const met = (times: number) =>
      compare({ ...about, goals: [{ than: 'peer', times }, unmeasured] }, outcomes, Number).met;
    expect([met(2), met(2.5)]).toEqual([false, undefined]);
  });

  it('a goal of a contestant that was not measured is neither met nor missed', () => {
    const goals: readonly Goal[] = [{ most: 10 }, { than: 'peer', times: 1 }];
    const unmeasured = [{ name: 'ours', runs: [], failure: 'out of memory' }, ...outcomes.slice(1)];
    expect(goals.map((one) => compare({ ...about, goals: [one] }, unmeasured, Number).met)).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('a goal that is a number is met up to that number, independent of peers', () => {
    const met = (one: Goal) => compare({ ...about, goals: [one] }, outcomes, Number);
    const verdicts = [{ most: 10 }, { most: 9 }, { least: 10 }, { least: 11 }].map((one) => met(one).met);
    expect(verdicts).toEqual([true, false, true, false]);
    expect(met({ most: 10 }).goal).toBe('<= 10 ms');
  });
});

it('a figure by number of objects has a column for its growth and no ratios', () => {
  const row8 = { figure: 'f8', what: 'edit to status', ours: '20 ms', goal: '<= 1.25 x', met: true };
  const some = (name: string, median: number) => ({ name, unit: 'ms', spread: { median, least: 1, most: 40 } });
  const rows = [{ ...row8, comparisons: [some('10 objects', 20), some('100 objects', 10)], growth: '0.50' }];
  const text = render({ f8: { on: '2026-01-01', machine: 'a machine', rows } }, { drawn: new Set(), folder: 'x' });
  expect(text).toContain('**edit to status**. Growth: 0.50. Goal: <= 1.25 x; met.');
  expect(text).toContain('| **Outrigger** | 20 ms |\n| 100 objects | 10 ms (1.0-40) |');
});
