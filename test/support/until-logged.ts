// Waits for what a program says of itself in its log: the port that it took, say.
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { lastLines, type Program } from '../../tools/control-plane/child-processes.ts';

const pollMilliseconds = 50;

/** Resolves with the first match in the program's log. Throws with its last lines when it has ended, or has not said it in time. */
export async function untilLogged(
  program: Program,
  pattern: RegExp,
  { seconds = 120 }: { readonly seconds?: number } = {},
): Promise<RegExpExecArray> {
  const giveUpAt = Date.now() + seconds * 1000;
  for (;;) {
    const ended = program.ended();
    const match = pattern.exec(await readFile(program.log, 'utf8'));
    if (match !== null) return match;
    if (ended !== undefined || Date.now() > giveUpAt) {
      const why = ended ?? `nothing like ${pattern} within ${seconds} s`;
      throw new Error(`${program.log}: ${why}\n${await lastLines(program.log)}`);
    }
    await wait(pollMilliseconds);
  }
}
