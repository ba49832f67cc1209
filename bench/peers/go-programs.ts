// The peers that are written in Go: the module beside this, built once per machine, with the versions that its go.mod pins.
import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { goTools } from '../../test/support/go-tools.ts';
import { orLastLine } from '../../test/bench/peers/builder-error.ts';
import type { Program } from '../../test/bench/peers/contestant.ts';

const module = path.join(import.meta.dirname, 'go');
/** The folders of the module that are programs: its go.mod names them as its tools. */
const programs = ['controller-runtime', 'metadata-informer', 'restart', 'sample-controller'] as const;

/** Builds them where this machine has not, and returns the files. Rejects with the last line that Go wrote. */
export async function goPrograms(): Promise<Readonly<Record<(typeof programs)[number], string>>> {
  const sources: string[] = [];
  for await (const source of glob('**/*.go', { cwd: module })) sources.push(source);
  const building = goTools({
    ...{
      module,
      programs,
      sources: sources.sort(),
      name: 'peers-in-go',
      flags: ['-buildvcs=false', '-ldflags', '-s -w'],
    },
    announcement: 'the peers that are written in Go (once; a minute when cold)',
  });
  const folder = await orLastLine(building);
  const file = (name: (typeof programs)[number]) => path.join(folder, name);
  return {
    'controller-runtime': file('controller-runtime'),
    'metadata-informer': file('metadata-informer'),
    restart: file('restart'),
    'sample-controller': file('sample-controller'),
  };
}

/** Returns one of them as the harness spawns it, with the version of the library that it shows, as go.mod has it. */
export async function goContestant(name: (typeof programs)[number], library: string): Promise<Program> {
  const command = (await goPrograms())[name];
  const pinned = await readFile(path.join(module, 'go.mod'), 'utf8');
  const version = pinned.split('\n').find((line) => line.trim().startsWith(`${library} v`));
  if (version === undefined) throw new Error(`${module}/go.mod does not pin ${library}`);
  return { command, args: [], version: version.trim().slice(library.length + 1) };
}
