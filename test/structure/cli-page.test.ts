// Only that docs/cli.md is fresh, and the defaults that --help prints.
import { readFileSync } from 'node:fs';
import { loadCommands } from '@outrigger/cli/commands/commands';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { cliPage } from '../../tools/reference/cli-page.ts';

it('docs/cli.md has every command with its options (write it: node tools/reference/cli-page.ts)', async () => {
  expect(readFileSync('docs/cli.md', 'utf8')).toBe(await cliPage());
});

it('no --help prints an empty list as the default of an option', async () => {
  const helps = (command: Command): readonly string[] => [
    command.helpInformation(),
    ...command.commands.flatMap(helps),
  ];
  expect((await loadCommands()).flatMap(helps).join('').replaceAll(/\s+/g, ' ')).not.toContain('default: []');
});
