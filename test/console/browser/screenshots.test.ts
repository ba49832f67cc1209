// The script of the pictures: that it still takes every one that the documents show. A person looks at them.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { pictures, takePictures } from '../screenshots.ts';

it('the script takes each picture of the documents, and the documents show each of them', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-pictures-'));
  try {
    await takePictures(folder, { plotSeconds: 1 });
    const names = pictures.map((name) => `${name}.png`).sort();
    expect((await readdir(folder)).sort()).toEqual(names);
    expect((await readdir('docs/console')).sort()).toEqual(names);
    const documents = await Promise.all(['README.md', 'docs/console.md'].map((file) => readFile(file, 'utf8')));
    for (const name of names) {
      expect(documents.join()).toContain(`console/${name}`);
      const picture = await readFile(path.join(folder, name));
      // Width and height are the first fields of a PNG's first chunk. An empty page has some 10 kB.
      expect([picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([1440, 960]);
      expect(picture.length).toBeGreaterThan(40_000);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 180_000);
