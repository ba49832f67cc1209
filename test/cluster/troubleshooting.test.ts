// Only that docs/troubleshooting.md has what the programs show: each trouble is made again, in a project with the package.
import { readFile } from 'node:fs/promises';
import { expect, inject, it } from 'vitest';
import { troubleshootingPage } from '../../tools/troubleshooting/page.ts';

const seconds = 600;

it('the page of troubles has what each program shows', { timeout: seconds * 1000 }, async () => {
  const page = await troubleshootingPage(inject('controlPlane').kubectlPath);
  expect(page).toBe(await readFile('docs/troubleshooting.md', 'utf8'));
});
