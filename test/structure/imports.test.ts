// Only the structure of the sources: import directions, by the table of rooms in ARCHITECTURE.md, and sizes of rooms.
// That settings.ts alone reads the environment, Biome checks.
import { globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const files = ['src', ...globSync('packages/*/src')].flatMap(listFiles);
const text = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
const lines = (file: string) => text.get(file)?.split('\n').length ?? 0;
const statements =
  /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)|(?:^|\n)import\s+['"]([^'"]+)['"]/g;

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => path.join(folder, file));
}

/** The specifiers that a file imports or re-exports. */
function specifiersOf(file: string): string[] {
  return [...(text.get(file) ?? '').matchAll(statements)].map(
    ([, from, dynamic, bare]) => from ?? dynamic ?? bare ?? '',
  );
}

/** The files of the repository that a file imports. */
function importsOf(file: string): string[] {
  return specifiersOf(file).flatMap((target) => {
    if (target.startsWith('.')) return [path.join(path.dirname(file), target)];
    const [, module = 'outrigger.ts'] = /^outrigger(?:\/(?:internal\/)?(.+))?$/.exec(target) ?? [];
    if (/^outrigger(\/|$)/.test(target)) return [`src/${module}${isEntry(module) ? '.ts' : ''}`];
    return target.startsWith('@outrigger/') ? [target.replace(/^@outrigger\/([^/]+)/, 'packages/$1/src')] : [];
  });
}

/** `testing` is the entry, and `testing/manifests` a module. */
const isEntry = (module: string): boolean => !module.includes('/') && !module.endsWith('.ts');

/** The folder of the package that a file belongs to; `outrigger` itself is at the top. */
function packageOf(file: string): string {
  return /^packages\/[^/]+/.exec(file)?.[0] ?? '.';
}

/** The table of rooms in ARCHITECTURE.md, from the top floor down: what each room may import. */
const [, table = ''] =
  /<!-- rooms: begin -->(.*)<!-- rooms: end -->/s.exec(readFileSync('ARCHITECTURE.md', 'utf8')) ?? [];
const rooms = new Map(
  [...table.matchAll(/^\| `(.+?)` \| .+ \| (.+) \|$/gm)].map(([, room = '', imports = '']) => [
    room,
    imports.split(' ').filter((one) => one !== '-'),
  ]),
);
const order = [...rooms.keys()];

/** The room of a path: a package, a folder of the command's, a folder of src, or a file directly below src. */
function roomOf(file: string): string {
  if (file.startsWith('packages/cli/')) return file.replace(/^packages\/cli\/src\/([^/]+)\/.*$/, '@outrigger/cli/$1');
  if (file.startsWith('packages/')) return file.replace(/^packages\/([^/]+)\/.*$/, '@outrigger/$1');
  const [first = '', second = ''] = file.split('/');
  return first === 'src' ? second : first;
}

/** What each room imports from others. */
const crossings = files.flatMap((file) =>
  importsOf(file)
    .map((target) => ({ file, target, from: roomOf(file), to: roomOf(target) }))
    .filter(({ from, to }) => from !== to),
);
const linesOf = (room: string) =>
  files.filter((file) => roomOf(file) === room).reduce((sum, file) => sum + lines(file), 0);

it('every file is in a room of the table, and every room of the table has files', () => {
  expect(new Set(files.map(roomOf))).toEqual(new Set(order));
});

it('every import points to a room that the table allows, and that is below its own', () => {
  const wrong = crossings.filter(({ from, to }) => !rooms.get(from)?.includes(to));
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
  const upwards = order.filter((room, floor) => rooms.get(room)?.some((one) => order.slice(0, floor).includes(one)));
  expect(upwards).toEqual([]);
});

it('the table allows nothing that no file uses', () => {
  const unused = order.flatMap((room) => {
    const used = new Set(crossings.filter(({ from }) => from === room).map(({ to }) => to));
    return (rooms.get(room) ?? []).filter((one) => !used.has(one)).map((one) => `${room} does not import ${one}`);
  });
  expect(unused).toEqual([]);
});

it('no relative import leaves its package', () => {
  const leaving = files.flatMap((file) =>
    specifiersOf(file).flatMap((target) =>
      target.startsWith('.') && packageOf(path.join(path.dirname(file), target)) !== packageOf(file)
        ? [`${file} imports ${target}`]
        : [],
    ),
  );
  expect(leaving).toEqual([]);
});

it('no room has more than a quarter of src', () => {
  const own = order.filter((room) => !room.startsWith('@'));
  const all = own.reduce((sum, room) => sum + linesOf(room), 0);
  expect(own.filter((room) => linesOf(room) > all / 4)).toEqual([]);
});

it('core, kube, sqs and reconciling import only the packages of this list, and core no module of Node, and yaml is read in its room', () => {
  const modulesOf = (room: string) => {
    const names = files.filter((file) => roomOf(file) === room).flatMap(specifiersOf);
    return [...new Set(names.filter((name) => !name.startsWith('.')))].sort();
  };
  const packagesOf = (room: string) => modulesOf(room).filter((name) => !name.startsWith('node:'));
  expect(modulesOf('core')).toEqual(['zod']);
  expect(packagesOf('kube')).toEqual(['ws', 'zod']);
  const withYaml = files.filter((file) => specifiersOf(file).includes('yaml'));
  expect(withYaml.filter((file) => roomOf(file) !== '@outrigger/common')).toEqual([]);
  expect(packagesOf('sqs')).toEqual(['@aws-sdk/client-sqs', 'zod']);
  expect(packagesOf('reconciling').filter((name) => name !== 'zod')).toEqual([]);
});

it('no file is an index file', () => {
  expect(files.filter((file) => /(^|\/)index\.ts$/.test(file))).toEqual([]);
});

it('file names are kebab-case', () => {
  expect(files.filter((file) => !/^([a-z0-9-]+\/)*[a-z0-9]+(-[a-z0-9]+)*\.tsx?$/.test(file))).toEqual([]);
});

it('no files import each other in a circle, not by types either', () => {
  /** The files from which no way leads back, and those on the way here. */
  const done = new Set<string>();
  const circleFrom = (file: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const target of importsOf(file)) {
      const circle = circleFrom(target, [...way, file]);
      if (circle !== undefined) return circle;
    }
    done.add(file);
    return undefined;
  };
  expect(files.map((file) => circleFrom(file, [])?.join(' -> ')).filter((one) => one !== undefined)).toEqual([]);
});

it('no line of src is longer than 120 columns', () => {
  const generated = /apiserver\/src\/schema\/builtin-(schemas|field-numbers)\.ts$/;
  const long = files.flatMap((file) =>
    (generated.test(file) ? '' : (text.get(file) ?? ''))
      .split('\n')
      .flatMap((line, index) => (line.length > 120 ? [`${file}:${index + 1} has ${line.length} columns`] : [])),
  );
  expect(long).toEqual([]);
});

it('every file opens with a comment', () => {
  const silent = files.filter((file) => !/^(#!.*\n)?(\/\/|\/\*)/.test(text.get(file) ?? ''));
  expect(silent).toEqual([]);
});

it('zod is imported as a namespace: the named import triples a bundle', () => {
  expect(files.filter((file) => /import\s*\{[^}]*\}\s*from 'zod'/.test(text.get(file) ?? ''))).toEqual([]);
});

it('only the entries of the package re-export', () => {
  const entries = new Set(
    ['outrigger', 'kubernetes', 'testing', 'aws', 'lambda', 'watcher'].map((name) => `src/${name}.ts`),
  );
  const passing = files.filter(
    (file) => !entries.has(file) && /^export\s+(type\s+)?(\*|\{[^}]*\})\s+from\b/m.test(text.get(file) ?? ''),
  );
  expect(passing).toEqual([]);
});
