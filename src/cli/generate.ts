// `outrigger generate`: writes what is derived from the registry, or tells what is stale.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Command } from 'commander';
import { registry } from '../controllers/registry.ts';
import { generatedFiles, generatedFolders, generatedHints } from '../generate/files.ts';
import { SchemaError } from '../generate/schema-error.ts';

/** Makes the command. */
export function generateCommand(): Command {
  return new Command('generate')
    .description('write CRDs, RBAC, the watch list and the AWS pieces from the registry')
    .option('--check', 'write nothing; fail when a file is stale, missing or left over')
    .action(async ({ check = false }: { readonly check?: boolean }) => {
      try {
        const stale = await generate(process.cwd(), { check });
        for (const hint of generatedHints(registry)) process.stderr.write(`hint: ${hint}\n`);
        if (check && stale.length > 0) {
          process.stderr.write(`stale: ${stale.join(', ')}; run npm run generate\n`);
          process.exitCode = 1;
        }
      } catch (error) {
        if (!(error instanceof SchemaError)) throw error;
        process.stderr.write(`${error.message}\n`);
        process.exitCode = 1;
      }
    });
}

/** Brings the generated files up to date, or with `check` only tells which are not. Returns the paths that differed. */
export async function generate(root: string, { check }: { readonly check: boolean }): Promise<readonly string[]> {
  const wanted = generatedFiles(registry);
  const present = await Promise.all(generatedFolders.map((folder) => filesOf(root, folder)));
  const leftOver = present.flat().filter((file) => !wanted.has(file));
  const differing: string[] = [];
  for (const [file, text] of wanted) {
    const before = await readFile(path.join(root, file), 'utf8').catch(() => undefined);
    if (before === text) continue;
    differing.push(file);
    if (check) continue;
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), text);
  }
  if (!check) for (const file of leftOver) await rm(path.join(root, file));
  return [...differing, ...leftOver];
}

async function filesOf(root: string, folder: string): Promise<readonly string[]> {
  const names = await readdir(path.join(root, folder)).catch((): string[] => []);
  return names.map((name) => `${folder}/${name}`);
}
