// Only the links of the site's pages. The build itself fails on a link without a page.
import { expect, it } from 'vitest';
import { rewriteLinks } from '../../../tools/docs/site.ts';

const files = new Set(['README.md', 'docs/README.md', 'docs/faq.md', 'docs/how-to/one.md', 'docs/console/a.png']);
const rewrite = (file: string, text: string, sources?: string) => rewriteLinks(file, text, { files, sources });

it('a link to a page leads to its place on the site, with its anchor', () => {
  expect(rewrite('README.md', '[all](docs/README.md) [x](docs/faq.md#how)')).toBe(
    '[all](./index.md) [x](./faq.md#how)',
  );
  expect(rewrite('docs/how-to/one.md', '[up](../faq.md) [readme](../../README.md)')).toBe(
    '[up](../faq.md) [readme](../readme.md)',
  );
  expect(rewrite('README.md', '[![a](docs/console/a.png)](docs/faq.md)')).toBe('[![a](./console/a.png)](./faq.md)');
});

it('a link to a source is a text, or leads to the repository if its address is known', () => {
  expect(rewrite('docs/faq.md', 'see [`a.ts`](../src/a.ts).')).toBe('see `a.ts`.');
  expect(rewrite('docs/faq.md', '[`a.ts`](../src/a.ts)', 'https://example.com')).toBe(
    '[`a.ts`](https://example.com/src/a.ts)',
  );
});

it('other sites, anchors of the page and code stay', () => {
  const text = '[a](https://example.com) [b](#here)\n\n```md\n[c](../src/a.ts)\n```\n';
  expect(rewrite('docs/faq.md', text)).toBe(text);
});
