// The commands that the documents show: in blocks of shell, and in the text. A block that needs more than this machine says so in its first
// line; nobody runs that one.
import { readdirSync, readFileSync } from 'node:fs';

/** A command of a document. */
export type Documented = {
  readonly file: string;
  readonly command: string;
  /** Whether its block says "Needs an AWS account". */
  readonly needsAws: boolean;
};

const mark = /^# Needs an AWS account\b/;
/** What begins a command in the middle of a text. */
const inline = /`((?:npm|npx|outrigger|kubectl|docker|aws|cp|sed|export) [^`]+)`/g;

/** Reads all documents of a clone. */
export function documentedCommands(root = '.'): readonly Documented[] {
  const files = [
    ...readdirSync(root).filter((name) => name.endsWith('.md')),
    ...readdirSync(`${root}/docs`, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`),
  ];
  return files.flatMap((file) => {
    const text = readFileSync(`${root}/${file}`, 'utf8');
    const shown = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) => {
      const needsAws = mark.test(block);
      return commandsOf(block).map((command) => ({ file, command, needsAws }));
    });
    const prose = text.replaceAll(/^```.*?^```$/gms, '');
    const said = [...prose.matchAll(inline)].map(([, command = '']) => ({ file, command, needsAws: false }));
    return [...shown, ...said];
  });
}

/** A command a line, but for what is put into one by `<<END`; comments left out. */
function commandsOf(block: string): readonly string[] {
  const commands: string[] = [];
  const lines = block.trimEnd().split('\n');
  while (lines.length > 0) {
    const line = lines.shift() ?? '';
    const [, end] = /<<(\w+)$/.exec(line) ?? [];
    const stop = end === undefined ? 0 : lines.indexOf(end) + 1;
    const command = [line.replace(/(^| +)# .*$/, ''), ...lines.splice(0, stop)].join('\n');
    if (command !== '') commands.push(command);
  }
  return commands;
}
