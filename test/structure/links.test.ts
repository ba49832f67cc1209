// Only that links between documents have targets: the file, and the heading. Links to other sites are not followed.
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { anchorOf, headingsOf } from '../support/markdown-headings.ts';

const pages = globSync(['*.md', 'docs/**/*.md', 'examples/*.md', 'packages/*/*.md']);

/** The links of a page, without those of its code blocks. */
function linksOf(page: string) {
  const prose = readFileSync(page, 'utf8').replaceAll(/^```.*?^```$/gms, '');
  return [...prose.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => ({ page, target }));
}

it('every link of a document has a file, and every anchor a heading', () => {
  const links = pages.flatMap(linksOf);
  expect(links.length).toBeGreaterThan(100);
  const broken = links.filter(({ page, target }) => {
    if (target.includes('://')) return false;
    const [file = '', anchor] = target.split('#', 2);
    const found = file === '' ? page : path.join(path.dirname(page), file);
    return (
      !existsSync(found) ||
      (anchor !== undefined && found.endsWith('.md') && !headingsOf(readFileSync(found, 'utf8')).includes(anchor))
    );
  });
  expect(broken).toEqual([]);
});

it('the index of docs names every page of the folder', () => {
  const index = readFileSync('docs/README.md', 'utf8');
  const folders = ['', 'run/', 'start/', 'write/'];
  const files = folders
    .flatMap((folder) =>
      readdirSync(`docs/${folder}`).flatMap((name) => (name.endsWith('.md') ? [`${folder}${name}`] : [])),
    )
    .filter((name) => name !== 'README.md');
  expect(files.filter((name) => !index.includes(`](${name})`))).toEqual([]);
});

it('every link of a document in the npm package has its file in the package', () => {
  const printed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { encoding: 'utf8' });
  const packs = z.array(z.object({ files: z.array(z.object({ path: z.string() })) }));
  const files = packs.parse(JSON.parse(printed)).flatMap((pack) => pack.files.map((file) => file.path));
  const packed = new Set(files.flatMap((file) => [file, path.dirname(file)]));
  const documents = files.filter((file) => /^(docs\/.*|[^/]+)\.md$/.test(file));
  expect(documents).toEqual(expect.arrayContaining(['README.md', 'docs/README.md', 'docs/write/testing.md']));
  const broken = documents.flatMap(linksOf).filter(({ page, target }) => {
    const [file = ''] = target.split('#', 1);
    // The pictures are larger than all code, and records are for auditors. npm shows both from the repository.
    if (/^(docs\/)?console\//.test(file) || path.join(path.dirname(page), file).startsWith('docs/records'))
      return false;
    return file !== '' && !file.includes('://') && !packed.has(path.join(path.dirname(page), file));
  });
  expect(broken).toEqual([]);
});

// The questions of a newcomer. A hop is a click: from the README to the index, and from there to the section.
it.each([
  ['watch a Secret that my object names', 'write/watch-other-objects.md', 'reads: [Secret, App]'],
  ['retry later', 'write/errors-and-retries.md', 'RetryLater(seconds)'],
  ['emit an Event', 'write/members.md', '`recordEvent(type, reason, message)`'],
  ['test without a cluster', 'write/testing.md', 'battery(postgresInstance'],
  ['test a timed requeue', 'write/testing.md', 'advance(10)'],
  ['migrate from Go', 'write/from-controller-runtime.md', 'MaxConcurrentReconciles'],
  ['manage AWS resources', 'write/aws-resources.md', 'permissions: ['],
  ['use and rotate a secret', 'write/settings-and-secrets.md', 'Replace the value'],
  ['run against EKS', 'run/deploy.md', 'clusters access'],
  ['what if SQS is down', 'run/recover.md', 'SQS'],
  ['how do I upgrade', 'run/upgrade.md', 'osls deploy'],
  ['what does it cost', 'cost.md', '$'],
])('"%s" is answered two hops from the README', (_question, target, answer) => {
  expect(readFileSync('README.md', 'utf8')).toContain('](docs/README.md)');
  expect(readFileSync('docs/README.md', 'utf8')).toContain(`](${target})`);
  const [page = '', anchor = ''] = target.split('#');
  const sections = readFileSync(`docs/${page}`, 'utf8').split(/^(?=##+ )/m);
  const isIt = (one: string) => anchor === '' || anchorOf(/^#+ (.*)$/m.exec(one)?.[1] ?? '') === anchor;
  const section = sections.find((one) => isIt(one) && one.includes(answer));
  expect(section).toContain(answer);
});
