// What `outrigger new controller` writes: a whole controller with its function, test, sample and likely bugs, small enough to be
// thrown away line by line. The templates are beside this file.
import { readFile } from 'node:fs/promises';
import path from 'node:path';

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

/** Writes the files by path. Those of the statements' tests only where a repository has these tests. */
export async function newFiles(
  names: NewNames,
  { withMutants }: { readonly withMutants: boolean },
): Promise<ReadonlyMap<string, string>> {
  const { name } = names;
  const templates = {
    controller: `src/controllers/${name}.ts`,
    function: `functions/${name}.ts`,
    test: `test/controllers/${name}.test.ts`,
    sample: `infra/kubernetes/samples/${name}.yaml`,
    ...(withMutants ? { mutants: `test/mutants/${name}.ts` } : {}),
  };
  const files = Object.entries(templates).map(async ([template, file]) => {
    const text = await readFile(path.join(import.meta.dirname, 'templates', `${template}.txt`), 'utf8');
    return [file, fill(text, names)] as const;
  });
  return new Map(await Promise.all(files));
}

/** The two lines of the mutants' catalogue: an import, and who is to catch them. */
export function catalogueLines(names: NewNames): { readonly imported: string; readonly entry: string } {
  return {
    imported: fill("import { NEW_VARIABLEMutants } from './NEW_NAME.ts';", names),
    entry: fill(
      "  'NEW_NAME': { generic: controllers('NEW_NAME'), own: [{ mutants: NEW_VARIABLEMutants, suites: controllers('NEW_NAME') }] },",
      names,
    ),
  };
}

/** The row of the statements on what a status has observed: two specs, and how to tell which of them was acted on. */
export function generationRow(names: NewNames): { readonly imported: string; readonly entry: string } {
  return {
    imported: fill("import { NEW_VARIABLE } from '../../src/controllers/NEW_NAME.ts';", names),
    entry: fill(row, names),
  };
}

function fill(template: string, { kind, name, variable, group }: NewNames): string {
  return template
    .replaceAll('NEW_KIND', kind)
    .replaceAll('NEW_RESOURCE', kind.toLowerCase())
    .replaceAll('NEW_NAME', name)
    .replaceAll('NEW_VARIABLE', variable)
    .replaceAll('NEW_GROUP', group);
}

const row = `  {
    controller: NEW_VARIABLE,
    specs: () => [{ text: 'a' }, { text: 'ab' }],
    acted: (_, object) => object,
    is: [{ status: { characters: 1 } }, { status: { characters: 2 } }],
  },`;
