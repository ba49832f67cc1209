// The pictures of sources in memory, and that the documents show every picture. A person looks at them. Those of a local
// system are dev.test.ts.
import { readdir, readFile, stat } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../support/folder.ts';
import { animatedPng } from '../animated-png.ts';
import { recordings } from '../recordings.ts';
import { localPictures, memoryPictures, takeMemoryPictures } from '../screenshots.ts';
import { terminalSvg } from '../terminal-svg.ts';
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

it('what a terminal has shown is a picture that moves, and that shows its end alone with reduced motion', async () => {
  const browser = await startBrowser();
  onTestFinished(() => browser.close());
  const frames = ['first', '\u001b[2K\u001b[31m<last> &   end\u001b[39m'].map((line) => ({
    lines: ['', line],
    milliseconds: 300,
  }));
  const svg = terminalSvg(frames, { columns: 20, rows: 2, title: 'a terminal' });
  const seenBy = async (reducedMotion: 'reduce' | 'no-preference') => {
    const page = await browser.newPage({ reducedMotion, viewport: { width: 300, height: 60 } });
    await page.goto(`data:image/svg+xml,${encodeURIComponent(svg)}`);
    return async () => await page.evaluate<readonly string[]>(shownTexts);
  };
  const last = ['bad: <last> &|end'];
  const moving = await seenBy('no-preference');
  for (const shown of [last, ['plain: first'], last]) await expect.poll(moving, { interval: 50 }).toEqual(shown);
  const still = await seenBy('reduce');
  for (let look = 0; look < 20; look += 1) expect(await still()).toEqual(last);
});

/** The lines within the edges of the picture, with their colours. */
const shownTexts = `[...document.querySelectorAll('text')].flatMap((text) => {
  const { top, bottom } = text.getBoundingClientRect();
  const words = [...text.children].map((one) => one.textContent).join('|');
  return bottom > 0 && top < innerHeight ? [(text.getAttribute('class') ?? 'plain') + ': ' + words] : [];
})`;

it('the documents have every picture of the script, and no other', async () => {
  const names = [...[...localPictures, ...memoryPictures].map((name) => `${name}.png`), ...recordings].sort();
  expect((await readdir('docs/console')).sort()).toEqual(names);
  const documents = await Promise.all(['README.md', 'docs/console.md'].map((file) => readFile(file, 'utf8')));
  for (const name of recordings) expect((await stat(`docs/console/${name}`)).size).toBeLessThan(2_000_000);
  for (const name of names) expect(documents.join()).toContain(`console/${name}`);
});
