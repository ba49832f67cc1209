// Prints lines: as aligned text on a terminal, otherwise as one JSON object a line.
import type { OutputLine } from './lines.ts';

const whoWidth = 10;
const objectWidth = 28;

/** Creates a printer. `write` receives complete lines with their newline. */
export function createPrinter(
  write: (text: string) => void,
  { readable, now = () => new Date() }: { readonly readable: boolean; readonly now?: () => Date },
): (line: OutputLine) => void {
  if (!readable) {
    return ({ source, object, text, fields }) => {
      const first = { time: now().toISOString(), source, object, text };
      write(`${JSON.stringify({ ...first, ...fields, ...first })}\n`);
    };
  }
  return ({ source, object = '', text }) => {
    const time = now().toTimeString().slice(0, 8);
    write(`${time}  ${source.padEnd(whoWidth)}  ${object.padEnd(objectWidth)}  ${text}\n`);
  };
}
