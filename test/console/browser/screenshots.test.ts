// The pictures of sources in memory, and that the documents show every picture. A person looks at them. Those of a local
// system are dev.test.ts.
import { readdir, readFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../support/folder.ts';
import { localPictures, memoryPictures, takeMemoryPictures } from '../screenshots.ts';
import { startBrowser } from './chromium.ts';
import { expectPicture } from './expect-picture.ts';

it('the script takes the pictures of sources in memory', async () => {
  const folder = temporaryFolder();
  const browser = await startBrowser();
  onTestFinished(() => browser.close());
  await takeMemoryPictures(browser, folder);
  for (const name of memoryPictures) await expectPicture(folder, name);
}, 60_000);

it('the documents have every picture of the script, and no other', async () => {
  const names = [...localPictures, ...memoryPictures].map((name) => `${name}.png`).sort();
  expect((await readdir('docs/console')).sort()).toEqual(names);
  const documents = await Promise.all(['README.md', 'docs/console.md'].map((file) => readFile(file, 'utf8')));
  for (const name of names) expect(documents.join()).toContain(`console/${name}`);
});
