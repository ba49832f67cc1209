// Only the width of prose in the documents, and the length of a page: a reader of the source sees whole lines. Tables and
// code may be wider.
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
    'docs/{start,write,run,alarms}/*.md',
  ]);
  expect(pages.length).toBeGreaterThan(50);
  const wordsOf = (file: string) => readFileSync(file, 'utf8').split(/\s+/).length;
  expect(pages.filter((file) => wordsOf(file) > 1_500)).toEqual([]);
});

it('no page for users has more than 1,500 words, except for the reference that is made from the source or held to it', () => {
  const reference = ['cli', 'troubleshooting', 'logs', 'security-model'].map((name) => `docs/${name}.md`);
  const guides = globSync('docs/**/*.md', { exclude: ['docs/records/**', 'docs/decisions/**'] });
  const users = guides.filter((file) => ![...reference, 'docs/messages.md'].includes(file));
  expect(users.length).toBeGreaterThan(50);
  const wordsOf = (file: string) => readFileSync(file, 'utf8').match(/[\p{L}\p{N}][^\s|]*/gu)?.length ?? 0;
  expect(users.filter((file) => wordsOf(file) > 1_500)).toEqual([]);
});
