// Only that an author finds in docs/write/testing.md where the in-memory server accepts what a cluster refuses.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { knownDifferences } from '../../../test/cluster/comparison/known-differences.ts';

it('K14: what the comparison of the servers leaves out as laxer is listed in the authoring guide', () => {
  const text = readFileSync('docs/write/testing.md', 'utf8');
  const [, listed = ''] = /<!-- laxer: begin -->(.*)<!-- laxer: end -->/s.exec(text) ?? [];
  const words = listed.replaceAll(/\s+/g, ' ');
  expect(knownDifferences.flatMap(({ laxer = '' }) => (words.includes(laxer) ? [] : [laxer]))).toEqual([]);
});
