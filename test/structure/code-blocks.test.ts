// Only that each code block of the documents is held by something: TypeScript is a part of a file that is compiled, JSON is
// read by the program that it is for, and other blocks are run or made by a test that is named here. Commands are held by
// documented.test.ts.
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { parseCheckpoint } from '../../src/checkpoint/document.ts';
import { parseEntry } from '../../src/clusters/registry/entry.ts';
import { parseResyncMessage } from '../../src/resync/message.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import { readProbe } from '../../src/sqs/probe.ts';

type Block = { readonly file: string; readonly language: string; readonly text: string };

const documents = globSync(['*.md', 'docs/**/*.md', 'examples/*.md', 'src/**/*.md', 'packages/*/*.md']);
const blocks: readonly Block[] = documents.flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/^ *```([a-z]*)\n(.*?)^ *```$/gms)].map(([, language = '', text = '']) => ({
    file,
    language,
    text,
  })),
);

/** Files that are compiled by `npm run check`. A block of TypeScript is a part of one of them. */
const compiled = [
  'src/controllers/cafe.ts',
  'examples/src/controllers/postgres-instance.ts',
  'examples/test/controllers/postgres-instance.test.ts',
  'examples/test/controllers/timer.test.ts',
  'examples/test/outside/dns.ts',
  'test/statements/authoring-example.ts',
  'test/statements/documented-fragments.test.ts',
  'test/statements/elsewhere.test.ts',
  'test/statements/foreign-status.ts',
  'test/statements/self-mapping.test.ts',
  'packages/apiserver/test/example.ts',
  'test/controllers/cafe.test.ts',
  'test/testing/battery-aws.test.ts',
].map((file) => unindented(readFileSync(file, 'utf8')));

/** Pages whose blocks of a language a test runs or makes: the test, and a text in it that shows where. */
const provenBy: readonly (Pick<Block, 'file' | 'language'> & { readonly test: string; readonly shows: string })[] = [
  ...['ts', 'yaml', 'js'].map((language) => ({
    file: 'docs/tutorial.md',
    language,
    test: 'test/deploy/tutorial.test.ts',
    shows: "stepsOf('docs/tutorial.md')",
  })),
  { file: 'docs/tutorial.md', language: '', test: 'test/cli/new/new-project.test.ts', shows: 'expect(files.filter(' },
  ...['yaml', 'ts', 'hcl'].map((language) => ({
    file: 'docs/run/other-tools.md',
    language,
    test: 'test/deploy/other-tools.test.ts',
    shows: `await example('${language}')`,
  })),
  ...[
    ['run/change-what-is-deployed', 'yaml', "blockWith('WATER_TANK_CONCURRENCY'"],
    ['run/change-what-is-deployed', 'ts', "blockWith('createReconcileHandler'"],
    ['run/gitops', 'yaml', "blockWith('behavior: merge'"],
    ['run/networking', 'yaml', "blockWith('VPC_SUBNET_IDS'"],
  ].map(([page, language = '', shows = '']) => ({
    file: `docs/${page}.md`,
    language,
    test: 'test/generate/overrides.test.ts',
    shows,
  })),
  {
    file: 'docs/troubleshooting.md',
    language: 'text',
    test: 'test/cluster/troubleshooting.test.ts',
    shows: 'expect(page).toBe(',
  },
  { file: 'docs/run/verify.md', language: 'text', test: 'test/deploy/first-month.test.ts', shows: 'replaceBetween(' },
  // The record of a run, which the run writes.
  { file: 'docs/records/reliability.md', language: 'text', test: 'tools/soak/main.ts', shows: 'replaceBetween(' },
];

const isProven = ({ file, language }: Block) => provenBy.some((one) => one.file === file && one.language === language);

/** A block is indented less than the member of a declaration that it shows. */
function unindented(text: string): string {
  return text.replaceAll(/^ +/gm, '').trim();
}

const trust = z.strictObject({
  Version: z.literal('2012-10-17'),
  Statement: z.array(z.looseObject({ Effect: z.literal('Allow'), Condition: z.looseObject({}) })),
});

/** What reads the JSON of a page; throws if it does not match. */
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  'docs/run/deploy.md': (text) => {
    const value: unknown = JSON.parse(text.replaceAll(/<[^>]+>/g, 'LS0tLS0='));
    return text.includes('"Version"') ? trust.parse(value) : parseEntry('prod-1', withAddress(value));
  },
  // The policy of a key, which test/generate/packaged.test.ts reads.
  'docs/parameters.md': (text) => JSON.parse(text),
  'docs/messages.md': (text) => {
    if (text.includes('"collections"')) return accepted(parseCheckpoint(text));
    if (text.includes('"type": "probe"')) return z.object({ id: z.string() }).parse(readProbe(text));
    if (text.includes('"type": "resync"') && text.includes('"v"')) return parseResyncMessage(text);
    if (text.includes('"v"')) return parseMessage(text);
    const key = { v: 1, controller: 'water-tank', cluster: 'prod-1', object: ['g.example.com', 'tanks', 'a', 'b'] };
    return text
      .trim()
      .split('\n')
      .map((line) => parseMessage(JSON.stringify({ ...key, cause: JSON.parse(line) })));
  },
};

function withAddress(value: unknown): unknown {
  return { ...z.looseObject({ server: z.string() }).parse(value), server: 'https://abc.eks.amazonaws.com' };
}

function accepted(parsed: { readonly type: string }): void {
  expect(parsed.type).toBe('read');
}

it('every language is commands, a diagram, or one that something holds', () => {
  expect(blocks.length).toBeGreaterThan(100);
  const unknown = blocks.filter(
    (block) => !['sh', 'ts', 'json'].includes(block.language) && !isDiagram(block) && !isProven(block),
  );
  expect(unknown.map(({ file, language }) => `${file}: ${language}`)).toEqual([]);
});

it('every block of TypeScript is a part of a compiled file, or of a page that a test runs', () => {
  const loose = blocks
    .filter((block) => block.language === 'ts' && !isProven(block))
    .filter(({ text }) => !compiled.some((code) => code.includes(unindented(text))));
  expect(loose.map(({ file, text }) => `${file}: ${text.slice(0, 80)}`)).toEqual([]);
});

it.each(blocks.filter(({ language }) => language === 'json'))('$file: $text is read by its reader', (block) => {
  const read = readers[block.file];
  expect(read, block.file).toBeDefined();
  expect(() => read?.(block.text)).not.toThrow();
});

it('the tests that are named here have the pages that they hold', () => {
  for (const { file, test, shows } of provenBy) expect(readFileSync(test, 'utf8'), `${file}: ${test}`).toContain(shows);
  const unused = provenBy.filter(
    (one) => !blocks.some((block) => block.file === one.file && block.language === one.language),
  );
  expect(unused).toEqual([]);
});

/** The way of a change, drawn with lines. */
function isDiagram({ language, text }: Block): boolean {
  return language === '' && text.includes('──►');
}
