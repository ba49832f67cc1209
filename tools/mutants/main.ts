// The proof of the proof: runs the memory suites on every mutant, and fails when one survives, or when a statement catches none
// without a reason. Names given as arguments choose mutants; then nothing is said about statements.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { registry } from '../../src/controllers/registry.ts';
import { forEachConcurrently } from '../../src/core/async.ts';
import { isOfEvery, subjects } from './catalogue.ts';
import type { Mutant } from './mutant.ts';
import { runSuites, type Suites, type Test } from './run-suites.ts';
import { uncaught } from './uncaught.ts';
import { formatVerdict, idsOf, judge, type Verdict } from './verdict.ts';

const { positionals } = parseArgs({ allowPositionals: true });
const ended = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ended.abort(new Error(name)));
const { signal } = ended;

const say = (line: string) => process.stdout.write(`${line}\n`);
const startedAt = performance.now();
const secondsSince = (from: number) => `${((performance.now() - from) / 1000).toFixed(1)} s`;

type Entry = { readonly name: string; readonly run: Suites; readonly mutant: Mutant };
const controllers = registry.map(({ name }) => name);

const entries: readonly Entry[] = subjects
  .flatMap(({ name, generic, own }) =>
    [...generic, ...own].flatMap(({ suites, mutants, of }) => {
      const run = { files: suites, without: of === undefined ? [] : controllers.filter((one) => one !== of) };
      return mutants.map((mutant) => ({ name: `${name}: ${mutant.name}`, run, mutant }));
    }),
  )
  .filter(({ name }) => positionals.length === 0 || positionals.some((wanted) => name.includes(wanted)));

/** One more at a time than there are processors: many a mutant waits for what never comes. */
const concurrency = availableParallelism() + 1;

// Without a mutant everything has to hold; otherwise a failure says nothing.
const baseline: Test[] = [];
const calm = Map.groupBy(
  entries.flatMap(({ run: { files, without } }) =>
    files.map((file) => ({ file, without: isOfEvery(file) ? without : [] })),
  ),
  ({ without }) => without.join(),
);
await forEachConcurrently(concurrency, calm.values(), async (alike) => {
  const run = { files: [...new Set(alike.map(({ file }) => file))], without: alike[0]?.without ?? [] };
  const ran = await runSuites(run, undefined, { limitSeconds: 600, signal });
  if (ran.type !== 'ran') throw new Error(`without any mutant: ${ran.type === 'hung' ? 'no end' : ran.why}`);
  baseline.push(...ran.tests);
});
const failed = baseline.filter(({ passed }) => !passed);
if (failed.length > 0) {
  say('Without any mutant these fail:');
  for (const { name, timedOut } of failed) say(`  ${name}${timedOut ? ' (timed out)' : ''}`);
  process.exit(1);
}
say(`${baseline.length} tests hold without a mutant (${secondsSince(startedAt)}); ${entries.length} mutants follow`);

const verdicts = new Map<string, Verdict>();
await forEachConcurrently(concurrency, entries, async ({ name, run, mutant }) => {
  const from = performance.now();
  const verdict = judge(await runSuites(run, mutant, { limitSeconds: 360, signal }));
  verdicts.set(name, verdict);
  say(`${verdicts.size}/${entries.length} ${name} | ${formatVerdict(verdict)} | ${secondsSince(from)}`);
});

const bad = [...verdicts].filter(([, { type }]) => type !== 'caught');
const caught = new Set([...verdicts.values()].flatMap((one) => (one.type === 'caught' ? one.statements : [])));
const idle = idsOf(baseline.map(({ name }) => name)).filter((id) => !caught.has(id));
const unexplained = positionals.length > 0 ? [] : idle.filter((id) => uncaught[id] === undefined);
if (positionals.length === 0) {
  say(`\nStatements that caught no mutant: ${idle.length === 0 ? 'none' : ''}`);
  for (const id of idle) say(`  ${id}: ${uncaught[id] ?? 'NO REASON GIVEN (tools/mutants/uncaught.ts)'}`);
  const outdated = Object.keys(uncaught).filter((id) => caught.has(id));
  if (outdated.length > 0) say(`With a reason, but they did catch one: ${outdated.join(' ')}`);
}
say(`\n${verdicts.size - bad.length} of ${verdicts.size} mutants caught in ${secondsSince(startedAt)}`);
for (const [name, verdict] of bad) say(`  ${name} | ${formatVerdict(verdict)}`);
process.exit(bad.length > 0 || unexplained.length > 0 ? 1 : 0);
