// What the scripts of this folder do as an operator does: commands on a terminal, and faults of the page.
import { execFile } from 'node:child_process';
import type { Page } from 'playwright-core';

/** A command that does not end fails its row. */
const commandMilliseconds = 120_000;
/** An experiment can be started when the one before has ended. */
const experimentMilliseconds = 400_000;

/** The arguments of Node for a command of ours on the system of a folder. */
export function commandLine(folder: string, argv: readonly string[]): readonly string[] {
  return ['packages/cli/bin/outrigger.js', ...argv, '--folder', folder];
}

/** Runs a program. Resolves with what it printed on both streams, whatever its exit code; throws after its deadline. */
export async function execute(file: string, argv: readonly string[]): Promise<string> {
  return await new Promise((resolve, reject) => {
    const options = { maxBuffer: 1e8, env: { ...process.env, NO_COLOR: '1' }, timeout: commandMilliseconds };
    execFile(file, [...argv], options, (error, out, err) => {
      if (error?.killed === true) reject(new Error(`${argv.join(' ')}: no end in ${commandMilliseconds / 1000} s`));
      else resolve(`${out}${err}`);
    });
  });
}

/** Runs a command of ours, as {@link execute}. */
export async function runCommand(folder: string, argv: readonly string[]): Promise<string> {
  return await execute(process.execPath, commandLine(folder, argv));
}

/** Starts a fault of the page for 30 seconds; it repairs itself. */
export async function breakPart(page: Page, title: string): Promise<void> {
  await page.getByRole('link', { name: 'Break it', exact: true }).click();
  await page.getByLabel('Broken for').selectOption('30 seconds');
  await page.getByRole('button', { name: `Break: ${title}` }).click({ timeout: experimentMilliseconds });
  await page.getByRole('region', { name: 'Experiment', exact: true }).getByText('Broken').first().waitFor();
}
