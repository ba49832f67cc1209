// Only the picture of `outrigger dev` on a terminal; what it prints in a pipe is in demo.test.ts.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/folder.ts';
import { startOnTerminal } from '../support/terminal.ts';

const root = path.resolve(import.meta.dirname, '../..');
const program = path.join(root, 'packages/cli/src/commands/main.ts');

it(
  'on a terminal, outrigger dev shows the start, each controller and the URL over many lines, and leaves all as it was',
  { timeout: 240_000 },
  async () => {
    const folder = temporaryFolder();
    const argv = [process.execPath, program, 'dev', '--apply', 'infra/kubernetes/samples', '--folder', folder];
    await using terminal = startOnTerminal([...argv, '--verbose'], root);
    const isLine = (pattern: RegExp) => (lines: readonly string[]) => lines.some((line) => pattern.test(line));
    terminal.resize(50, 120);
    await terminal.screen(isLine(/^outrigger dev is starting: \d+ s/));
    const first = await terminal.screen(isLine(/^water-tank .* [▂-█].* working$/));
    const url = /http:\/\/127\.0\.0\.1:\d+\/#\S{20,}/;
    expect(first[0]).toMatch(url);
    // The screen has far fewer lines than a run of the resync makes.
    terminal.press('l');
    await terminal.screen(isLine(/ran because of the resync/));
    terminal.press('l');
    terminal.press('r');
    await terminal.screen(isLine(/^a resync run has started/));
    await terminal.screen(isLine(/; behind: \d+ keys?.*; missed: 0 by the resync \d+ s ago$/));
    terminal.press('b');
    const menu = await terminal.screen(isLine(/^[a-l] +Kill the watcher: SIGKILL/));
    terminal.press(menu.find((line) => line.includes('Kill the watcher'))?.[0] ?? '');
    const last = await terminal.screen(isLine(/^Kill the watcher: \d+ reconciles until .* 0 lost$/));
    expect(last[0]).toBe(first[0]);
    terminal.press('q');
    const { status, isRestored, after } = await terminal.ended;
    expect({ status, isRestored }).toEqual({ status: 0, isRestored: true });
    expect(after).toContain('stopping: messages in flight are finished first');
    expect(await readFile(path.join(folder, 'log.jsonl'), 'utf8')).toContain('"message":"reconciled"');
  },
);
