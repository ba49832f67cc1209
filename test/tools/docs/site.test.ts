// Only the links of the site's pages. The build itself fails on a link without a page.
import { expect, it } from 'vitest';
import { rewriteLinks } from '../../../tools/docs/site.ts';

const files = new Set(['README.md', 'docs/README.md', 'docs/glossary.md', 'docs/how-to/one.md', 'docs/console/a.png']);
const rewrite = (file: string, text: string, sources?: string) => rewriteLinks(file, text, { files, sources });

it('a link to a page leads to its place on the site, with its anchor', () => {
  expect(rewrite('README.md', '[all](docs/README.md) [x](docs/glossary.md#how)')).toBe(
    '[all](./index.md) [x](./glossary.md#how)',
  );
  expect(rewrite('docs/how-to/one.md', '[up](../glossary.md) [readme](../../README.md)')).toBe(
    '[up](../glossary.md) [readme](../readme.md)',
  );
  expect(rewrite('README.md', '[![a](docs/console/a.png)](docs/glossary.md)')).toBe(
    '[![a](./console/a.png)](./glossary.md)',
  );
});

it('a link to a source is a text, or leads to the repository if its address is known', () => {
  expect(rewrite('docs/glossary.md', 'see [`a.ts`](../src/a.ts).')).toBe('see `a.ts`.');
  expect(rewrite('docs/glossary.md', '[`a.ts`](../src/a.ts)', 'https://example.com')).toBe(
    '[`a.ts`](https://example.com/src/a.ts)',
  );
});

it('other sites, anchors of the page and code stay', () => {
  const text = '[a](https://example.com) [b](#here)\n\n```md\n[c](../src/a.ts)\n```\n';
  expect(rewrite('docs/glossary.md', text)).toBe(text);
});
