// `outrigger cost` against docs/records/cost.md, whose tables have the same formulas, and its rows by hand.
import { readFile } from 'node:fs/promises';
import { costCommand } from '@outrigger/cli/commands/cost/cost';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { runHere } from './command-result.ts';

const row = z.object({ what: z.string(), least: z.number(), most: z.number(), from: z.string() });
const shape = z.object({ rows: z.array(row), watchers: z.array(row) });

async function cost(...argv: readonly string[]) {
  const { rows, watchers } = shape.parse(JSON.parse((await runHere(costCommand(), [...argv, '--json'])).out));
  const sum = (of: 'least' | 'most') => rows.reduce((all, one) => all + one[of], 0);
  return { rows, watchers, range: `$${Math.round(sum('least'))} - $${Math.round(sum('most'))}` };
}

it('a month of 50 clusters with 10,000 objects costs what docs/records/cost.md says', async () => {
  const { range, watchers } = await cost('--clusters', '50', '--objects', '10000');
  const page = await readFile('docs/records/cost.md', 'utf8');
  const lines = page
    .split('\n')
    .filter((line) => line.startsWith('| **two watchers in each cluster, on existing nodes**'));
  expect(lines[1]?.split(' | ')[3]).toBe(range);
  expect(watchers.map(({ least }) => least > 0)).toEqual([false, true, true]);
});

it('a million changes cost what docs/records/cost.md says of full batches, and at most that of changes with a child', async () => {
  const { rows } = await cost('--changes', '1000000');
  const { least = 0, most = 0 } = rows.find(({ what }) => what === 'changes') ?? {};
  const page = await readFile('docs/records/cost.md', 'utf8');
  expect(page).toMatch(new RegExp(`\\| changes, in full batches of 10 \\|.* \\$${least.toFixed(2)} \\|`));
  expect(page).toMatch(new RegExp(`whose change is reconciled too, one by one \\|.* \\$${most.toFixed(2)} \\|`));
});

it('the rows are printed with what they are computed from, and each price with its sources', async () => {
  const { out, status } = await runHere(costCommand(), ['--clusters', '2']);
  expect(status).toBe(0);
  expect(out).toMatch(/^resync, idle +\$\d+\.\d\d +2 clusters x 7 kinds, each 10 minutes$/m);
  expect(out).toMatch(/^a month +\$\d+\.\d\d +us-east-1, without watchers$/m);
  expect(out).toMatch(/^\$0\.5 SQS FIFO, a million requests: cloudburn\.io/m);
});

it('prices that cannot be read are an error that names the file', async () => {
  const { err, status } = await runHere(costCommand(), ['--prices', 'no-such-file.json']);
  expect(status).toBe(1);
  expect(err).toContain('no-such-file.json');
});
