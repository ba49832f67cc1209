// Only that docs/troubleshooting.md has what the programs show: each trouble is made again, in a project with the package.
import { readFile } from 'node:fs/promises';
import { expect, inject, it } from 'vitest';
import { troubleshootingPage } from '../../tools/troubleshooting/page.ts';

const seconds = 600;
const documented = await readFile('docs/troubleshooting.md', 'utf8');

it('the page of troubles has what each program shows', { timeout: seconds * 1000 }, async () => {
  const page = await troubleshootingPage(inject('controlPlane').kubectlPath);
  expect(page).toBe(documented);
});

it('the page of troubles has each trouble, and no message that is only `fetch failed`', () => {
  expect([...documented.matchAll(/^## (.+)$/gm)].map(([, title]) => title)).toEqual([
    ...['A reconcile throws', 'A reconcile hangs', 'A reconcile returns something else', 'The outside system is down'],
    ...['A child is not owned', 'A second outrigger dev', 'A port is taken', 'The CRD is missing'],
    ...['A permission is missing', 'A kind is not served'],
  ]);
  expect(documented).not.toMatch(/fetch failed(?!: )/);
});
