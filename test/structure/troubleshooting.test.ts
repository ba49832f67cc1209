// Only that docs/troubleshooting.md has each trouble, with what each program shows. test/cluster makes the page again.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const page = readFileSync('docs/troubleshooting.md', 'utf8');
const sections = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((text) => [text.split('\n')[0], text]),
);

it.each([
  'A reconcile throws',
  'A reconcile hangs',
  'A reconcile returns something else',
  'The outside system is down',
  'A child is not owned',
  'A permission is missing',
  'A kind is not served',
  'The CRD is missing',
])('%s: the page has the terminal, status, doctor and kubectl get', (title) => {
  const text = sections.get(title) ?? '';
  for (const program of [
    'outrigger dev prints:',
    'outrigger status (exit status 1):',
    'outrigger doctor (exit status 1):',
    'kubectl get lamps:',
  ])
    expect(text).toContain(program);
});

it.each(['A second outrigger dev', 'A port is taken'])('%s: the page has the terminal', (title) => {
  expect(sections.get(title)).toMatch(/outrigger dev prints:\n\n```text\n(.+\n)+```/);
});

it('no message of a trouble is only `fetch failed`', () => {
  expect(page).toContain('fetch failed: ');
  expect(page).not.toMatch(/fetch failed(?!: )/);
});
