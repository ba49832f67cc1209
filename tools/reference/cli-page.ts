// docs/cli.md: every command with its arguments and options, from the definitions that the command line is parsed with.
// `node tools/reference/cli-page.ts` writes it.
import { writeFileSync } from 'node:fs';
import { loadCommands } from '@outrigger/cli/commands/commands';
import type { Command, Option } from 'commander';

const introduction = `# Commands

Each works on the project in the current folder, and prints with \`--help\` what this page has.
[See what is going on](run/monitor.md) says when you use which.

| exit status | means |
| --- | --- |
| 0 | The command succeeded. |
| 1 | It failed: the last line on stderr names the problem and the next step. Or it found a problem and printed it, as \`doctor\` and \`status\` do. Or it only showed what it would do, because \`--yes\` is missing (\`detach\`, \`dlq delete\`). |
| 2 | \`replay --dry-run --exit-code\`: something would change. |

This page is written by \`node tools/reference/cli-page.ts\` from the definitions of the commands.
`;

/** The text of docs/cli.md. */
export async function cliPage(): Promise<string> {
  const sections = (await loadCommands()).flatMap((command) => leaves(command, [])).map(section);
  return `${introduction}\n${sections.join('\n')}`;
}

type Leaf = { readonly path: readonly string[]; readonly command: Command };

/** The commands that can be run: a command that only groups others is none. */
function leaves(command: Command, parents: readonly string[]): readonly Leaf[] {
  const path = [...parents, command.name()];
  if (command.commands.length === 0) return [{ path, command }];
  return command.commands.flatMap((child) => leaves(child, path));
}

function section({ path, command }: Leaf): string {
  const operands = command.registeredArguments.map((argument) => {
    const name = argument.variadic ? `${argument.name()}...` : argument.name();
    return ` ${argument.required ? `<${name}>` : `[${name}]`}`;
  });
  const aliases = command.aliases().map((alias) => `\`outrigger ${alias}\` is the same command.`);
  const lines = [
    `## ${path.join(' ')}${operands.join('').replaceAll('<', '\\<')}`,
    '',
    [`${capitalized(command.description())}.`, ...aliases].join(' '),
    '',
  ];
  const described = command.registeredArguments.filter(({ description }) => description !== '');
  const options = command.options.filter(({ hidden }) => !hidden);
  if (described.length + options.length > 0) {
    lines.push('| option | meaning |', '| --- | --- |');
    for (const argument of described) lines.push(row(`<${argument.name()}>`, argument.description));
    for (const option of options) lines.push(row(option.flags, meaning(option)));
    lines.push('');
  }
  return lines.join('\n');
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function row(name: string, text: string): string {
  return `| \`${escaped(name)}\` | ${escaped(text)} |`;
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function meaning(option: Option): string {
  const notes: string[] = [];
  if (option.mandatory) notes.push('required');
  if (option.argChoices !== undefined) notes.push(option.argChoices.map((choice) => `\`${choice}\``).join(' or '));
  const preset: unknown = option.defaultValue;
  if ((typeof preset === 'string' && preset !== '') || typeof preset === 'number') notes.push(`default \`${preset}\``);
  return notes.length === 0 ? option.description : `${option.description} (${notes.join('; ')})`;
}

if (import.meta.main) writeFileSync('docs/cli.md', await cliPage());
