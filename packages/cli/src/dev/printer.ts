// Prints lines: as aligned text, or as one JSON object a line.
import { printable, printableJson } from 'outrigger/internal/core/printable';
import type { OutputLine } from './lines.ts';

const whoWidth = 10;
const objectWidth = 28;

/** Creates a printer. `write` receives complete lines with their newline. */
export function createPrinter(
  write: (text: string) => void,
  {
    readable,
    verbose = true,
    now = () => new Date(),
  }: {
    /** Text; JSON if false, always with every line. */
    readonly readable: boolean;
    readonly verbose?: boolean;
    readonly now?: () => Date;
  },
): (line: OutputLine) => void {
  if (!readable) {
    return ({ source, object, text, fields }) => {
      const first = { time: now().toISOString(), source, object, text };
      write(`${printableJson(JSON.stringify({ ...first, ...fields, ...first }))}\n`);
    };
  }
  return ({ source, object = '', text, verbose: isDetail }) => {
    if (isDetail === true && !verbose) return;
    const time = now().toTimeString().slice(0, 8);
    const [first = '', ...more] = text.split('\n').map(printable);
    // The lines of a stack. The indentation shows that they are no line of their own.
    const rest = more.map((line) => `${' '.repeat(time.length + 2)}${line}\n`).join('');
    write(`${time}  ${source.padEnd(whoWidth)}  ${printable(object).padEnd(objectWidth)}  ${first}\n${rest}`);
  };
}
