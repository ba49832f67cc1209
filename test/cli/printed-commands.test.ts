// Only that every command which the program prints for a deployment names that deployment: its stage and its region.
// Read from the source of the program, so that a new piece of advice is judged as well.
import { globSync, readFileSync } from 'node:fs';
import { loadCommands } from '@outrigger/cli/commands/commands';
import type { Command } from 'commander';
import { parseAst } from 'vite';
import { expect, it } from 'vitest';

type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<Record<string, unknown>>;

/** The place in an expression, or a placeholder of it; or a cluster of a kubeconfig, which is of no deployment. */
const named = /\$\{[^}]*(\bat\b|placeOptions\(|\bplace\b)[^}]*\}|\$\{stage\}|--stage |--kubeconfig /;

/** A text that the program makes: expressions in it are `${...}`, as they stand in the source. */
type Text = { readonly text: string; readonly at: string };

const folder = 'packages/cli/src';
const sources = globSync('**/*.{ts,tsx}', { cwd: folder }).sort();

it('each printed command of a deployment names the stage and the region that were given', async () => {
  const own = (await loadCommands()).flatMap((command) => wordsOf(command, 'outrigger'));
  const inDeployment = [...own, ...['deploy', 'remove', 'rollback'].map((command) => `npx osls ${command}`)];
  const missing = sources.flatMap(textsOf).flatMap(({ text, at }) =>
    commandsIn(text, inDeployment)
      .filter((printed) => !named.test(printed))
      .map((printed) => `${at}: ${printed}`),
  );
  expect(missing).toEqual([]);
});

/** The words that call each command which may get a stage. */
function wordsOf(command: Command, before: string): readonly string[] {
  const words = `${before} ${command.name()}`;
  const own = command.options.some(({ long }) => long === '--stage') ? [words] : [];
  return [...own, ...command.commands.flatMap((one) => wordsOf(one, words))];
}

/** The commands that a text names, each with what follows until the end of its clause. Help has examples; a name
 * before a colon is the title of a message. */
function commandsIn(text: string, commands: readonly string[]): readonly string[] {
  if (text.startsWith('\n')) return [];
  return commands.flatMap((words) =>
    text
      .split(words)
      .slice(1)
      .filter((rest) => /^(?![\w-]|:| --help)/.test(rest))
      .map((rest) => words + (/^(?:(?!outrigger )[^;])*/.exec(rest)?.[0] ?? '')),
  );
}

/** The texts of a file. A sum of texts is one. */
function textsOf(file: string): readonly Text[] {
  const source = readFileSync(`${folder}/${file}`, 'utf8');
  const found: Text[] = [];
  const textOf = (node: Node): string | undefined => {
    if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
    if (node.type === 'TemplateLiteral') return source.slice(node.start + 1, node.end - 1).replaceAll('\\n', '\n');
    if (node.type !== 'BinaryExpression' || node.operator !== '+') return undefined;
    const parts = [node.left, node.right].map((side) =>
      isNode(side) ? (textOf(side) ?? `\${${source.slice(side.start, side.end)}}`) : '',
    );
    return parts.join('');
  };
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isNode(value)) return;
    const text = textOf(value);
    if (text === undefined) Object.values(value).forEach(visit);
    else found.push({ text, at: `${file}:${source.slice(0, value.start).split('\n').length}` });
  };
  visit(parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' }, file));
  return found;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}
