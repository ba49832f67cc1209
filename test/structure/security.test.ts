// Only that the security model has a control, a limit and tests for each boundary and each letter of STRIDE, that the
// list of tests is written from the tests, and that those that docs/records/reliability.md names exist. Whether a test holds what is
// said is what a reader has to judge.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { citedIds, controlTests, formatList, listFile, tierOf } from '../../tools/threat-tests.ts';

const page = ['security-controls', 'stolen-parts'].map((name) => readFileSync(`docs/${name}.md`, 'utf8')).join('\n');
const model = readFileSync('docs/security-model.md', 'utf8');
const rows = controlTests();
const used = [...page.matchAll(/\*\((T\d+(?:,\s+T\d+)*)\)\*/g)].flatMap(([, ids = '']) => ids.split(/,\s+/));

describe('docs/security-model.md', () => {
  const boundaries = model.split('\n## ').slice(1);

  it('has each boundary, and a row for each letter of STRIDE with a control, a limit and tests', () => {
    expect(boundaries.map((text) => text.split('\n')[0])).toEqual([
      'Cluster to watcher',
      'Watcher to SQS',
      'SQS to function',
      'Function to API server',
      'Table and secrets',
      'Browser to dev',
      'Project to command',
      'Registry to release',
    ]);
    for (const text of boundaries) {
      const cells = [...text.matchAll(/^\| ([STRIDE]) \| (.+) \| (.+) \| (.+) \| (T\d+(?:, T\d+)*) \|$/gm)];
      expect(cells.map(([, letter]) => letter).join('')).toBe('STRIDE');
    }
  });

  it('cites tests of the list, and most of them run on Node alone', () => {
    const cited = citedIds(model);
    const known = rows.filter(({ id }) => cited.includes(id));
    expect(cited.filter((id) => !known.some((row) => row.id === id))).toEqual([]);
    const local = known.filter(({ file }) => ['memory', 'process'].includes(tierOf(file)));
    expect(local.length / known.length).toBeGreaterThan(0.6);
  });

  it('is short enough to be reviewed, as SECURITY.md is', () => {
    expect(model.length).toBeLessThan(10_000);
    expect(readFileSync('SECURITY.md', 'utf8').split(/\s+/).length).toBeLessThan(450);
  });
});

/** The claims of the sections that have claims. */
const sections = ['Who is trusted with what', 'Each part'];
const claims = sections.flatMap((title) => {
  const [, section = ''] = page.split(`\n## ${title}\n`);
  const [text = ''] = section.split('\n## ');
  return text
    .split(/\n\n|\n(?=- )|\n(?=\| )/)
    .map((claim) => claim.trim())
    .filter((claim) => claim !== '' && !/^\| (?:part|---) \|/.test(claim));
});

it('each claim names a test, or says what is not held', () => {
  expect(claims.length).toBeGreaterThan(30);
  const alone = claims.filter((claim) => !/^(?:- )?\*Limit\.\*/.test(claim) && !/\*\(T\d/.test(claim));
  expect(alone).toEqual([]);
});

it('each control has one test, is cited, and is in the list that `npm run threat-tests -- --write` writes', () => {
  expect(rows.length).toBeGreaterThan(80);
  const ids = rows.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set([...used, ...citedIds(model)])).toEqual(new Set(ids));
  expect(readFileSync(listFile, 'utf8')).toBe(formatList(rows));
});

/** Whether a file has no test of this name. */
function isMissing({ file, name }: { readonly file: string; readonly name: string }): boolean {
  if (!existsSync(file)) return true;
  const source = readFileSync(file, 'utf8');
  return !["'", '"', '`'].some((quote) => source.includes(`${quote}${name}${quote}`));
}

it('each test that docs/records/reliability.md names exists in its file', () => {
  const reliability = readFileSync('docs/records/reliability.md', 'utf8');
  const named = [...reliability.matchAll(/^\| .+ \| `(test\/\S+)` \| (.+) \|$/gm)].map(([, file = '', name = '']) => ({
    file,
    name,
  }));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(isMissing)).toEqual([]);
});

it('no test file is named outside of the list', () => {
  expect(page.match(/test\/[\w/-]+\.test\.ts/g) ?? []).toEqual([]);
});

it('only these files write to a terminal, and each makes what it writes printable', () => {
  const writes = /process\.std(?:out|err)\b[^;]*\bwrite\(|\bconsole\.\w+\(/;
  const writers = globSync('{src,packages/cli/src}/**/*.ts').filter((file) => writes.test(readFileSync(file, 'utf8')));
  expect(writers.sort()).toEqual([
    // printable.
    'packages/cli/src/commands/command.ts',
    // The lines of a picture, which are printable, and lines of createPrinter.
    'packages/cli/src/commands/dev-screen.ts',
    // Its lines come from createPrinter.
    'packages/cli/src/commands/dev.ts',
    // An error, for the process that builds, which prints it with command.ts.
    'packages/cli/src/commands/load-bundles.ts',
    // It clears the screen, and prints with command.ts.
    'packages/cli/src/commands/status/status.ts',
    // JSON, and an error, for the process that builds, which prints it with command.ts.
    'packages/cli/src/project/print-entries.ts',
    // Its lines come from createLog.
    'src/watcher/run.ts',
  ]);
});

it('each server refuses foreign requests before it does anything, except the probes of the watcher', () => {
  const starts = globSync('{src,packages/cli/src}/**/*.ts').filter((file) =>
    /\bcreateServer\(/.test(readFileSync(file, 'utf8')),
  );
  const open = starts.filter((file) => !/\bforeignRequest\(/.test(readFileSync(file, 'utf8')));
  expect(starts.length).toBeGreaterThan(4);
  expect(open).toEqual(['src/watcher/http.ts']);
});
