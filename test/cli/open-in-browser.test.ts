// Only that the URL of the console is given to a program of this machine as it is.
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openInBrowser } from '../../src/cli/open-in-browser.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-open-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

it.runIf(process.platform === 'linux')('the browser gets the URL with its token', async () => {
  const program = path.join(folder, 'xdg-open');
  await writeFile(program, `#!/bin/sh\necho "$@" > ${folder}/opened\n`);
  await chmod(program, 0o755);
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
  openInBrowser('http://127.0.0.1:1/#token', () => undefined);
  await expect
    .poll(() => readFile(path.join(folder, 'opened'), 'utf8').catch(() => ''))
    .toBe('http://127.0.0.1:1/#token\n');
});

it.runIf(process.platform === 'linux')('without such a program there is a line, and no error', async () => {
  vi.stubEnv('PATH', folder);
  const lines: string[] = [];
  openInBrowser('http://127.0.0.1:1/#token', (text) => lines.push(text));
  await expect.poll(() => lines).toEqual(["xdg-open cannot be started: open the console's URL yourself"]);
});
