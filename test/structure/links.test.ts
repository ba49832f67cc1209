// Only that links between documents have targets: the file, and the heading. Links to other sites are not followed.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const pages = [
  ...readdirSync('.').filter((name) => name.endsWith('.md')),
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join('docs', name)),
];

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = readFileSync(page, 'utf8').matchAll(/^#+ (.*)$/gm);
  return new Set(
    [...headings].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

it('every link of a document has a file, and every anchor a heading', () => {
  const links = pages.flatMap((page) => {
    const prose = readFileSync(page, 'utf8').replaceAll(/^```.*?^```$/gms, '');
    return [...prose.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => ({ page, target }));
  });
  expect(links.length).toBeGreaterThan(100);
  const broken = links.filter(({ page, target }) => {
    if (target.includes('://')) return false;
    const [file = '', anchor] = target.split('#', 2);
    const found = file === '' ? page : path.join(path.dirname(page), file);
    return !existsSync(found) || (anchor !== undefined && found.endsWith('.md') && !anchorsOf(found).has(anchor));
  });
  expect(broken).toEqual([]);
});

it('the index of docs names every page of the folder', () => {
  const index = readFileSync('docs/README.md', 'utf8');
  const files = readdirSync('docs').filter((name) => name.endsWith('.md') && name !== 'README.md');
  expect(files.filter((name) => !index.includes(`](${name})`))).toEqual([]);
});
