// Only the width of prose in the documents, and the length of pages: a reader of the source sees whole lines. Tables and code
// may be wider.
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { proseColumns } from '../support/wrap-prose.ts';

const documents = globSync(['*.md', 'docs/**/*.md', 'examples/*.md', 'src/**/*.md', 'packages/*/*.md']);

it('no line of prose in a document is longer than 120 columns', () => {
  expect(documents.length).toBeGreaterThan(50);
  const long = documents.flatMap((file) => {
    const prose = readFileSync(file, 'utf8').replaceAll(/^ *```.*?^ *```$/gms, (block) => block.replaceAll(/.+/g, ''));
    return prose.split('\n').flatMap((line, index) => {
      // A link is one word: it cannot be broken.
      const breaks = line.trim().includes(' ');
      return breaks && !line.startsWith('|') && [...line].length > proseColumns ? [`${file}:${index + 1}`] : [];
    });
  });
  expect(long).toEqual([]);
});

it('no page that a user reads from its beginning has more than 1,500 words', () => {
  const pages = globSync([
    'README.md',
    'docs/{README,tutorial,demo,examples,comparison,glossary}.md',
    'docs/{start,write,how-to,run,alarms}/*.md',
  ]);
  expect(pages.length).toBeGreaterThan(50);
  const wordsOf = (file: string) => readFileSync(file, 'utf8').split(/\s+/).length;
  expect(pages.filter((file) => wordsOf(file) > 1_500)).toEqual([]);
});
