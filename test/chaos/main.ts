// `npm run chaos`: breaks everything, row by row, and prints what came of it. `--real` takes the real control plane, `--seed N` the
// choices of an earlier run, `--changes N` more changes a row, `--only TEXT` the rows of that name. Ends with 1 when a promise broke.
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { createCatalogue, openChaos } from './chaos.ts';
import { held, type Outcome } from './row.ts';
import { formatTable } from './table.ts';

const startSeconds = 240;
const { values } = parseArgs({
  options: {
    real: { type: 'boolean', default: false },
    seed: { type: 'string' },
    changes: { type: 'string', default: '40' },
    objects: { type: 'string', default: '8' },
    pause: { type: 'string', default: '300' },
    away: { type: 'string', default: '5' },
    crowd: { type: 'string', default: '100' },
    'resync-keys': { type: 'string', default: '2000' },
    only: { type: 'string', multiple: true },
    verbose: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed ?? randomInt(2 ** 31));
const say = (line: string) => void process.stderr.write(`${line}\n`);
say(`seed ${seed} (again: npm run chaos -- --seed ${seed}${values.real ? ' --real' : ''})`);
const stopped = AbortSignal.timeout(startSeconds * 1000);
const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort(new Error(name)));

const rows = createCatalogue().filter(({ fault }) => (values.only ?? ['']).some((wanted) => fault.includes(wanted)));
const outcomes: Outcome[] = [];
{
  const options = {
    real: values.real,
    seed,
    changes: Number(values.changes),
    objects: Number(values.objects),
    pauseMilliseconds: Number(values.pause),
    awaySeconds: Number(values.away),
    crowd: Number(values.crowd),
    resyncKeys: Number(values['resync-keys']),
    ...(values.verbose ? { onLine: say } : {}),
  };
  await using chaos = await openChaos(options, AbortSignal.any([stopped, interrupted.signal]));
  for (const row of rows) {
    if (interrupted.signal.aborted) break;
    const outcome = await chaos.run(row);
    outcomes.push(outcome);
    say(`${outcomes.length}/${rows.length} ${row.fault}: ${held(outcome) ? 'holds' : 'DOES NOT HOLD'}`);
    for (const line of [...outcome.notes, ...outcome.lost]) say(`  ${line}`);
  }
}
process.stdout.write(`${formatTable(outcomes)}\n`);
const broken = outcomes.filter((one) => !held(one));
const whole = outcomes.length === rows.length && rows.length > 0;
process.stdout.write(`seed ${seed}: ${outcomes.length - broken.length} of ${rows.length} rows hold\n`);
process.exitCode = whole && broken.length === 0 ? 0 : 1;
