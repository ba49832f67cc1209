// Only the files that `outrigger new controller` writes, and its errors. The last test compiles them and runs their
// test. The whole test suite with a new kind is run by hand after a change of the templates.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { newNames } from '../../../src/cli/new/controller-files.ts';
import { withEntry, withImport } from '../../../src/cli/new/edit-source.ts';

const source = path.resolve(import.meta.dirname, '../../..');
const run = promisify(execFile);
let root: string;

beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'outrigger-new-'));
  const parts = ['src', 'functions', 'test', 'tools', 'bench', 'infra', 'package.json', 'tsconfig.json', '.biome.json'];
  const filter = (file: string) => path.basename(file) !== 'node_modules';
  for (const part of parts) await cp(path.join(source, part), path.join(root, part), { recursive: true, filter });
  await symlink(path.join(source, 'node_modules'), path.join(root, 'node_modules'));
}, 60_000);
afterAll(() => rm(root, { recursive: true, force: true }));

/** Runs the copy's command in the copy, as a person does. */
async function create(...argv: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const args = ['src/cli/main.ts', 'new', 'controller', ...argv];
    return { code: 0, ...(await run(process.execPath, args, { cwd: root })) };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'stderr' in error)) throw error;
    return { code: Number(error.code), stdout: '', stderr: String(error.stderr) };
  }
}
const read = async (file: string) => await readFile(path.join(root, file), 'utf8');

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

  it('withEntry and withImport name the missing line and the addition in their error', () => {
    expect(() => withEntry({ file: 'x.ts', text }, 'const none = [', '  c,')).toThrow(
      'x.ts: "const none = [" is not there; add c,',
    );
    expect(() => withImport({ file: 'x.ts', text: '' }, 'import c')).toThrow('x.ts: there is no import');
  });
});

describe('new controller errors', () => {
  it.each([
    [['9lives'], '"9lives" is no name; write one like Cafe, WaterTank or water-tank'],
    [['timers'], '"timers" is no controller\'s name: that name is reserved'],
    [['a'.repeat(41)], 'a name has at most 40 lower-case letters'],
    [['class'], '"class" is a word that TypeScript or these sources use; choose another'],
    [['constructor'], '"constructor" is a word that TypeScript or these sources use; choose another'],
    [['to-string'], '"to-string" is a word that TypeScript or these sources use; choose another'],
    [['WaterTank'], 'there is a WaterTank already; choose another name'],
    [['book'], 'src/controllers/book.ts is there already; choose another name'],
    [['Lighthouse', '--group', 'cafe'], '--group "cafe": a domain in lower case is needed, like cafe.example.org'],
  ])('new controller %j prints one line with the next step, and writes nothing', async (argv, line) => {
    const before = await read('src/controllers/registry.ts');
    const { code, stderr } = await create(...argv);
    expect(stderr).toContain(`outrigger new controller: `);
    expect(stderr).toContain(line);
    expect(stderr).not.toContain('    at ');
    expect(code).toBe(1);
    expect(await read('src/controllers/registry.ts')).toBe(before);
  });

  it('new controller outside of a project names the missing registry', async () => {
    const elsewhere = await mkdtemp(path.join(tmpdir(), 'outrigger-nothing-'));
    onTestFinished(() => rm(elsewhere, { recursive: true }));
    const args = [path.join(source, 'src/cli/main.ts'), 'new', 'controller', 'Lighthouse'];
    await expect(run(process.execPath, args, { cwd: elsewhere })).rejects.toThrow(
      'there is no src/controllers/registry.ts here',
    );
  });

  it('new controller with a registry of another form names the line that it would add, and writes nothing', async () => {
    const registry = await read('src/controllers/registry.ts');
    onTestFinished(() => writeFile(path.join(root, 'src/controllers/registry.ts'), registry));
    await writeFile(
      path.join(root, 'src/controllers/registry.ts'),
      registry.replace('registry: readonly ControllerDefinition[]', 'registry: ControllerDefinition[]'),
    );
    const { stderr, code } = await create('Lighthouse');
    expect(stderr).toContain(
      'src/controllers/registry.ts: "export const registry: readonly ControllerDefinition[] = [" is not there; add lighthouse,',
    );
    expect(code).toBe(1);
    await expect(read('src/controllers/lighthouse.ts')).rejects.toThrow('ENOENT');
  });
});

it(
  'new controller writes files that compile, are formatted and generated from, and whose test passes',
  { timeout: 240_000 },
  async () => {
    // The longest possible name, so that the lines are as long as possible.
    const name = `long-${'n'.repeat(30)}-name`;
    const { stdout, code } = await create(name, '--group', 'cafe.example.org');
    expect(code).toBe(0);
    expect(stdout).toContain(`new: src/controllers/${name}.ts\n`);
    expect(stdout).toContain('changed: src/controllers/registry.ts\n');
    expect(stdout).toContain('generated: infra/kubernetes/generated/crd-');
    expect(stdout).toContain(`generated: functions/${name}.ts\n`);
    expect(await read(`functions/${name}.ts`)).toContain(`from '../src/controllers/${name}.ts';`);
    const node = async (...args: readonly string[]) => await run(process.execPath, args, { cwd: root });
    // Only what the new files reach: the rest of the project is as before.
    const include = ['functions', 'src/controllers', 'test/controllers', 'tools/mutants'];
    await writeFile(path.join(root, 'tsconfig.new.json'), JSON.stringify({ extends: './tsconfig.json', include }));
    await node('node_modules/typescript/bin/tsc', '-p', 'tsconfig.new.json');
    await node(
      'node_modules/@biomejs/biome/bin/biome',
      'ci',
      '--error-on-warnings',
      'src/controllers',
      'functions',
      'tools/mutants',
      'test/statements',
    );
    await node('src/cli/main.ts', 'generate', '--check');
    await node(
      'node_modules/vitest/vitest.mjs',
      'run',
      '--config',
      'test/vitest.config.ts',
      `test/controllers/${name}.test.ts`,
    );
    // The name is taken now.
    expect((await create(name)).stderr).toContain('already; choose another name');
  },
);
