// Only the package as others get it: that it compiles to JavaScript and declarations, and that its entries are all there.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';

const root = path.resolve(import.meta.dirname, '../..');
const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
const run = promisify(execFile);
let folder: string;

const manifest = z.object({ exports: z.record(z.string(), z.record(z.string(), z.string())) });
const author = `
import { defineResource, defineController } from './outrigger.js';
import { testContext } from './testing.js';
import { createReconcileHandler } from './lambda.js';
import * as z from 'zod';
const kind = defineResource({ group: 'a.example.com', version: 'v1', kind: 'A', spec: z.object({ n: z.number() }), status: z.object({}), conditions: ['X'] });
const controller = defineController(kind)({ name: 'a', reconcile: async () => ({ status: {}, conditions: { X: { status: 'True', reason: 'R' } } }) });
const result = await controller.reconcile(kind.object('a', { n: 1 }), testContext(controller, { clients: {} }));
if (result.conditions.X.status !== 'True') throw new Error('not so');
const runner = defineController(kind)({ name: 'b', exec: { container: '-ctr', commands: [['cli']] }, reconcile: async (_, { exec }) => ({ status: {}, conditions: { X: { status: 'True', reason: (await exec({ name: 'p' }, 'a-ctr', ['cli'])).stdout } } }) });
await runner.reconcile(kind.object('a', { n: 1 }), testContext(runner, { clients: {}, exec: async () => ({ exitCode: 0, stdout: 'R', stderr: '' }) }));
console.log(typeof createReconcileHandler(controller));
// @ts-expect-error: nobody answers exec
export const mute = () => testContext(runner, { clients: {} });
// @ts-expect-error: a number is not a text
export const wrong = () => kind.object('a', { n: 'x' });
`;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-lib-'));
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  await run(process.execPath, [tsc, '-p', path.join(root, 'src/tsconfig.package.json'), '--outDir', folder]);
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the package', () => {
  it('has a file for every entry that it names', async () => {
    const { exports } = manifest.parse(JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')));
    const named = Object.values(exports).flatMap((entry) => Object.values(entry));
    expect(
      named.map((file) => path.relative('lib', file)).filter((file) => !existsSync(path.join(folder, file))),
    ).toEqual([]);
    expect(named).toHaveLength(8);
  });

  it('is nothing but JavaScript and declarations', async () => {
    const files = await readdir(folder, { recursive: true, withFileTypes: true });
    const own = files.filter((file) => file.isFile() && !/\.(js|d\.ts)$/.test(file.name));
    expect(own.map(({ name }) => name)).toEqual(['package.json']);
  });

  it('compiles and runs for an author, with the errors that an author should meet', async () => {
    await writeFile(path.join(folder, 'author.ts'), author);
    const options = '--ignoreConfig --strict --module nodenext --target es2024 --skipLibCheck --types node'.split(' ');
    await run(process.execPath, [tsc, ...options, 'author.ts'], { cwd: folder });
    const { stdout } = await run(process.execPath, ['author.js'], { cwd: folder });
    expect(stdout.trim()).toBe('function');
  });
});
