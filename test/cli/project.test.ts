// Only how a command reads the project of a folder: its names in package.json, and its controllers.
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import {
  controllerSources,
  loadProject,
  manifestVersion,
  readNamespaces,
  readProjectName,
} from '../../packages/cli/src/project/project.ts';
import { useFolder } from '../support/folder.ts';
import { expectUserError, runProcess } from './command-result.ts';

const folder = useFolder();
const { write } = folder;

it('B7: a package.json with a byte order mark names the project, and a broken one is an error that names it', async () => {
  const settings = JSON.stringify({ outrigger: { project: 'cafe', namespaces: ['no'] } });
  await write('package.json', `\ufeff${settings}`);
  expect([await readProjectName(folder.path), await readNamespaces(folder.path)]).toEqual(['cafe', ['no']]);
  for (const broken of [settings.replace('}}', ',}}'), '[]', '{"outrigger": "cafe"}', '']) {
    await write('package.json', broken);
    for (const reading of [readProjectName, readNamespaces])
      await expect(reading(folder.path), broken).rejects.toThrow(folder.at('package.json'));
    expect(await manifestVersion(folder.path), broken).toBeUndefined();
  }
  for (const [manifest, version] of [['\ufeff{"version":"1.4.0"}', '1.4.0'], ['{"version":1}']] as const) {
    await write('package.json', manifest);
    expect(await manifestVersion(folder.path)).toBe(version);
  }
  await rm(folder.at('package.json'));
  expect(await manifestVersion(folder.path)).toBeUndefined();
  await mkdir(folder.at('package.json'));
  await expect(readProjectName(folder.path)).rejects.toThrow(`${folder.at('package.json')}: cannot be read (EISDIR)`);
});

it('a misspelt setting of package.json is an error that names it, and never all namespaces', async () => {
  await write('package.json', '{ "outrigger": { "project": "cafe", "namespace": ["shop"] } }');
  for (const reading of [readProjectName, readNamespaces])
    await expect(reading(folder.path)).rejects.toThrow('outrigger: namespace: there are project and namespaces only');
  await rm(folder.at('package.json'));
});

it('a key of outrigger in package.json that begins with // is a comment', async () => {
  await write('package.json', '{ "outrigger": { "//": "the café", "// namespaces": "all", "project": "cafe" } }');
  expect([await readProjectName(folder.path), await readNamespaces(folder.path)]).toEqual(['cafe', undefined]);
  await rm(folder.at('package.json'));
});

it('B8: a project in a folder with # ? and % is loaded, and an error of its sources names their place', async () => {
  await write('a #b?c%20d/src/controllers/registry.ts', "\nthrow new Error('no registry');\n");
  const argv = [path.resolve('packages/cli/bin/outrigger.js'), 'manifests', '--check'];
  const result = await runProcess(argv, folder.at('a #b?c%20d'));
  expectUserError(result, 'cannot be loaded: no registry (src/controllers/registry.ts:2)');
});

it.each([
  [['--context', 'kind'], '--context is for a cluster of your own; name it with --kubeconfig FILE'],
  [['--kubeconfig', 'a', '--api-port', '1'], '--api-port is for the embedded API server; leave it out'],
])('dev %j is refused, because a part of it would have no effect', async (argv, message) => {
  await write('src/controllers/registry.ts', 'export const registry = [];\n');
  expectUserError(
    await runProcess([path.resolve('packages/cli/bin/outrigger.js'), 'dev', ...argv], folder.path),
    message,
  );
});

it('a controller in a folder below src/controllers is found and imported from there, and a test is no source', async () => {
  const definition = "{ name: 'dns', declaration: {} }";
  await write('below/src/controllers/dns/aws/dns.ts', `export const dns = ${definition};\n`);
  for (const name of ['dns/dns.test', 'dns/__tests__/dns', '__mocks__/dns', 'dns/node_modules/dns/dns'])
    await write(`below/src/controllers/${name}.ts`, "throw new Error('loaded');\n");
  const { registry } = await loadProject(folder.at('below'));
  expect(registry).toMatchObject([{ name: 'dns' }]);
  const { statement = '' } = (await controllerSources(folder.at('below'), registry)).get('dns') ?? {};
  expect(statement).toBe('import { dns as controller0_dns } from "./src/controllers/dns/aws/dns.ts";');
});

it('a file after the last controller of the registry is not read', async () => {
  await write('few/src/controllers/dns.ts', "export const dns = { name: 'dns', declaration: {} };\n");
  await write('few/src/controllers/seed.ts', "throw new Error('loaded');\n");
  await write('few/src/controllers/registry.ts', "import { dns } from './dns.ts';\nexport const registry = [dns];\n");
  const { registry } = await loadProject(folder.at('few'));
  expect([...(await controllerSources(folder.at('few'), registry)).keys()]).toEqual(['dns']);
});

it.each([
  'index.ts',
  'registry.ts',
  'dns/index.ts',
])('a controller that was saved is read again, and once, with the modules of the project that it imports, also from %s', async (barrel) => {
  const project = `saved ${barrel.replace('/', ' ')}`;
  const from = barrel.startsWith('dns/') ? './dns.ts' : './dns/dns.ts';
  const list = barrel === 'registry.ts' ? 'export const registry = [dns];' : 'export { dns };';
  await write(`${project}/src/controllers/${barrel}`, `import { dns } from '${from}';\n${list}\n`);
  await write(`${project}/src/controllers/dns/dns.ts`, '');
  await write(`${project}/lib/zone.ts`, '');
  // In a process of its own: the runner of the tests keeps modules itself.
  const program = `import { writeFile } from 'node:fs/promises';
    import { loadProject } from '${path.resolve('packages/cli/src/project/project.ts')}';
    for (const name of ['first', 'second', 'third']) {
      await writeFile('lib/zone.ts', \`export const zone = '\${name}-zone';\`);
      await writeFile(
        'src/controllers/dns/dns.ts',
        \`import { zone } from '../../../lib/zone.ts'; export const dns = { name: '\${name} ' + zone, declaration: {} };\`,
      );
      const { registry } = await loadProject(process.cwd(), { again: name !== 'first' });
      console.log(registry.map((one) => one.name).join());
    }`;
  const { out } = await runProcess(['--input-type=module', '--eval', program], folder.at(project));
  expect(out).toBe('first first-zone\nsecond second-zone\nthird third-zone\n');
});
