// Only that docs/cli.md is fresh.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { cliPage } from '../../tools/reference/cli-page.ts';

it('docs/cli.md has every command with its options (write it: node tools/reference/cli-page.ts)', async () => {
  expect(readFileSync('docs/cli.md', 'utf8')).toBe(await cliPage());
});
