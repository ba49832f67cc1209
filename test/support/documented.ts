// The commands in the documents: in shell blocks, and in the text. A block that needs an AWS account has this in its
// first line; no test runs it.
import { globSync, readFileSync } from 'node:fs';

/** A command of a document. */
export type DocumentedCommand = {
  readonly file: string;
  readonly command: string;
  /** Whether its block contains "Needs an AWS account". */
  readonly needsAws: boolean;
};

const awsMarker = /^# Needs an AWS account\b/;
/** The commands in the text, by their first word. */
const inline = /`((?:npm|npx|outrigger|kubectl|docker|aws|helm|cp|sed|export) [^`]+)`/g;

/** Reads all documents of a clone. */
export function documentedCommands(root = '.'): readonly DocumentedCommand[] {
  const files = globSync(['*.md', 'docs/**/*.md'], { cwd: root });
  return files.flatMap((file) => {
    const text = readFileSync(`${root}/${file}`, 'utf8');
    const fromBlocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) => {
      const needsAws = awsMarker.test(block);
      return commandsOf(block).map((command) => ({ file, command, needsAws }));
    });
    const prose = text.replaceAll(/^```.*?^```$/gms, '');
    const fromText = [...prose.matchAll(inline)].map(([, command = '']) => ({ file, command, needsAws: false }));
    return [...fromBlocks, ...fromText];
  });
}

/** One command per line, with the lines of a `<<END` document; without comments. */
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
