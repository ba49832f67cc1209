// Only the structure of the sources: import directions, sizes of files and rooms, readers of the environment. Behaviour is tested
// elsewhere. Prints the import graph by room.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { registry } from '../../src/controllers/registry.ts';
import { resyncQueue, timersQueue, wakeFunction } from '../../src/core/names.ts';
import { rooms, roomsDocument, withRooms } from './rooms.ts';

const files = ['functions', 'src'].flatMap(listFiles);
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
  return specifiersOf(file)
    .filter((target) => target.startsWith('.'))
    .map((target) => path.join(path.dirname(file), target));
}

/** The room of a path: the most specific row of the table. */
function roomOf(file: string): string {
  const names = Object.keys(rooms).filter((name) => file === name || file.startsWith(`${name}/`));
  return names.sort((a, b) => b.length - a.length)[0] ?? file;
}

/** Rooms that import each other, by whatever way round, as the path that closes. */
function circleFrom(room: string, above: readonly string[]): readonly string[] | undefined {
  if (above.includes(room)) return [...above.slice(above.indexOf(room)), room];
  for (const next of rooms[room]?.imports ?? []) {
    const found = circleFrom(next, [...above, room]);
    if (found !== undefined) return found;
  }
  return undefined;
}

const floors = new Map<string, number>();
/** The floor of a room: one above the highest room that it imports. */
function floorOf(room: string): number {
  const known = floors.get(room);
  if (known !== undefined) return known;
  const floor = 1 + Math.max(0, ...(rooms[room]?.imports ?? []).filter((one) => one in rooms).map(floorOf));
  floors.set(room, floor);
  return floor;
}

/** Lines of each room; `apiserver` is a product of its own and counts for itself. */
const sizes = Object.keys(rooms).map((room) => {
  const own = files.filter((file) => roomOf(file) === room);
  const imported = new Set(own.flatMap(importsOf).map(roomOf));
  return {
    room,
    lines: own.reduce((sum, file) => sum + lines(file), 0),
    imports: [...imported].filter((one) => one !== room && one in rooms),
  };
});
const srcLines = sizes.reduce((sum, one) => sum + (one.room === 'src/apiserver' ? 0 : one.lines), 0);

afterAll(() => {
  const rows = sizes
    .map((one) => ({ ...one, floor: floorOf(one.room), share: `${((100 * one.lines) / srcLines).toFixed(1)} %` }))
    .sort((a, b) => b.floor - a.floor || b.lines - a.lines)
    .map(({ floor, room, lines: count, share, imports }) =>
      [floor, room.padEnd(20), String(count).padStart(5), share.padStart(7), '->', ...imports].join(' '),
    );
  process.stdout.write(`floor room lines share -> imports\n${rows.join('\n')}\n`);
});

describe('the structure of src', () => {
  it('every file is in a room of the table, and every room of the table has files', () => {
    expect(files.filter((file) => !(roomOf(file) in rooms))).toEqual([]);
    expect(sizes.filter((one) => one.lines === 0)).toEqual([]);
  });

  it('every import points to a room that the table allows', () => {
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .map((target) => (target.startsWith('infra/kubernetes') ? 'infra/kubernetes' : target))
        .filter((target) => roomOf(target) !== roomOf(file) && !rooms[roomOf(file)]?.imports.includes(roomOf(target)))
        .map((target) => `${file} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('the table allows nothing that no file uses', () => {
    const unused = sizes.flatMap(({ room, imports }) =>
      (rooms[room]?.imports ?? [])
        .filter((one) => one !== 'infra/kubernetes' && !imports.includes(one))
        .map((one) => `${room} does not import ${one}`),
    );
    expect(unused).toEqual([]);
  });

  it('the rooms have no circle', () => {
    expect(Object.keys(rooms).flatMap((room) => circleFrom(room, []) ?? [])).toEqual([]);
  });

  it('no room has more than a quarter of src', () => {
    const large = sizes.filter((one) => one.room !== 'src/apiserver' && one.lines > srcLines / 4);
    expect(large.map((one) => one.room)).toEqual([]);
  });

  it(`${roomsDocument} shows the table of rooms (otherwise: node test/structure/rooms.ts)`, () => {
    const document = readFileSync(roomsDocument, 'utf8');
    expect(document).toBe(withRooms(document));
  });

  it('no files import each other in a circle', () => {
    const typeImports = (file: string) =>
      [...(text.get(file) ?? '').matchAll(/import type [^'"]*from\s*['"]([^'"]+)['"]/g)].map(([, from = '']) =>
        path.join(path.dirname(file), from),
      );
    const edges = new Map(
      files.map((file) => {
        const types = new Set(typeImports(file));
        return [file, importsOf(file).filter((target) => !types.has(target))];
      }),
    );
    const done = new Set<string>();
    const circlesThrough = (file: string, above: readonly string[]): string[] => {
      if (above.includes(file)) return [[...above.slice(above.indexOf(file)), file].join(' -> ')];
      if (done.has(file)) return [];
      const found = (edges.get(file) ?? []).flatMap((target) => circlesThrough(target, [...above, file]));
      done.add(file);
      return found;
    };
    expect(files.flatMap((file) => circlesThrough(file, []))).toEqual([]);
  });

  it('core, kube, sqs and reconciling import only the packages of this list', () => {
    const packagesOf = (room: string) => {
      const names = files
        .filter((file) => roomOf(file) === room)
        .flatMap((file) => specifiersOf(file))
        .filter((target) => !target.startsWith('.') && !target.startsWith('node:'));
      return [...new Set(names)].sort();
    };
    expect(packagesOf('src/core')).toEqual(['zod']);
    expect(packagesOf('src/kube')).toEqual(['ws', 'zod']);
    const signing = ['@smithy/core/checksum', '@smithy/core/transport', '@smithy/signature-v4'];
    expect(packagesOf('src/sqs')).toEqual(['@aws-sdk/client-sqs', ...signing, 'zod']);
    expect(packagesOf('src/reconciling').filter((name) => name !== 'zod')).toEqual([]);
  });

  it('core imports no module of Node', () => {
    const fromNode = files
      .filter((file) => roomOf(file) === 'src/core')
      .flatMap(specifiersOf)
      .filter((target) => target.startsWith('node:'));
    expect(fromNode).toEqual([]);
  });

  it('every controller of the registry has its function, and every function its controller', () => {
    const functions = files.filter((file) => file.startsWith('functions/')).map((file) => path.basename(file, '.ts'));
    expect(functions.sort()).toEqual(
      [...registry.map(({ name }) => name), timersQueue, resyncQueue, wakeFunction].sort(),
    );
  });

  it('samples import the entries of the package, their own folder, and no room of the framework', () => {
    const entries = ['src/outrigger.ts', 'src/kubernetes.ts'];
    const wrong = files
      .filter((file) => file.startsWith('src/controllers/'))
      .flatMap((file) =>
        importsOf(file)
          .filter((target) => !entries.includes(target) && !target.startsWith('src/controllers/'))
          .map((target) => `${file} imports ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  it('no file is an index file', () => {
    expect(files.filter((file) => /(^|\/)index\.ts$/.test(file))).toEqual([]);
  });

  it('file names are kebab-case', () => {
    expect(files.filter((file) => !/^([a-z0-9-]+\/)*[a-z0-9]+(-[a-z0-9]+)*\.tsx?$/.test(file))).toEqual([]);
  });

  it('only settings.ts reads the environment', () => {
    const readers = files.filter((file) =>
      /process\.env\b/.test((text.get(file) ?? '').replaceAll(/\/\/.*|\/\*[\s\S]*?\*\//g, '')),
    );
    expect(readers).toEqual(['src/settings.ts']);
  });

  it('no file has more than 350 lines, unless its first lines say why', () => {
    const long = files.filter(
      (file) => lines(file) > 351 && !/\b350 lines\b/.test((text.get(file) ?? '').slice(0, 1_000)),
    );
    expect(long).toEqual([]);
  });

  it('no line of src is longer than 120 columns', () => {
    const generated = /apiserver\/schema\/builtin-(schemas|field-numbers)\.ts$/;
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
      ['outrigger', 'kubernetes', 'testing', 'lambda', 'watcher'].map((name) => `src/${name}.ts`),
    );
    const passing = files.filter(
      (file) => !entries.has(file) && /^export\s+(type\s+)?(\*|\{[^}]*\})\s+from\b/m.test(text.get(file) ?? ''),
    );
    expect(passing).toEqual([]);
  });
});
