// The proof of the proof: runs the memory suites on every mutant, and fails when one survives, or when a statement catches none
// without a reason. Names given as arguments choose mutants; then nothing is said about statements.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { registry } from '../../src/controllers/registry.ts';
import { isCross, subjects } from './catalogue.ts';
import type { Mutant } from './mutant.ts';
import { runSuites, type Suites } from './run-suites.ts';
import { uncaught } from './uncaught.ts';
import { formatVerdict, idsOf, judge, type Verdict } from './verdict.ts';

const baselineSeconds = 600;
const mutantSeconds = 240;

const { positionals } = parseArgs({ allowPositionals: true });
const ended = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ended.abort(new Error(name)));
const { signal } = ended;

const say = (line: string) => process.stdout.write(`${line}\n`);
const startedAt = performance.now();
const secondsSince = (from: number) => `${((performance.now() - from) / 1000).toFixed(1)} s`;

type Entry = { readonly name: string; readonly run: Suites; readonly mutant: Mutant };
const controllers = registry.map(({ name }) => name);
const others = (names: readonly string[]) => controllers.filter((one) => !names.includes(one));
const entries: readonly Entry[] = subjects
  .flatMap(({ name, generic, own }) =>
    [...generic, ...own].flatMap(({ suites, mutants }) => {
      const without = suites.some(isCross) ? others([name]) : [];
      return mutants.map((mutant) => ({ name: `${name}: ${mutant.name}`, run: { files: suites, without }, mutant }));
    }),
  )
  .filter(({ name }) => positionals.length === 0 || positionals.some((wanted) => name.includes(wanted)));

// Without a mutant everything has to hold; otherwise a failure says nothing.
const files = [...new Set(entries.flatMap(({ run }) => run.files))];
const shown = subjects.flatMap(({ name, generic }) =>
  generic.some(({ suites }) => suites.some(isCross)) ? [name] : [],
);
const whole = { files, without: files.some(isCross) ? others(shown) : [], workers: availableParallelism() };
const baseline = await runSuites(whole, undefined, { limitSeconds: baselineSeconds, signal });
if (baseline.type !== 'ran' || baseline.tests.some(({ passed }) => !passed)) {
  say('Without any mutant the suites fail:');
  if (baseline.type === 'ran') for (const { name, passed } of baseline.tests) if (!passed) say(`  ${name}`);
  if (baseline.type === 'broken') say(baseline.why);
  if (baseline.type === 'hung') say(`they do not end within ${baselineSeconds} s`);
  process.exit(1);
}
say(
  `${baseline.tests.length} tests hold without a mutant (${secondsSince(startedAt)}); ${entries.length} mutants follow`,
);

const verdicts = new Map<string, Verdict>();
const waiting = [...entries];
async function work(): Promise<void> {
  for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
    const from = performance.now();
    const verdict = judge(await runSuites(entry.run, entry.mutant, { limitSeconds: mutantSeconds, signal }));
    verdicts.set(entry.name, verdict);
    say(`${verdicts.size}/${entries.length} ${entry.name} | ${formatVerdict(verdict)} | ${secondsSince(from)}`);
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, work));

const bad = [...verdicts].filter(([, { type }]) => type !== 'caught');
const caught = new Set([...verdicts.values()].flatMap((one) => (one.type === 'caught' ? one.statements : [])));
const idle = idsOf(baseline.tests.map(({ name }) => name)).filter((id) => !caught.has(id));
const unexplained = positionals.length > 0 ? [] : idle.filter((id) => uncaught[id] === undefined);
if (positionals.length === 0) {
  say(`\nStatements that caught no mutant: ${idle.length === 0 ? 'none' : ''}`);
  for (const id of idle) say(`  ${id}: ${uncaught[id] ?? 'NO REASON GIVEN (test/mutants/uncaught.ts)'}`);
  const outdated = Object.keys(uncaught).filter((id) => caught.has(id));
  if (outdated.length > 0) say(`With a reason, but they did catch one: ${outdated.join(' ')}`);
}
say(`\n${verdicts.size - bad.length} of ${verdicts.size} mutants caught in ${secondsSince(startedAt)}`);
for (const [name, verdict] of bad) say(`  ${name} | ${formatVerdict(verdict)}`);
process.exit(bad.length > 0 || unexplained.length > 0 ? 1 : 0);
