// `outrigger generate`: writes what is derived from the registry, or tells what is stale.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Command } from 'commander';
import type { Registered } from '../core/controller.ts';
import type { AnyResource } from '../core/resource.ts';
import { generatedFiles, generatedFolders, generatedHints } from '../generate/files.ts';
import { SchemaError } from '../generate/schema-error.ts';
import { OperatorProblem } from './operate.ts';
import { loadProject } from './project.ts';

/** Makes the command. */
export function generateCommand(): Command {
  return new Command('generate')
    .description('write CRDs, RBAC, the watch list and the AWS pieces from the registry')
    .option('--check', 'write nothing; fail when a file is stale, missing or left over')
    .addHelpText('after', helpText)
    .action(async ({ check = false }: { readonly check?: boolean }) => {
      try {
        const { registry, kindsAlone } = await loadProject(process.cwd());
        const differences = await generate(registry, process.cwd(), { check, kinds: kindsAlone });
        for (const hint of generatedHints(registry, kindsAlone)) process.stderr.write(`hint: ${hint}\n`);
        for (const { file, what } of differences) process.stdout.write(`${what}${check ? '' : ', mended'}: ${file}\n`);
        if (!check || differences.length === 0) return;
        process.stderr.write(
          `${differences.length} generated files are not as the registry says; run npm run generate\n`,
        );
      } catch (error) {
        if (!(error instanceof SchemaError || error instanceof OperatorProblem)) throw error;
        process.stderr.write(`${error.message}\n`);
      }
      process.exitCode = 1;
    });
}

const helpText = `
Examples:
  outrigger generate             after every change of a schema, or of what a controller owns, reads, watches or needs
  outrigger generate --check     in CI

It writes infra/kubernetes/generated and infra/aws/generated, and nothing else; both are committed.
Exit status: 0 when everything is as the registry says, or has been written; 1 when it is not, or cannot be: the path of the field is said.`;

/** A generated file that is not as the registry says. */
export type Difference = { readonly file: string; readonly what: 'stale' | 'missing' | 'left over' };

/** Brings the generated files below a root up to date, or with `check` only tells what differs. Throws SchemaError. */
export async function generate(
  controllers: readonly Registered[],
  root: string,
  { check, kinds = [] }: { readonly check: boolean; readonly kinds?: readonly AnyResource[] },
): Promise<readonly Difference[]> {
  const wanted = generatedFiles(controllers, kinds);
  const differences: Difference[] = [];
  for (const [file, text] of wanted) {
    const before = await readFile(path.join(root, file), 'utf8').catch(() => undefined);
    if (before === text) continue;
    differences.push({ file, what: before === undefined ? 'missing' : 'stale' });
    if (check) continue;
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), text);
  }
  const present = await Promise.all(generatedFolders.map((folder) => filesOf(root, folder)));
  for (const file of present.flat().filter((one) => !wanted.has(one))) {
    differences.push({ file, what: 'left over' });
    if (!check) await rm(path.join(root, file));
  }
  return differences;
}

async function filesOf(root: string, folder: string): Promise<readonly string[]> {
  const entries = await readdir(path.join(root, folder), { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => `${folder}/${name}`);
}
