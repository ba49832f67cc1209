// What can be said of a picture without a person: it has the size of the page, and it is not empty.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';

/** Expects a picture of a whole page in a folder. */
export async function expectPicture(folder: string, name: string): Promise<void> {
  const picture = await readFile(path.join(folder, `${name}.png`));
  // Width and height are the first fields of a PNG's first chunk. An empty page has some 10 kB.
  expect([picture.readUInt32BE(16), picture.readUInt32BE(20)], name).toEqual([1440, 960]);
  expect(picture.length, name).toBeGreaterThan(40_000);
}
