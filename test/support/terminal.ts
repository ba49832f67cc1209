// A program on a terminal (a pty of Python), as a person sees it: the screen, keys, and the terminal afterwards.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** How a program has ended: whether the modes of the terminal are as before, and what the normal screen shows. */
type Ended = { readonly status: number; readonly isRestored: boolean; readonly after: string };

const limitMilliseconds = 120_000;
const leave = '\u001b[?1049l';

/** Starts a program on a terminal of 24 lines and 80 columns in colour, without the variables of CI. */
export function startOnTerminal(argv: readonly string[], cwd = process.cwd()) {
  const env = { ...process.env, CI: undefined, NO_COLOR: undefined, TERM: 'xterm-256color' };
  const child = spawn('python3', [path.join(import.meta.dirname, 'terminal.py'), ...argv], { cwd, env });
  let output = '';
  const listeners = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    for (const listener of [...listeners]) listener();
  });
  child.stderr.pipe(process.stderr);
  // Each picture begins at the first line.
  const linesAt = (place: number) => (output.split('\u001b[H').at(place) ?? '').split('\r\n');
  const lines = () => linesAt(-1).map((line) => stripVTControlCharacters(line).trimEnd());
  return {
    /** Resolves with the lines of a picture that is as wanted, within so many milliseconds. */
    screen: async (isWanted: (lines: readonly string[]) => boolean, limit = limitMilliseconds) =>
      await new Promise<readonly string[]>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`the screen was:\n${lines().join('\n')}`)), limit);
        const look = () => {
          if (!isWanted(lines())) return;
          clearTimeout(timer);
          listeners.delete(look);
          resolve(lines());
        };
        listeners.add(look);
        look();
      }),
    /** The lines of the last picture that is complete, with their control sequences. */
    painted: () => linesAt(-2),
    press: (key: string) => void child.stdin.write(key),
    resize: (rows: number, columns: number) => void child.stdin.write(Buffer.from([0, rows, columns])),
    ended: once(child, 'close').then((): Ended => {
      const [shown = '', end = ''] = output.split('\0');
      const [status, isSame] = end.split(' ');
      const after = stripVTControlCharacters(shown.slice(shown.lastIndexOf(leave))).replaceAll('\r\n', '\n');
      // The cursor, the folding of lines, and the normal screen.
      const sequences = ['\u001b[?25h', '\u001b[?7h', leave];
      const isRestored = isSame === 'True' && sequences.every((one) => shown.includes(one));
      return { status: Number(status), isRestored, after };
    }),
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'close');
    },
  };
}
