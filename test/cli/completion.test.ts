// Only the words that the completion offers, as bash computes them from the script.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { runIn } from './command-result.ts';

const printScript = async (shell: string) => (await runIn('.', ['completion', shell])).out;
let bashScript: string;
beforeAll(async () => {
  bashScript = await printScript('bash');
});

/** Returns the words that bash offers for a line; the last word is the one that is completed. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const complete = `shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _outrigger; echo "\${COMPREPLY[@]}"`;
  const argv = ['-c', `eval "$1"; ${complete}`, 'bash', bashScript, ...words];
  const { stdout } = await promisify(execFile)('bash', argv);
  return stdout.trim().split(' ');
}

it.each([
  [['outrigger', 'sta'], ['status']],
  [
    ['outrigger', 'dlq', ''],
    ['list', 'show', 'redrive', 'delete', '--help'],
  ],
  [['outrigger', 'dlq', 'redrive', '--k'], ['--key']],
  [['outrigger', 'status', '--stage', 'prod', '--w'], ['--watch']],
])('bash completes %j with %j', async (words, expected) => {
  expect(await offered(...words)).toEqual(expected);
});

it.each(['zsh', 'fish'])('%s has a script with every command', async (shell) => {
  const stdout = await printScript(shell);
  for (const command of ['dev', 'status', 'explain', 'dlq', 'completion']) expect(stdout).toContain(command);
});
