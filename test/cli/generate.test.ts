// Only what `outrigger generate` does to a folder: which files it writes, reports, deletes and leaves alone.
import { access, mkdir, readdir, rm, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { generate, removalHints } from '../../src/cli/generate.ts';
import { loadProject, readNamespaces, readProjectName } from '../../src/cli/project.ts';
import { only } from '../generate/sample-registry.ts';
import { useFolder } from '../support/folder.ts';
import { expectUserError, runIn, runProcess } from './command-result.ts';

const crd = 'infra/kubernetes/generated/crd-trees.orchard.example.com.yaml';
const treeFunction = 'functions/tree.ts';
const ownFunction = 'export const handler = () => undefined;\n';
const registryFile = 'src/controllers/registry.ts';
const folder = useFolder();
const { read: readText, write: writeText } = folder;
/** A first controller and one with a status slice, loaded from the folder as the command does it. */
let registry: readonly ControllerDefinition[];
let tree: readonly ControllerDefinition[];

beforeEach(async () => {
  await symlink(path.resolve(import.meta.dirname, '../..'), folder.at('repository'));
  const fixture = "import { fixtureRegistry } from '../../repository/test/generate/sample-registry.ts';";
  await writeText('src/controllers/tree.ts', `${fixture}\nexport const [tree] = fixtureRegistry;\n`);
  await writeText('src/controllers/pruner.ts', `${fixture}\nexport default fixtureRegistry[1];\n`);
  const imports = "import pruner from './pruner.ts';\nimport { tree } from './tree.ts';\n";
  await writeText(registryFile, `${imports}export const registry = [tree, pruner];\n`);
  ({ registry } = await loadProject(folder.path));
  tree = registry.slice(0, 1);
});

const check = (controllers = registry) => generate(controllers, folder.path, { check: true });
const write = (controllers = registry) => generate(controllers, folder.path, { check: false });
const functions = async () => (await readdir(folder.at('functions'))).sort();

describe('generate', () => {
  it('generate writes missing files with a header, and a following --check finds no difference', async () => {
    expect(await write()).toContainEqual({ file: crd, what: 'missing' });
    expect(await readText(crd)).toMatch(/^# Generated from the registry/);
    expect(await check()).toEqual([]);
  });

  it('B10: a checkout with CRLF is up to date, and a stale file keeps its CRLF and its byte order mark', async () => {
    await write();
    const [manifest, source] = [await readText(crd), await readText(treeFunction)];
    await writeText(crd, manifest.replaceAll('\n', '\r\n'));
    await writeText(treeFunction, `\ufeff${source.replaceAll('\n', '\r\n')}`);
    expect(await check()).toEqual([]);
    await writeText(crd, manifest.replaceAll('\n', '\r\n').replace('Tree', 'Bush'));
    expect(await write()).toEqual([{ file: crd, what: 'stale' }]);
    expect(await readText(crd)).toBe(manifest.replaceAll('\n', '\r\n'));
  });

  it('B7: a package.json with a byte order mark names the project, and a broken one is an error that names it', async () => {
    const settings = JSON.stringify({ outrigger: { project: 'cafe', namespaces: ['no'] } });
    await writeText('package.json', `\ufeff${settings}`);
    expect([await readProjectName(folder.path), await readNamespaces(folder.path)]).toEqual(['cafe', ['no']]);
    for (const broken of [settings.replace('}}', ',}}'), '[]', '{"outrigger": "cafe"}', '']) {
      await writeText('package.json', broken);
      for (const reading of [() => readProjectName(folder.path), () => readNamespaces(folder.path), write])
        await expect(reading(), broken).rejects.toThrow(folder.at('package.json'));
    }
    await rm(folder.at('package.json'));
    await mkdir(folder.at('package.json'));
    await expect(readProjectName(folder.path)).rejects.toThrow(`${folder.at('package.json')}: cannot be read (EISDIR)`);
  });

  it('B8: a project in a folder with # ? and % is loaded, and an error of its sources names their place', async () => {
    await writeText('a #b?c%20d/src/controllers/registry.ts', "\nthrow new Error('no registry');\n");
    const argv = [path.resolve('bin/outrigger.js'), 'generate', '--check'];
    const result = await runProcess(argv, folder.at('a #b?c%20d'));
    expectUserError(result, 'cannot be loaded: no registry (src/controllers/registry.ts:2)');
  });

  it('B7: a generated file that cannot be read is not replaced', async () => {
    await mkdir(folder.at(crd), { recursive: true });
    await expect(write()).rejects.toThrow(`${folder.at(crd)}: cannot be read (EISDIR)`);
  });

  it('generate does not write a file that is up to date', async () => {
    await write();
    const before = await stat(folder.at(crd));
    await write();
    expect((await stat(folder.at(crd))).mtimeMs).toBe(before.mtimeMs);
  });

  it('generate --check reports stale, missing and left-over manifests and functions, and generate fixes all', async () => {
    await write();
    const fresh = await readText(treeFunction);
    const changed = fresh.replace('createReconcileHandler(tree)', 'createReconcileHandler(other)');
    expect(changed).not.toBe(fresh);
    await writeText(treeFunction, changed);
    await writeText(crd, 'stale');
    await rm(folder.at('infra/kubernetes/generated/rbac.yaml'));
    await rm(folder.at('functions/resync.ts'));
    await writeText('infra/kubernetes/generated/crd-old.yaml', 'old');
    const expected = [
      { file: crd, what: 'stale' },
      { file: treeFunction, what: 'stale' },
      { file: 'infra/kubernetes/generated/rbac.yaml', what: 'missing' },
      { file: 'functions/resync.ts', what: 'missing' },
      { file: 'infra/kubernetes/generated/crd-old.yaml', what: 'left over' },
    ];
    const found = await check();
    expect(found).toHaveLength(expected.length);
    expect(found).toEqual(expect.arrayContaining(expected));
    expect([await readText(crd), await readText(treeFunction)]).toEqual(['stale', changed]);
    expect(await write()).toEqual(found);
    expect(await check()).toEqual([]);
    expect(await readText(treeFunction)).toBe(fresh);
  });

  it('generate prints which files it created, updated and deleted', async () => {
    expect((await runIn(folder.path, ['generate'])).out).toContain(`created: ${crd}\n`);
    await writeText(crd, 'stale');
    await writeText('infra/kubernetes/generated/crd-old.yaml', 'old');
    const { out, status } = await runIn(folder.path, ['generate']);
    expect(out).toBe(`updated: ${crd}\ndeleted: infra/kubernetes/generated/crd-old.yaml\n`);
    expect(status).toBe(undefined);
  });

  it('generate writes nothing when one kind cannot be generated', async () => {
    await expect(write([...registry, ...registry])).rejects.toThrow('there are two of that name');
    const twins = [...only('web-3d'), ...only('web3d')];
    await expect(write(twins)).rejects.toThrow('web-3d has the same ids in the template, Web3d');
    for (const name of ['infra', 'functions']) await expect(access(folder.at(name))).rejects.toThrow('ENOENT');
  });
});

describe('generate and functions', () => {
  it('generate writes one function for each controller, timers.ts and resync.ts', async () => {
    await write();
    expect(await functions()).toEqual(['resync.ts', 'timers.ts', 'tree-pruner.ts', 'tree.ts']);
    expect(await readText(treeFunction)).toBe(
      '// Generated from the registry by npm run generate. Without this line the file is yours, and generate leaves it alone.\n' +
        "import { createReconcileHandler } from 'outrigger/lambda';\n" +
        "import { tree } from '../src/controllers/tree.ts';\n" +
        '\nexport const handler = createReconcileHandler(tree);\n',
    );
    expect(await readText('functions/resync.ts')).toContain(
      "import { registry } from '../src/controllers/registry.ts';",
    );
    expect(await readText('functions/timers.ts')).toContain(
      "export const handler = createTimersHandler(['tree', 'tree-pruner']);",
    );
  });

  it('a function imports a controller that is the default export of its module', async () => {
    await write();
    expect(await readText('functions/tree-pruner.ts')).toContain(
      "import controller from '../src/controllers/pruner.ts';\n\nexport const handler = createReconcileHandler(controller);",
    );
  });

  it('a function imports the handler as a file in the repository of Outrigger', async () => {
    await writeText('src/outrigger.ts', '');
    await write();
    expect(await readText(treeFunction)).toContain("from '../src/lambda/reconcile-handler.ts'");
    expect(await readText('functions/timers.ts')).toContain("from '../src/lambda/timers-handler.ts'");
    expect(await readText('functions/resync.ts')).toContain("from '../src/lambda/resync-handler.ts'");
  });

  it('generate leaves a function without the header alone, and --check does not report it', async () => {
    const own = [treeFunction, 'functions/timers.ts', 'functions/nightly-report.ts'];
    for (const file of own) await writeText(file, ownFunction);
    await write();
    expect(await check()).toEqual([]);
    for (const file of own) expect(await readText(file), file).toBe(ownFunction);
  });

  it('generate --check reports the generated function of a removed controller, and generate deletes it and says what it leaves in clusters', async () => {
    await write();
    const leftOver = { file: 'functions/tree-pruner.ts', what: 'left over' };
    expect(await check(tree)).toContainEqual(leftOver);
    expect(await functions()).toContain('tree-pruner.ts');
    const written = await write(tree);
    expect(written).toContainEqual(leftOver);
    expect(removalHints(written)).toEqual([
      expect.stringMatching(/a finalizer of it blocks .* outrigger detach KIND --controller tree-pruner/),
    ]);
    expect(await functions()).toEqual(['resync.ts', 'timers.ts', 'tree.ts']);
  });

  it('generate keeps the function of a removed controller if it has no header', async () => {
    await write();
    await writeText('functions/tree-pruner.ts', ownFunction);
    await write(tree);
    expect(await readText('functions/tree-pruner.ts')).toBe(ownFunction);
  });

  it('generate names a controller that no module exports, and writes nothing', async () => {
    await writeText(registryFile, "import { other } from './other.ts';\nexport const registry = [];\n");
    await writeText('src/controllers/other.ts', 'export const other = 1;\n');
    await expect(write()).rejects.toThrow(
      'functions/tree.ts cannot be generated: src/controllers/registry.ts imports controller tree from no file that exports it',
    );
    await expect(access(folder.at('infra'))).rejects.toThrow('ENOENT');
  });

  it('generate does not need the module of a controller whose function the author wrote', async () => {
    await writeText(registryFile, 'export const registry = [];\n');
    await writeText(treeFunction, ownFunction);
    await write(tree);
    expect(await readText(treeFunction)).toBe(ownFunction);
  });
});
