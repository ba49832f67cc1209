// Only the lock across processes, the hash of an artifact's inputs, and the writes of the state file. The journeys run
// the build and the packaging.
import { access, mkdir, utimes } from 'node:fs/promises';
import { buildBundles, withLock } from '@outrigger/cli/dev/artifacts';
import { hashFiles } from '@outrigger/cli/dev/hash-files';
import { packagedFile } from '@outrigger/cli/dev/packaged-template';
import { createStateFile, type DevState } from '@outrigger/cli/dev/state-file';
import { expect, it, onTestFinished, vi } from 'vitest';
import { packagedTemplate } from '../../tools/artifacts.ts';
import { useFolder } from '../support/folder.ts';

const signal = new AbortController().signal;
const folder = useFolder();

it('withLock never runs two pieces of work under the same name at once', async () => {
  const name = folder.at('deep/name');
  let running = 0;
  let most = 0;
  const work = () =>
    withLock(
      name,
      async () => {
        running += 1;
        most = Math.max(most, running);
        await access(`${name}.lock`);
        running -= 1;
      },
      signal,
    );
  await Promise.all([work(), work(), work()]);
  expect(most).toBe(1);
  await expect(access(`${name}.lock`)).rejects.toThrow('ENOENT');
});

it('withLock ignores a lock that was not touched for ten seconds', async () => {
  const name = folder.at('name');
  await mkdir(`${name}.lock`);
  const ago = Date.now() / 1000 - 11;
  await utimes(`${name}.lock`, ago, ago);
  expect(await withLock(name, async () => 'done', signal)).toBe('done');
});

it('withLock waits for a held lock until the signal aborts, and does not remove it', async () => {
  const name = folder.at('name');
  await mkdir(`${name}.lock`);
  // Fresh, also on a machine whose disk stalls for ten seconds.
  const later = Date.now() / 1000 + 3600;
  await utimes(`${name}.lock`, later, later);
  const waiting = withLock(name, async () => 'done', AbortSignal.timeout(300));
  await expect(waiting).rejects.toThrow('timeout');
  await access(`${name}.lock`);
});

it('withLock rejects at once if the lock cannot be created', async () => {
  const tooLong = folder.at('x'.repeat(255));
  await expect(withLock(tooLong, async () => 'done', signal)).rejects.toThrow('ENAMETOOLONG');
});

it('bundles that another build made of other sources are stale, although the sources are as they were', async () => {
  const bundle = 'dist/watcher/index.mjs';
  const save = async (text: string) => await folder.write('src/main.ts', text);
  const build = async () => await folder.write(bundle, await folder.read('src/main.ts'));
  await save('one');
  await buildBundles(build, folder.path, signal);
  await save('two');
  await build();
  await save('one');
  await buildBundles(build, folder.path, signal);
  expect(await folder.read(bundle)).toBe('one');
});

it('the template is packaged again after the project was renamed in package.json', async () => {
  await folder.write('package.json', '{"outrigger":{"project":"one"}}');
  const osls = "const { cpSync } = require('node:fs'); cpSync('package.json', '%s');".replace('%s', packagedFile);
  await folder.write('node_modules/osls/bin/serverless.js', osls);
  expect(await packagedTemplate(folder.path, signal)).toContain('one');
  await folder.write('package.json', '{"outrigger":{"project":"two"}}');
  expect(await packagedTemplate(folder.path, signal)).toContain('two');
});

it('an error of osls is shown from its beginning, without the progress', async () => {
  const osls = `console.error('Packaging'); console.log('Error:\\nFOO is unknown; use one of ' + 'BAR, '.repeat(200)); process.exit(1)`;
  await folder.write('node_modules/osls/bin/serverless.js', osls);
  const packaged = packagedTemplate(folder.path, signal);
  await expect(packaged).rejects.toThrow(/details: FOO is unknown; use one of BAR, (?!.*Packaging)/);
});

it('the packaging of a new folder finds what osls has generated for another one, unless the user has no home', async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('HOME', folder.path);
  const osls = `const { cpSync, existsSync, mkdirSync } = require('node:fs');
    const base = process.env.SLS_SCHEMA_CACHE_BASE_DIR;
    if (!require('node:path').isAbsolute(base)) throw new Error('the cache would be in the current folder');
    const cache = base + '/.serverless';
    cpSync(existsSync(cache) ? 'found' : 'generated', '${packagedFile}');
    mkdirSync(cache, { recursive: true });`;
  const packaged = async (project: string) => {
    await folder.write(`${project}/node_modules/osls/bin/serverless.js`, osls);
    for (const text of ['found', 'generated']) await folder.write(`${project}/${text}`, text);
    return await packagedTemplate(folder.at(project), signal);
  };
  expect([await packaged('one'), await packaged('two')]).toEqual(['generated', 'found']);
  for (const home of ['', '/proc/none']) {
    vi.stubEnv('HOME', home);
    expect(await packaged(`home${home.length}`)).toBe('generated');
  }
});

it('hashFiles changes with a content, a name and a missing file only', async () => {
  const hash = () => hashFiles(folder.path, ['a', 'sub']);
  const none = await hash();
  await folder.write('a', '1');
  const one = await hash();
  expect(one).not.toBe(none);
  await folder.write('other', '1');
  expect(await hash()).toBe(one);
  await folder.write('a', '2');
  expect(await hash()).not.toBe(one);
});

it('createStateFile writes the last state last', async () => {
  const state = createStateFile(folder.at('state.json'));
  const of = (pid: number): DevState => ({
    apiServer: 'http://a',
    queueEndpoint: 'http://q',
    lambda: 'http://127.0.0.1:3',
    queues: {},
    functions: [],
    simulators: {},
    watchers: [{ pid }],
  });
  for (let pid = 1; pid <= 20; pid += 1) state.write(of(pid));
  await state.settled();
  expect(await folder.json('state.json')).toEqual(of(20));
});
