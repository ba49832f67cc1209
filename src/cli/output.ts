// What a command prints where it lists something: text for people, or JSON, whose fields are a promise to programs.
import { Option } from 'commander';

/** How a command prints. */
export type Output = 'text' | 'json';

/** Makes the option that chooses. */
export function outputOption(): Option {
  return new Option('--output <format>', 'text or json').choices(['text', 'json']).default('text');
}

/** Prints one JSON document. What is undefined is left out. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Prints lines, each ended; nothing for none. */
export function printLines(lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
}
