// The files that `outrigger new controller` writes: a complete controller with its test and sample, and the lines that
// a registry needs to list it. The controller is small enough to be replaced line by line. The templates are in
// controller-templates, next to this file.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { writeYaml } from '@outrigger/common/yaml/write';
import { packageRoot } from '../../project/project.ts';

/** The names of a new controller, each derived from the given one. */
export type NewNames = {
  /** `WaterTank` */
  readonly kind: string;
  /** `water-tank`: of the controller, its files and its function. */
  readonly name: string;
  /** `waterTank`: in TypeScript. */
  readonly variable: string;
  /** `water-tank.example.com` */
  readonly group: string;
  /** Whether its objects have no namespace. Its ConfigMaps are then in the namespace `default`. */
  readonly isClusterScoped?: boolean;
};

/** Reads `WaterTank`, `waterTank` or `water-tank`. Returns undefined for a text that cannot name a kind. */
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

/** Returns the lines that list a new controller in a registry: where the list begins, the entry, and its import. */
export function registryLines({ name, variable }: NewNames) {
  return {
    opening: 'export const registry: readonly ControllerDefinition[] = [',
    entry: `  ${variable},`,
    imported: `import { ${variable} } from './${name}.ts';`,
  };
}

/** The project that gets a new controller. */
export type ProjectLayout = {
  /** In this repository itself the package's entries are files. */
  readonly inRepository: boolean;
  /** Whether the folder has Jest, too. The name of a test is then one that Jest skips. */
  readonly besideJest: boolean;
};

/** The folders of the samples: of a project, and of this repository. */
export const samplesFolder = 'samples';
const repositorySamples = 'infra/kubernetes/samples';

/** Makes the new files, as text by path. */
export async function newFiles(
  names: NewNames,
  { inRepository, besideJest }: ProjectLayout,
): Promise<ReadonlyMap<string, string>> {
  const { name } = names;
  const templates = {
    controller: `src/controllers/${name}.ts`,
    test: `test/controllers/${name}.${besideJest ? 'vitest' : 'test'}.ts`,
    sample: `${inRepository ? repositorySamples : samplesFolder}/${name}.yaml`,
  };
  const files = Object.entries(templates).map(async ([template, file]) => {
    const text = await readFile(
      path.join(packageRoot, 'src/commands/new/controller-templates', `${template}.txt`),
      'utf8',
    );
    return [file, fill(inRepository ? text : withPackageEntries(text), names)] as const;
  });
  return new Map(await Promise.all(files));
}

/** The files of this repository that the templates import, and the package's entry for each. */
const entries = {
  "'../outrigger.ts'": "'outrigger'",
  "'../kubernetes.ts'": "'outrigger/kubernetes'",
  "'../../src/kubernetes.ts'": "'outrigger/kubernetes'",
  "'../../src/outrigger.ts'": "'outrigger'",
  "'../../src/testing.ts'": "'outrigger/testing'",
};

function withPackageEntries(template: string): string {
  return Object.entries(entries).reduce((text, [file, entry]) => text.replaceAll(file, entry), template);
}

function fill(template: string, { kind, name, variable, group, isClusterScoped = false }: NewNames): string {
  return template
    .replaceAll('NEW_SCOPE', isClusterScoped ? "\n  scope: 'Cluster'," : '')
    .replaceAll('NEW_PLACE', isClusterScoped ? ", namespace: 'default'" : '')
    .replaceAll('NEW_NAMESPACE', isClusterScoped ? '' : '\n  namespace: default')
    .replaceAll('NEW_YAML_KIND', writeYaml([kind]).trimEnd())
    .replaceAll('NEW_KIND', kind)
    .replaceAll('NEW_RESOURCE', kind.toLowerCase())
    .replaceAll('NEW_NAME', name)
    .replaceAll('NEW_VARIABLE', variable)
    .replaceAll('NEW_GROUP', group);
}
