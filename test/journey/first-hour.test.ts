// The first hour with the package, by the steps of the documents alone: from an empty folder to the controller of
// docs/write/a-controller.md, which has a required setting, a secret, a child Ingress and a finalizer, running, tested and bundled.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { newProject } from '../../tools/troubleshooting/project.ts';
import { type RunningDev, runCommand, runProgram, startDev, succeed } from '../../tools/troubleshooting/run-dev.ts';
import { startHttpServer } from '../support/listen.ts';

const seconds = 500;
const ingress = '/apis/networking.k8s.io/v1/namespaces/default/ingresses/north';
const site = '/apis/sites.example.com/v1/namespaces/default/sites/north';
const north = `apiVersion: sites.example.com/v1
kind: Site
metadata: {name: north, namespace: default}
spec: {host: north.example.com}
`;
const test = `import { testContext } from 'outrigger/testing';
import { expect, it } from 'vitest';
import { Site, site } from '../../src/controllers/site.ts';

it('a site has a record', async () => {
  const owner = Site.object('north', { host: 'north.example.com', replicas: 1 });
  const clients = { register: async () => 'a record', remove: async () => true };
  const { status } = await site.reconcile(owner, testContext(site, { owner, clients }));
  expect(status.record).toBe('a record');
});
`;

/** A controller that is new while the system runs (U13). */
const note = `import { defineKind, ok } from 'outrigger';
import * as z from 'zod';
const names = { group: 'sites.example.com', version: 'v1', kind: 'Note', conditions: ['Read'] } as const;
export const Note = defineKind({ ...names, spec: z.object({}), status: z.object({}) });
export const notes = Note.controller('notes', {
  reconcile: async () => ({ status: {}, conditions: { Read: ok('Read') } }),
});
`;

/** The controller of docs/write/a-controller.md, with the imports that it says a project has. */
async function documentedController(): Promise<string> {
  const [, , block = ''] = (await readFile('docs/write/a-controller.md', 'utf8')).split('```ts\n');
  const [code = ''] = block.split('\n```\n');
  return `${code.replaceAll(/'\.\.\/\.\.\/src\/(outrigger|kubernetes)\.ts'/g, (_, entry) =>
    entry === 'outrigger' ? "'outrigger'" : "'outrigger/kubernetes'",
  )}\n`;
}

/** Saves a new field of the schema, an error of types, and a new controller, while the system runs. */
async function saveSources(
  dev: RunningDev,
  apiServer: string,
  write: (file: string, text: string) => Promise<void>,
): Promise<void> {
  const [file, source] = ['src/controllers/site.ts', await documentedController()];
  const changed = source.replace('spec: z.object({', "spec: z.object({ color: z.string().default('red'),");
  expect(changed).not.toBe(source);
  await write(file, changed);
  await dev.until(/site\.ts was saved: built, and loaded/);
  const { spec } = z.looseObject({ spec: z.unknown() }).parse(await (await fetch(apiServer + site)).json());
  expect(spec).toMatchObject({ color: 'red' });
  await write(file, `${changed}export const broken: number = 'text';\n`);
  const lines = await dev.until(/site\.ts:\d+:14: TS2322/);
  expect(lines.join('\n')).toMatch(/types +1 error; the system runs nevertheless\n/);
  const mark = dev.mark();
  await write(file, changed);
  await dev.until(/types +no errors any more/, mark);
  await write('src/controllers/note.ts', note);
  await dev.until(/note\.ts was saved: built, and loaded/, mark);
  const at = `${apiServer}/apis/sites.example.com/v1/namespaces/default/notes`;
  const body = JSON.stringify({
    apiVersion: 'sites.example.com/v1',
    kind: 'Note',
    metadata: { name: 'one' },
    spec: {},
  });
  await fetch(at, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  await dev.until(/status +note\/one .*Ready$/, mark);
}

it(
  'a newcomer gets from an empty folder to a running, tested and bundled controller',
  { timeout: seconds * 1000 },
  async () => {
    const calls: string[] = [];
    const dns = await startHttpServer(({ method, url, headers }, response) => {
      calls.push(`${method} ${url} ${headers.authorization ?? ''}`.trim());
      response.end('a record');
    });
    onTestFinished(dns.close);

    const project = await newProject('sites');
    onTestFinished(project.remove);
    const write = async (file: string, text: string) => await writeFile(path.join(project.folder, file), text);
    const npm = async (...argv: readonly string[]) => {
      const { lines, status } = await runProgram('npm', argv, { cwd: project.folder });
      expect(status, lines.join('\n')).toBe(0);
    };
    await succeed(project, 'new', 'controller', 'Site', '--group', 'sites.example.com');
    await write('src/controllers/site.ts', await documentedController());
    await write('test/controllers/site.test.ts', test);
    await write('samples/site.yaml', north);

    const refused = await runCommand(project, 'dev');
    expect(refused.lines.at(-1)).toContain('controller site needs DNS_URL');
    await write('token', 'abc\n');
    await write('.env', 'DNS_TOKEN=file:token\n');
    const options = ['--keep', '--set', `DNS_URL=${dns.url}`];
    const first = startDev(project, '--apply', 'samples', ...options);
    onTestFinished(() => first.stop());
    await first.until(/status +site\/north .*Ready$/);
    expect(calls).toContainEqual(expect.stringMatching(/^PUT \/[0-9a-f-]{36} Bearer abc$/));
    const state = await readFile(path.join(project.folder, '.outrigger/state.json'), 'utf8');
    const { apiServer } = z.looseObject({ apiServer: z.string() }).parse(JSON.parse(state));
    expect((await fetch(apiServer + ingress)).status).toBe(200);
    await saveSources(first, apiServer, write);
    await first.stop();
    expect((await first.ended).status).toBe(0);

    const dev = startDev(project, '--api-port', new URL(apiServer).port, ...options);
    onTestFinished(() => dev.stop());
    await dev.until(/status +site\/north .*Ready$/);
    await fetch(apiServer + site, { method: 'DELETE' });
    await dev.until(/changed +site\/north +was deleted/);
    expect(calls).toContainEqual(expect.stringMatching(/^DELETE \/[0-9a-f-]{36}$/));
    await dev.stop();

    await npm('run', 'check');
    await npm('test');
    await npm('exec', '--', 'outrigger', 'build');
  },
);
