// Only what the bench does about peers that cannot be built, do not start, or end: their columns say so, and the others are measured. What is
// measured is `npm run bench`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it, vi } from 'vitest';
import { compare, type Goal } from '../../bench/compare.ts';
import { compete, type Entrant } from '../../bench/contest.ts';
import { render } from '../../bench/document.ts';
import { measureAll } from '../bench/measure.ts';
import type { Contestant, Program } from '../bench/peers/contestant.ts';
import { startContestant } from '../../bench/start-contestant.ts';

const program = (script: string): Program => ({ command: process.execPath, args: ['-e', script], version: '1' });
const contestant = (name: string, prepare: Contestant['prepare']): Contestant => ({
  ...{ name, prepare, jobs: ['ping'], settings: ['default'] },
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

/** Starts the program, and measures for as long as it takes the mortal one to die. */
async function measure({ name, program: started, setting }: Entrant): Promise<number> {
  const place = { kubeconfig: '/nowhere', outsideUrl: 'http://127.0.0.1:1' };
  await using running = await startContestant(started, { job: 'ping', setting, ...place });
  const measured = name === 'mortal' ? new Promise<number>(() => undefined) : Promise.resolve(1);
  return await Promise.race([measured, running.died]);
}
const options = { runs: 2, say: () => undefined };
const about = { figure: 'f2', what: 'edit to status', unit: 'ms', goals: [] };
const row = async () =>
  compare(about, await compete([good, unbuilt, silent, absent, mortal], 'ping', measure, options), Number);

describe('a peer whose run takes long', () => {
  it('is measured once, the others as often as was asked', async () => {
    const sleepy = async ({ name }: Entrant) => {
      if (name === 'unhurried') await new Promise((resolve) => setTimeout(resolve, 300));
      return 1;
    };
    const unhurried = { ...good, name: 'unhurried' };
    const outcomes = await compete([good, unhurried], 'ping', sleepy, { ...options, longMilliseconds: 200 });
    expect(outcomes.map(({ name, runs }) => [name, runs.length])).toEqual([
      ['ours', 2],
      ['unhurried', 1],
    ]);
  });
});

describe('a peer that fails', () => {
  it('to build, to start, or while it is measured has the last line of its error in its column, and the others are measured', async () => {
    const { beside = [], failed } = await row();
    expect(beside.map(({ name, failure }) => [name, failure])).toEqual([
      ['ours', undefined],
      ['unbuilt', 'main.go:3: undefined: x'],
      ['silent', 'no module named kopf'],
      ['absent', 'spawn /nowhere/kopf ENOENT'],
      ['mortal', 'out of memory'],
    ]);
    expect(beside.map(({ spread }) => spread?.median)).toEqual([1, undefined, undefined, undefined, undefined]);
    expect(failed).toBe(true);
  });

  it('makes the run end with a failure, and stands in the document', async () => {
    const rows = [await row()];
    const figure = { name: 'f2', seconds: 1, measure: () => Promise.resolve(rows) };
    expect(await measureAll([figure], options)).toEqual({ rows, failed: true });
    const text = render({ f2: { on: '2026-01-01', machine: 'a machine', rows } }, { drawn: new Set(), folder: 'x' });
    expect(text).toContain('| what | ours | unbuilt | silent | absent | mortal | goal | met |');
    expect(text).toContain(
      '| main.go:3: undefined: x | no module named kopf | spawn /nowhere/kopf ENOENT | out of memory | - | - |',
    );
  });
});

describe('who is measured', () => {
  it('ends with the bench, even when that is killed', async () => {
    const module = JSON.stringify(new URL('../../bench/child-process.ts', import.meta.url).href);
    const script = `const { startHeld } = await import(${module}); console.log(startHeld('sleep', ['600'], { env: process.env }).pid);`;
    const bench = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [line] = await once(createInterface(bench.stdout), 'line');
    process.kill(Number(line), 0);
    bench.kill('SIGKILL');
    await vi.waitFor(() => expect(() => process.kill(Number(line), 0)).toThrow('ESRCH'), 5_000);
  });
});

describe('a figure that hangs', () => {
  it('is said to, and the others are measured', async () => {
    const hanging = { name: 'f1', seconds: 1, measure: () => new Promise<never>(() => undefined) };
    const rows = [{ figure: 'f4', what: 'requests', ours: '1', goal: '-' }];
    const counted = { name: 'f4', seconds: 1, measure: () => Promise.resolve(rows) };
    const measured = await measureAll([hanging, counted], { ...options, longestMs: 50 });
    expect(measured.rows.map(({ figure, ours }) => [figure, ours])).toEqual([
      ['f1', 'not within 1 s'],
      ['f4', '1'],
    ]);
    expect(measured.failed).toBe(true);
  });
});

describe('a goal', () => {
  const outcome = (name: string, figure: number) => ({ name, setting: 'best' as const, runs: [figure] });
  const outcomes = [outcome('ours', 10), outcome('peer (default)', 9), outcome('peer (best)', 4)];

  it('is missed when ours is more than so many times any setting of the peer', async () => {
    const met = (times: number) => compare({ ...about, goals: [{ than: 'peer', times }] }, outcomes, Number).met;
    expect([met(2), met(2.5)]).toEqual([false, true]);
  });

  it('beside somebody who was not measured is not met; it may be missed beside another', () => {
    const nobody = { than: 'nobody', times: 1 };
    const met = (times: number) =>
      compare({ ...about, goals: [{ than: 'peer', times }, nobody] }, outcomes, Number).met;
    expect([met(2), met(2.5)]).toEqual([false, undefined]);
  });

  it('of somebody who was not measured is neither met nor missed', () => {
    const goals: readonly Goal[] = [{ most: 10 }, { than: 'peer', times: 1 }];
    const unmeasured = [{ name: 'ours', runs: [], failure: 'out of memory' }, ...outcomes.slice(1)];
    expect(goals.map((one) => compare({ ...about, goals: [one] }, unmeasured, Number).met)).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('of a number is met up to that number, whatever peers came to', () => {
    const met = (one: Goal) => compare({ ...about, goals: [one] }, outcomes, Number);
    const verdicts = [{ most: 10 }, { most: 9 }, { least: 10 }, { least: 11 }].map((one) => met(one).met);
    expect(verdicts).toEqual([true, false, true, false]);
    expect(met({ most: 10 }).goal).toBe('<= 10 ms');
  });
});

describe('a figure of ever more objects', () => {
  it('has a column for how much it grew, and no ratios beside it', () => {
    const row8 = { figure: 'f8', what: 'edit to status', ours: '20 ms', goal: '<= 1.25 x', met: true };
    const some = (name: string, median: number) => ({ name, unit: 'ms', spread: { median, least: 1, most: 40 } });
    const rows = [{ ...row8, beside: [some('10 objects', 20), some('100 objects', 10)], growth: '0.50' }];
    const text = render({ f8: { on: '2026-01-01', machine: 'a machine', rows } }, { drawn: new Set(), folder: 'x' });
    expect(text).toContain('| what | ours | 100 objects | growth | goal | met |');
    expect(text).toContain('| edit to status | 20 ms | 10 ms (1.0-40) | 0.50 | <= 1.25 x | met |');
  });
});
