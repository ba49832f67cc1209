// Writes lines where a person or a program reads them: aligned text on a terminal, one JSON object a line otherwise.
import type { Line } from '../local/lines.ts';

const whoWidth = 10;
const objectWidth = 28;

/** Creates what writes lines. `write` gets whole lines, their newline included. */
export function createPrinter(
  write: (text: string) => void,
  { readable, now = () => new Date() }: { readonly readable: boolean; readonly now?: () => Date },
): (line: Line) => void {
  if (!readable) {
    return ({ who, object, text, fields }) => {
      const first = { time: now().toISOString(), who, object, text };
      write(`${JSON.stringify({ ...first, ...fields, ...first })}\n`);
    };
  }
  return ({ who, object = '', text }) => {
    const time = now().toTimeString().slice(0, 8);
    write(`${time}  ${who.padEnd(whoWidth)}  ${object.padEnd(objectWidth)}  ${text}\n`);
  };
}
