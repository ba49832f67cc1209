// Waits for a line in a program's log, for example with the port that it listens on.
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { lastLines, type Program } from '../../tools/control-plane/child-processes.ts';

const pollMilliseconds = 50;

/**
 * Resolves with the first match in the program's log. Throws with its last lines when it has ended, or on a timeout.
 */
export async function untilLogged(
  program: Program,
  pattern: RegExp,
  { seconds = 120 }: { readonly seconds?: number } = {},
): Promise<RegExpExecArray> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const ended = program.ended();
    const match = pattern.exec(await readFile(program.log, 'utf8'));
    if (match !== null) return match;
    if (ended !== undefined || Date.now() > deadline) {
      const reason = ended ?? `no match for ${pattern} within ${seconds} s`;
      throw new Error(`${program.log}: ${reason}\n${await lastLines(program.log)}`);
    }
    await wait(pollMilliseconds);
  }
}
