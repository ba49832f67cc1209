// The pictures of sources in memory, and that the documents show every picture. A person looks at them. Those of a local
// system are dev.test.ts.
import { readdir, readFile, stat } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../support/folder.ts';
import { animatedPng } from '../animated-png.ts';
import { localPictures, memoryPictures, recording, takeMemoryPictures } from '../screenshots.ts';
import { startBrowser } from './chromium.ts';
import { expectPicture } from './expect-picture.ts';

it('the script takes the pictures of sources in memory', async () => {
  const folder = temporaryFolder();
  const browser = await startBrowser();
  onTestFinished(() => browser.close());
  await takeMemoryPictures(browser, folder);
  for (const name of memoryPictures) await expectPicture(folder, name);
}, 60_000);

it('frames are joined to a picture that a browser shows', async () => {
  const browser = await startBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 40, height: 30 } });
  const png = await page.screenshot();
  const picture = animatedPng([1, 2].map(() => ({ png, milliseconds: 500 })));
  expect(picture.toString('latin1').match(/acTL|fcTL/g)).toEqual(['acTL', 'fcTL', 'fcTL']);
  await page.goto(`data:text/html,<img src="data:image/png;base64,${encodeURIComponent(picture.toString('base64'))}">`);
  const size = await page.evaluate('document.images[0].decode().then(() => document.images[0].naturalWidth)');
  expect(size).toBe(40);
});

it('the documents have every picture of the script, and no other', async () => {
  const names = [...localPictures, ...memoryPictures, recording].map((name) => `${name}.png`).sort();
  expect((await readdir('docs/console')).sort()).toEqual(names);
  const documents = await Promise.all(['README.md', 'docs/console.md'].map((file) => readFile(file, 'utf8')));
  expect((await stat(`docs/console/${recording}.png`)).size).toBeLessThan(2_000_000);
  for (const name of names) expect(documents.join()).toContain(`console/${name}`);
});
