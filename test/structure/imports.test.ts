// Only how the sources hang together: which way imports point, how long files are, who reads the environment. What they do is
// tested elsewhere.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { registry } from '../../src/controllers/registry.ts';
import { resyncQueue, timersQueue } from '../../src/core/names.ts';

/** What each folder may import, beside itself. A folder that is not here is a new layer: decide what it may know. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  functions: ['src/controllers', 'src/lambda'],
  'src/settings.ts': ['src/core'],
  'src/core': [],
  'src/kube': ['src/core'],
  'src/queue': ['src/core'],
  'src/clusters': ['src/kube', 'src/core'],
  'src/runtime': ['src/kube', 'src/queue', 'src/core'],
  'src/controllers': ['src/core', 'src/outrigger.ts'],
  'src/examples': ['src/outrigger.ts'],
  'src/generate': ['src/core'],
  'src/lambda': ['src/settings.ts', 'src/clusters', 'src/runtime', 'src/kube', 'src/queue', 'src/core'],
  'src/watcher': [
    'src/settings.ts',
    'src/clusters',
    'src/runtime',
    'src/kube',
    'src/queue',
    'src/core',
    'infra/kubernetes',
  ],
  'src/local/api-server': [],
  'src/local': [
    'src/local/api-server',
    'src/clusters',
    'src/runtime',
    'src/kube',
    'src/queue',
    'src/core',
    'src/settings.ts',
  ],
  'src/testing': ['src/local/api-server', 'src/runtime', 'src/kube', 'src/core'],
  'src/cli': [
    'src/local',
    'src/generate',
    'src/clusters',
    'src/settings.ts',
    'src/core',
    'src/queue',
    'src/kube',
    'src/runtime',
  ],
  'src/outrigger.ts': ['src/core'],
  'src/testing.ts': ['src/testing'],
  'src/lambda.ts': ['src/lambda'],
  'src/watcher.ts': ['src/watcher'],
};

const files = ['functions', 'src'].flatMap(listFiles);
const statements =
  /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)|(?:^|\n)import\s+['"]([^'"]+)['"]/g;

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.join(folder, file));
}

/** What a file imports, as it is written there. */
function targetsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(statements)].map(
    ([, from, dynamic, bare]) => from ?? dynamic ?? bare ?? '',
  );
}

/** The files of ours that a file imports. */
function importsOf(file: string): string[] {
  return targetsOf(file)
    .filter((target) => target.startsWith('.'))
    .map((target) => path.join(path.dirname(file), target));
}

/** The most specific folder (or file) of the table that a path is in. */
function layerOf(file: string): string {
  const layers = Object.keys(allowed).filter((layer) => file === layer || file.startsWith(`${layer}/`));
  return layers.sort((a, b) => b.length - a.length)[0] ?? file;
}

describe('the sources', () => {
  it('there are some', () => expect(files.length).toBeGreaterThan(50));

  it('every file is in a folder that the table knows', () => {
    expect(files.filter((file) => !(layerOf(file) in allowed))).toEqual([]);
  });

  it('core, kube and the API server take from packages what design allows them, and nothing else', () => {
    const packagesOf = (layer: string) =>
      files
        .filter((file) => layerOf(file) === layer)
        .flatMap((file) => targetsOf(file))
        .filter((target) => !target.startsWith('.') && !target.startsWith('node:'));
    expect(new Set(packagesOf('src/core'))).toEqual(new Set(['zod']));
    expect(new Set(packagesOf('src/kube'))).toEqual(new Set(['ws', 'zod']));
    expect(new Set(packagesOf('src/queue'))).toEqual(new Set(['zod', '@aws-sdk/client-sqs']));
    expect(packagesOf('src/runtime').filter((name) => name !== 'zod')).toEqual([]);
  });

  it('nothing is imported from Node where anything may run', () => {
    const fromNode = files
      .filter((file) => layerOf(file) === 'src/core')
      .flatMap(targetsOf)
      .filter((target) => target.startsWith('node:'));
    expect(fromNode).toEqual([]);
  });

  it('every controller of the registry has its function, and no function is left over', () => {
    const functions = files.filter((file) => file.startsWith('functions/')).map((file) => path.basename(file, '.ts'));
    expect(functions.sort()).toEqual([...registry.map(({ name }) => name), timersQueue, resyncQueue].sort());
  });

  it('there is no index file', () => {
    expect(files.filter((file) => /(^|\/)index\.ts$/.test(file))).toEqual([]);
  });

  it('names are kebab-case', () => {
    expect(files.filter((file) => !/^([a-z0-9-]+\/)*[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(file))).toEqual([]);
  });

  it('every import points the way that the table allows', () => {
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => layerOf(target) !== layerOf(file) && !allowed[layerOf(file)]?.includes(layerOf(target)))
        .map((target) => `${file} imports ${target}`),
    );
    expect(wrong.filter((line) => !line.includes('infra/kubernetes/generated'))).toEqual([]);
  });

  it('no two files import each other, by whatever way round', () => {
    const onlyTypes = (file: string) =>
      [...readFileSync(file, 'utf8').matchAll(/import type [^'"]*from\s*['"]([^'"]+)['"]/g)].map(([, from = '']) =>
        path.join(path.dirname(file), from),
      );
    const edges = new Map(
      files.map((file) => {
        const types = new Set(onlyTypes(file));
        return [file, importsOf(file).filter((target) => !types.has(target))];
      }),
    );
    const done = new Set<string>();
    const visit = (file: string, above: readonly string[]): string[] => {
      if (above.includes(file)) return [[...above.slice(above.indexOf(file)), file].join(' -> ')];
      if (done.has(file)) return [];
      const found = (edges.get(file) ?? []).flatMap((target) => visit(target, [...above, file]));
      done.add(file);
      return found;
    };
    expect(files.flatMap((file) => visit(file, []))).toEqual([]);
  });

  it('only settings.ts reads the environment', () => {
    const readers = files.filter((file) =>
      /process\.env\b/.test(readFileSync(file, 'utf8').replaceAll(/\/\/.*|\/\*[\s\S]*?\*\//g, '')),
    );
    expect(readers).toEqual(['src/settings.ts']);
  });

  it('a file is one idea: at most 250 lines', () => {
    const long = files.filter(
      (file) => !file.includes('builtin-schemas') && readFileSync(file, 'utf8').split('\n').length > 251,
    );
    expect(long).toEqual([]);
  });

  it('every file opens with why it exists', () => {
    const silent = files.filter(
      (file) => !file.startsWith('functions/') && !/^(#!.*\n)?(\/\/|\/\*)/.test(readFileSync(file, 'utf8')),
    );
    expect(silent).toEqual([]);
  });

  it('zod comes by namespace: its other form triples a bundle', () => {
    expect(files.filter((file) => /import\s*\{[^}]*\}\s*from 'zod'/.test(readFileSync(file, 'utf8')))).toEqual([]);
  });

  it('nothing is re-exported, except by the entries of the package', () => {
    const entries = new Set(['src/outrigger.ts', 'src/testing.ts', 'src/lambda.ts', 'src/watcher.ts']);
    const passing = files.filter(
      (file) => !entries.has(file) && /^export\s+(type\s+)?(\*|\{[^}]*\})\s+from\b/m.test(readFileSync(file, 'utf8')),
    );
    expect(passing).toEqual([]);
  });
});
