// Temporary folders of tests.
import { mkdtempSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, onTestFinished } from 'vitest';

/** A folder that exists while tests run. Files are named relative to it. */
export type Folder = {
  readonly path: string;
  /** The path of a file in it. */
  at(...names: readonly string[]): string;
  read(file: string): Promise<string>;
  /** Reads a file of JSON. */
  json(file: string): Promise<unknown>;
  /** Writes a file, and creates the folders above it. */
  write(file: string, text: string): Promise<void>;
};

const create = () => mkdtempSync(path.join(tmpdir(), 'outrigger-test-'));
const remove = async (folder: string) => await rm(folder, { recursive: true, force: true });

/** Creates a folder for the current test, and returns its path. */
export function temporaryFolder(): string {
  const folder = create();
  onTestFinished(() => remove(folder));
  return folder;
}

/** Creates an empty folder before each test of a file, or one that all tests of the file share. */
export function useFolder({ shared = false } = {}): Folder {
  let root = '';
  const at = (...names: readonly string[]) => path.join(root, ...names);
  const read = async (file: string) => await readFile(at(file), 'utf8');
  const [before, after] = shared ? [beforeAll, afterAll] : [beforeEach, afterEach];
  before(() => {
    root = create();
  });
  after(async () => await remove(root));
  return {
    get path() {
      return root;
    },
    at,
    read,
    json: async (file) => JSON.parse(await read(file)),
    write: async (file, text) => {
      await mkdir(path.dirname(at(file)), { recursive: true });
      await writeFile(at(file), text);
    },
  };
}
