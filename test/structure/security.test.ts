// Only that each claim of SECURITY.md names its tests: a claim is a paragraph, a list item or a row of a table. One that
// says what is not held begins with Limit. Also that the tests exist which docs/reliability.md names. Whether the named
// tests hold the claim is what a reader has to judge.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const page = readFileSync('SECURITY.md', 'utf8');
const [body = '', list = ''] = page.split('\n## Tests\n');
const rows = [...list.matchAll(/^\| (T\d+) \| `(\S+)` \| (.+) \|$/gm)].map(([, id = '', file = '', name = '']) => ({
  ...{ id, file, name },
}));
const used = [...body.matchAll(/\*\((T\d+(?:,\s+T\d+)*)\)\*/g)].flatMap(([, ids = '']) => ids.split(/,\s+/));

/** The claims of the sections that have claims. */
const sections = ['Who is trusted with what', 'What an attacker can do with a stolen part', 'What holds everywhere'];
const claims = sections.flatMap((title) => {
  const [, section = ''] = body.split(`\n## ${title}\n`);
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

it('the list of tests has each named test once, in the order of the text, and no other', () => {
  expect(rows.length).toBeGreaterThan(80);
  expect([...new Set(used)]).toEqual(rows.map(({ id }) => id));
  expect(rows.map(({ id }) => id)).toEqual(rows.map((_, index) => `T${index + 1}`));
  expect(new Set(rows.map(({ file, name }) => `${file} ${name}`)).size).toBe(rows.length);
});

/** Whether a file has no test of this name. */
function isMissing({ file, name }: { readonly file: string; readonly name: string }): boolean {
  if (!existsSync(file)) return true;
  const source = readFileSync(file, 'utf8');
  return !["'", '"', '`'].some((quote) => source.includes(`${quote}${name}${quote}`));
}

it('each named test exists in its file', () => {
  expect(rows.filter(isMissing)).toEqual([]);
});

it('each test that docs/reliability.md names exists in its file', () => {
  const reliability = readFileSync('docs/reliability.md', 'utf8');
  const named = [...reliability.matchAll(/^\| .+ \| `(test\/\S+)` \| (.+) \|$/gm)].map(([, file = '', name = '']) => ({
    ...{ file, name },
  }));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(isMissing)).toEqual([]);
});

it('no test file is named outside of the list', () => {
  expect(body.match(/test\/[\w/-]+\.test\.ts/g) ?? []).toEqual([]);
});

it('only these files write to a terminal, and each makes what it writes printable', () => {
  const writes = /process\.std(?:out|err)\b[^;]*\bwrite\(|\bconsole\.\w+\(/;
  const writers = globSync('src/**/*.ts').filter((file) => writes.test(readFileSync(file, 'utf8')));
  expect(writers.sort()).toEqual([
    // Names of controllers, for another program.
    'src/cli/build.ts',
    // printable.
    'src/cli/command.ts',
    // Its lines come from createPrinter.
    'src/cli/dev.ts',
    // An error, for the process that builds, which prints it with command.ts.
    'src/cli/load-bundles.ts',
    // It clears the screen, and prints with command.ts.
    'src/cli/status/status.ts',
    // Its lines come from createLog.
    'src/watcher/run.ts',
  ]);
});

it('each server refuses foreign requests before it does anything, except the probes of the watcher', () => {
  const starts = globSync('src/**/*.ts').filter((file) => /\bcreateServer\(/.test(readFileSync(file, 'utf8')));
  const open = starts.filter((file) => !/\bforeignRequest\(/.test(readFileSync(file, 'utf8')));
  expect(starts.length).toBeGreaterThan(4);
  expect(open).toEqual(['src/watcher/http.ts']);
});
