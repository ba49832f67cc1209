// Only the files that `outrigger new controller` writes, and its errors. The last test compiles them and runs their
// test. The whole test suite with a new kind is run by hand after a change of the templates.
import { cp, symlink } from 'node:fs/promises';
import path from 'node:path';
import { newFiles, newNames } from '@outrigger/cli/commands/new/controller-files';
import { withEntry, withImport } from '@outrigger/cli/commands/new/edit-source';
import { writeTextFile } from '@outrigger/cli/dev/text-file';
import { readTextFile } from '@outrigger/cli/project/project';
import { readYamlDocuments } from '@outrigger/common/yaml/read';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder, useFolder } from '../../support/folder.ts';
import { tsc } from '../../support/tsc.ts';
import { expectUserError, runIn, runProcess } from '../command-result.ts';

const source = path.resolve(import.meta.dirname, '../../..');
const registryFile = 'src/controllers/registry.ts';
const folder = useFolder({ shared: true });
const { read, write } = folder;

beforeAll(async () => {
  const parts = ['src', 'packages', 'test', 'tools', 'bench', 'infra', 'package.json', 'tsconfig.json', '.biome.json'];
  const filter = (file: string) => path.basename(file) !== 'node_modules';
  for (const part of parts) await cp(path.join(source, part), folder.at(part), { recursive: true, filter });
  await symlink(path.join(source, 'node_modules'), folder.at('node_modules'));
}, 60_000);

const create = async (...argv: readonly string[]) => await runIn(folder.path, ['new', 'controller', ...argv]);

describe('names', () => {
  it.each([
    'WaterTower',
    'waterTower',
    'water-tower',
  ])('newNames reads %s as WaterTower, water-tower and waterTower', (given) => {
    expect(newNames(given)).toEqual({
      kind: 'WaterTower',
      name: 'water-tower',
      variable: 'waterTower',
      group: 'water-tower.example.com',
    });
  });

  it.each(['', '9lives', 'a b', '../x', 'a--b', 'Ä', 'a/b'])('newNames returns undefined for %j', (given) => {
    expect(newNames(given)).toBeUndefined();
  });
});

describe('withImport and withEntry', () => {
  const text = "import { a } from './a.ts';\nimport {\n  b,\n} from './b.ts';\n\nconst all = [\n  a,\n  b,\n];\n";

  it('withImport adds below the last import, withEntry at the end of the list', () => {
    const added = withEntry(withImport({ file: 'x.ts', text }, "import { c } from './c.ts';"), 'const all = [', '  c,');
    expect(added.text).toBe(
      "import { a } from './a.ts';\nimport {\n  b,\n} from './b.ts';\nimport { c } from './c.ts';\n\nconst all = [\n  a,\n  b,\n  c,\n];\n",
    );
  });

  it('withEntry adds to a list on one line, and to an empty list', () => {
    const of = (list: string) => withEntry({ file: 'x.ts', text: list }, 'const all = [', '  c,').text;
    expect(of('const all = [a, b];\n')).toBe('const all = [a, b,\n  c,\n];\n');
    expect(of('const all = [];\n')).toBe('const all = [\n  c,\n];\n');
  });

  it('withEntry adds to a list on one line that is followed by a longer one', () => {
    const text = 'const all = [a];\nconst other = [\n  x,\n];\n';
    expect(withEntry({ file: 'x.ts', text }, 'const all = [', '  c,').text).toBe(
      'const all = [a,\n  c,\n];\nconst other = [\n  x,\n];\n',
    );
  });

  it('withImport and withEntry add to a source that a formatter gave double quotes and no semicolons', () => {
    const text = 'import { a } from "./a.ts"\nimport { b } from "./b.ts"\n\nconst all = [a, b]\n';
    const added = withEntry(withImport({ file: 'x.ts', text }, "import { c } from './c.ts';"), 'const all = [', '  c,');
    expect(added.text).toBe(
      'import { a } from "./a.ts"\nimport { b } from "./b.ts"\nimport { c } from \'./c.ts\';\n\nconst all = [a, b,\n  c,\n]\n',
    );
  });

  it('withEntry and withImport name the missing line and the addition in their error', () => {
    expect(() => withEntry({ file: 'x.ts', text }, 'const none = [', '  c,')).toThrow(
      'x.ts: "const none = [" is not there; add c,',
    );
    expect(() => withImport({ file: 'x.ts', text: '' }, 'import c')).toThrow('x.ts: there is no import');
  });
});

describe('new controller errors', () => {
  it.each([
    [['9lives'], '"9lives" is not a name; write one like Cafe, WaterTank or water-tank'],
    [['timers'], '"timers" is not the name of a controller: that name is reserved'],
    [['a'.repeat(41)], 'a name has at most 40 lower-case letters'],
    [['class'], '"class" is a word that TypeScript or these sources use; choose another'],
    [['constructor'], '"constructor" is a word that TypeScript or these sources use; choose another'],
    [['to-string'], '"to-string" is a word that TypeScript or these sources use; choose another'],
    [['WaterTank'], 'there is a WaterTank already; choose another name'],
    [['book'], 'src/controllers/book.ts is there already; choose another name'],
    [['Lighthouse', '--group', 'cafe'], '--group "cafe": a domain in lower case is needed, like cafe.example.org'],
  ])('new controller %j prints one line with the next step, and writes nothing', async (argv, line) => {
    const before = await read(registryFile);
    const result = await create(...argv);
    expect(result.err).toMatch(/^outrigger new controller: /);
    expectUserError(result, line);
    expect(await read(registryFile)).toBe(before);
  });

  it('B10: withEntry and withImport get a registry with CRLF as lines, and it keeps its CRLF', async () => {
    await write('crlf.ts', '\ufeffa\r\nb\r\n');
    expect(await readTextFile(folder.at('crlf.ts'))).toBe('a\nb\n');
    await writeTextFile(folder.at('crlf.ts'), 'a\nb\nc\n', folder.path);
    expect(await read('crlf.ts')).toBe('\ufeffa\r\nb\r\nc\r\n');
  });

  it('K6: the sample of a kind called No is one for kubectl', async () => {
    const names = newNames('No');
    const layout = { inRepository: false, besideJest: false } as const;
    const files = names === undefined ? new Map() : await newFiles(names, layout);
    const [sample] = readYamlDocuments(files.get('samples/no.yaml') ?? '');
    expect(sample).toMatchObject({ kind: 'No', metadata: { name: 'my-no' } });
  });

  it('new controller outside of a project names the missing registry', async () => {
    const result = await runIn(temporaryFolder(), ['new', 'controller', 'Lighthouse']);
    expectUserError(result, 'there are no controllers in src/controllers here');
  });

  it('new controller with a registry of another form names the line that it would add, and writes nothing', async () => {
    const registry = await read(registryFile);
    onTestFinished(async () => await write(registryFile, registry));
    await write(registryFile, registry.replace('registry: readonly Contr', 'registry: Contr'));
    const line = '"export const registry: readonly ControllerDefinition[] = [" is not there; add lighthouse,';
    expectUserError(await create('Lighthouse'), `${registryFile}: ${line}`);
    await expect(read('src/controllers/lighthouse.ts')).rejects.toThrow('ENOENT');
  });
});

it(
  'new controller, also with --cluster-scoped, writes files that compile, are formatted and generated from, and whose test passes',
  { timeout: 240_000 },
  async () => {
    expect(await create('Wide', '--cluster-scoped')).toMatchObject({ status: 0 });
    expect(await read('infra/kubernetes/samples/wide.yaml')).not.toContain('namespace');
    // The longest possible name, so that the lines are as long as possible.
    const name = `long-${'n'.repeat(30)}-name`;
    const { out, status } = await create(name, '--group', 'cafe.example.org');
    expect(status).toBe(0);
    for (const line of [`new: src/controllers/${name}.ts\n`, `changed: ${registryFile}\n`]) expect(out).toContain(line);
    const node = async (...argv: readonly string[]) =>
      expect(await runProcess(argv, folder.path), argv.join(' ')).toMatchObject({ status: 0 });
    // Only what the new files reach: the rest of the project is as before.
    const include = ['wide', name].flatMap((one) => [`src/controllers/${one}.ts`, `test/controllers/${one}.test.ts`]);
    const files = [...include, registryFile];
    await write('tsconfig.new.json', JSON.stringify({ extends: './tsconfig.json', include: [], files }));
    await node(...tsc, '-p', 'tsconfig.new.json');
    // In a folder of their own: Biome reads the whole project first.
    const formatted = temporaryFolder();
    for (const part of ['.biome.json', 'src/controllers'])
      await cp(folder.at(part), path.join(formatted, part), { recursive: true });
    const biome = path.join(source, 'node_modules/@biomejs/biome/bin/biome');
    expect(await runProcess([biome, 'ci', '--error-on-warnings'], formatted)).toMatchObject({ status: 0 });
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'];
    await node(...vitest, 'test/controllers/wide.test.ts');
    // Its set-up writes the manifests of the project.
    expect(await read('dist/kubernetes/rbac.yaml')).toContain(name);
    expectUserError(await create(name), 'already; choose another name');
  },
);
