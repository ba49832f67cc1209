// The peers written in Go: the module in go/, built once per machine, with the versions that its go.mod pins.
import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { buildGoTools } from '../../test/support/go-tools.ts';
import { orLastLine } from './builder-error.ts';
import type { Program } from './contestant.ts';

const module = path.join(import.meta.dirname, 'go');
/** The folders of the module with programs, which are the tools in its go.mod. */
const programs = ['controller-runtime', 'metadata-informer', 'restart', 'sample-controller'] as const;

/**
 * Builds them if this machine has not done so, and returns the files. Rejects with the last line of Go's error output.
 */
export async function goPrograms(): Promise<Readonly<Record<(typeof programs)[number], string>>> {
  const sources: string[] = [];
  for await (const source of glob('**/*.go', { cwd: module })) sources.push(source);
  const build = buildGoTools({
    module,
    programs,
    sources: sources.sort(),
    name: 'peers-in-go',
    flags: ['-buildvcs=false', '-ldflags', '-s -w'],
    announcement: 'the peers written in Go (once; a minute with cold caches)',
  });
  const folder = await orLastLine(build);
  const file = (name: (typeof programs)[number]) => path.join(folder, name);
  return {
    'controller-runtime': file('controller-runtime'),
    'metadata-informer': file('metadata-informer'),
    restart: file('restart'),
    'sample-controller': file('sample-controller'),
  };
}

/** Returns one of them as the harness starts it, with its library's version in go.mod. */
export async function goContestant(name: (typeof programs)[number], library: string): Promise<Program> {
  const command = (await goPrograms())[name];
  const pinned = await readFile(path.join(module, 'go.mod'), 'utf8');
  const version = pinned.split('\n').find((line) => line.trim().startsWith(`${library} v`));
  if (version === undefined) throw new Error(`${module}/go.mod does not pin ${library}`);
  return { command, args: [], version: version.trim().slice(library.length + 1) };
}
