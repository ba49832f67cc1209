// Only what the README shows: its code is a tested file, and its comparison has its sources. Links are links.test.ts.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const readme = readFileSync('README.md', 'utf8');
const cafe = readFileSync('src/controllers/cafe.ts', 'utf8');

it('the README shows one controller, identical to the tested file', () => {
  expect([...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code)).toEqual([cafe]);
});

it('the controller of the README has fewer than 60 lines', () => {
  expect(cafe.trimEnd().split('\n').length).toBeLessThan(60);
});

it('the README fits its length: 110 to 130 lines', () => {
  const lines = readme.trimEnd().split('\n').length;
  expect(lines).toBeGreaterThanOrEqual(110);
  expect(lines).toBeLessThanOrEqual(130);
});

it('each row of the comparison is one of docs/comparison.md, and each of these has its source in the record', () => {
  const page = readFileSync('docs/comparison.md', 'utf8');
  const rowsOf = (text: string) => {
    const [, table = ''] = text.split('|  | Outrigger |');
    const [own = ''] = table.split('\n\n');
    return [...own.matchAll(/^\| ([^|-][^|]*) \|.*$/gm)];
  };
  const all = rowsOf(page);
  expect(all.length).toBeGreaterThan(10);
  expect(all.map(([row]) => row)).toEqual(expect.arrayContaining(rowsOf(readme).map(([row]) => row)));
  const sources = readFileSync('docs/records/comparison.md', 'utf8').matchAll(/^- \*\*([^*]+)\*\*:/gm);
  const named = [...sources].flatMap(([, name = '']) => (name === 'language, needs' ? name.split(', ') : [name]));
  expect(named).toEqual(all.map(([, name]) => name));
});
