// What `outrigger new controller` writes: a whole controller with its function, test and sample, small enough to be thrown away line by
// line; and the lines that others need to know of it. The templates are beside this file.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { packageRoot } from '../package-root.ts';
import { registryFile } from '../project.ts';

/** The names of a new controller, each derived from the one that was given. */
export type NewNames = {
  /** `WaterTank` */
  readonly kind: string;
  /** `water-tank`: of the controller, its files and its function. */
  readonly name: string;
  /** `waterTank`: in TypeScript. */
  readonly variable: string;
  /** `water-tank.example.com` */
  readonly group: string;
};

/** Reads `WaterTank`, `waterTank` or `water-tank`. Undefined for what cannot be a kind's name. */
export function newNames(given: string, group?: string): NewNames | undefined {
  if (!/^[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*$/.test(given)) return undefined;
  const words = given
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split('-');
  const kind = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  const name = words.join('-');
  return { kind, name, variable: kind.charAt(0).toLowerCase() + kind.slice(1), group: group ?? `${name}.example.com` };
}

/** Lists in which a repository with these tests must have every controller, or kind. */
const catalogueFile = 'test/mutants/catalogue.ts';
const generationFile = 'test/statements/generation-cases.ts';
const badInputFile = 'test/statements/bad-input-cases.ts';

/** A source that lists every controller: the line with which the list begins, the new entry, and the import that it needs. */
export type NewLines = {
  readonly file: string;
  readonly opening: string;
  readonly entry: string;
  readonly imported: string;
};

/** Says where a new controller has to be listed. */
export function newLines(names: NewNames): readonly NewLines[] {
  const { name, variable } = names;
  return [
    {
      file: registryFile,
      opening: 'export const registry: readonly Registered[] = [',
      entry: `  ${variable},`,
      imported: `import { ${variable} } from './${name}.ts';`,
    },
    {
      file: catalogueFile,
      opening: 'const given: Readonly<Record<string, Given>> = {',
      entry: `  '${name}': { generic: controllers('${name}'), own: [{ mutants: ${variable}Mutants, suites: controllers('${name}') }] },`,
      imported: `import { ${variable}Mutants } from './${name}.ts';`,
    },
    {
      file: generationFile,
      opening: 'const rows: readonly Row[] = [',
      entry: `  {
    controller: ${variable},
    specs: () => [{ text: 'a' }, { text: 'ab' }],
    acted: (_, object) => object,
    is: [{ status: { characters: 1 } }, { status: { characters: 2 } }],
  },`,
      imported: `import { ${variable} } from '../../src/controllers/${name}.ts';`,
    },
    {
      file: badInputFile,
      opening: 'const tables = [',
      entry: `  ${variable}Input,`,
      imported: `import { ${variable}Input } from './bad-input/${name}.ts';`,
    },
  ];
}

/** Where a new controller goes. */
export type NewPlace = {
  /** The sources of `newLines` that there are: what only they import is not written without them. */
  readonly listed: { has(file: string): boolean };
  /** This repository itself, where the package's entries are files beside it. */
  readonly isRepository: boolean;
};

/** Writes the files by path. */
export async function newFiles(
  names: NewNames,
  { listed, isRepository }: NewPlace,
): Promise<ReadonlyMap<string, string>> {
  const { name } = names;
  const templates = {
    controller: `src/controllers/${name}.ts`,
    function: `functions/${name}.ts`,
    test: `test/controllers/${name}.test.ts`,
    sample: `infra/kubernetes/samples/${name}.yaml`,
    ...(listed.has(catalogueFile) ? { mutants: `test/mutants/${name}.ts` } : {}),
    ...(listed.has(badInputFile) ? { 'bad-input': `test/statements/bad-input/${name}.ts` } : {}),
  };
  const files = Object.entries(templates).map(async ([template, file]) => {
    const text = await readFile(path.join(packageRoot, 'src/cli/new-controller/templates', `${template}.txt`), 'utf8');
    return [file, fill(isRepository ? text : byPackage(text), names)] as const;
  });
  return new Map(await Promise.all(files));
}

/** What the templates import of this repository, and the package's entry that has it. */
const entries = {
  "'../outrigger.ts'": "'outrigger'",
  "'../../src/testing.ts'": "'outrigger/testing'",
  "'../src/lambda/reconcile-handler.ts'": "'outrigger/lambda'",
};

function byPackage(template: string): string {
  return Object.entries(entries).reduce((text, [file, entry]) => text.replaceAll(file, entry), template);
}

function fill(template: string, { kind, name, variable, group }: NewNames): string {
  return template
    .replaceAll('NEW_KIND', kind)
    .replaceAll('NEW_RESOURCE', kind.toLowerCase())
    .replaceAll('NEW_NAME', name)
    .replaceAll('NEW_VARIABLE', variable)
    .replaceAll('NEW_GROUP', group);
}
