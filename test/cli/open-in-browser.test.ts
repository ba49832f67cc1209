// Only that the URL of the console is given to a program of this machine as it is.
import { chmod } from 'node:fs/promises';
import { openInBrowser } from '@outrigger/cli/commands/open-in-browser';
import { afterEach, expect, it, vi } from 'vitest';
import { useFolder } from '../support/folder.ts';

const folder = useFolder();
afterEach(() => void vi.unstubAllEnvs());

it.runIf(process.platform === 'linux')('the browser gets the URL with its token', async () => {
  await folder.write('xdg-open', `#!/bin/sh\necho "$@" > ${folder.path}/opened\n`);
  await chmod(folder.at('xdg-open'), 0o755);
  vi.stubEnv('PATH', `${folder.path}:${process.env.PATH}`);
  openInBrowser('http://127.0.0.1:1/#token', () => undefined);
  await expect.poll(() => folder.read('opened').catch(() => '')).toBe('http://127.0.0.1:1/#token\n');
});

it.runIf(process.platform === 'linux')('without such a program there is a line, and no error', async () => {
  vi.stubEnv('PATH', folder.path);
  const lines: string[] = [];
  openInBrowser('http://127.0.0.1:1/#token', (text) => lines.push(text));
  await expect.poll(() => lines).toEqual(["xdg-open cannot be started: open the console's URL yourself"]);
});
