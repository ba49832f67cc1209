// How lines look on a terminal: in its width, and problems in colour. In a pipe or a file they stay as they are.
import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';

type Stream = Pick<WriteStream, 'isTTY' | 'columns'> & NodeJS.WritableStream;
/** The colour of a line, if it has one. */
export type ColourOf = (line: string) => 'red' | 'yellow' | undefined;

/** Words of lines about something that is wrong, or that is not known. */
const wrong = /\b(?:DOWN|unreachable|refused|cannot load|crashing|failing|throttled|slow)\b|^wrong /;
const unknown = /\bnot known\b|\breconnect|^warning /;

/** Red for what is wrong, yellow for what is not known or on its way back. */
export function colourOf(line: string): 'red' | 'yellow' | undefined {
  return wrong.test(line) ? 'red' : unknown.test(line) ? 'yellow' : undefined;
}

/** Fits a printable line to a stream. The colours respect NO_COLOR. */
export function fitted(line: string, stream: Stream, colour: ColourOf): string {
  if (stream.isTTY !== true) return line;
  const name = colour(line);
  const folded = fold(line, stream.columns);
  return name === undefined ? folded : styleText(name, folded, { stream });
}

/** Breaks a line between its words; what follows is indented. */
export function fold(line: string, columns: number): string {
  const indent = `${/^ */.exec(line)?.[0] ?? ''}    `;
  const lines: string[] = [];
  let rest = line;
  while (rest.length > columns) {
    const at = rest.lastIndexOf(' ', columns);
    // A word that is longer than the terminal is broken by it.
    if (at <= indent.length) break;
    lines.push(rest.slice(0, at).trimEnd());
    rest = indent + rest.slice(at).trimStart();
  }
  return [...lines, rest].join('\n');
}

/** `90 s`, `34 min`, `5 h`, `3 d`. */
export function ageText(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`;
}
