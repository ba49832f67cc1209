// Only the bundles that `outrigger build` makes of a folder of functions, and its errors.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readdir, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { build as buildFolder } from '../../src/cli/build.ts';
import { buildBundles } from '../../src/dev/artifacts.ts';
import { useFolder } from '../support/folder.ts';
import { startHttpServer } from '../support/listen.ts';

const source = path.resolve(import.meta.dirname, '../..');
const folder = useFolder();
const { at, read, write } = folder;
const build = async () => await buildFolder(folder.path);
const filesOf = async (name: string) => (await readdir(at('dist', name))).sort();

beforeEach(async () => {
  await symlink(path.join(source, 'node_modules'), at('node_modules'));
  await write('src/watcher/main.ts', `import { version } from './version.ts'; process.stdout.write(version);`);
  await write('src/watcher/version.ts', `export const version = '1';`);
});

/** Loads a bundle as Lambda does and calls its handler. */
async function call(name: string, ...given: readonly unknown[]): Promise<unknown> {
  const bundle: unknown = await import(pathToFileURL(at(`dist/${name}/index.mjs`)).href);
  const { handler } = z
    .object({ handler: z.custom<(...given: readonly unknown[]) => unknown>((value) => typeof value === 'function') })
    .parse(bundle);
  return handler(...given);
}

describe('build', () => {
  it('build makes one module with a source map for each function, and one for the watcher', async () => {
    await write('functions/tree.ts', `export const handler = (): string => 'tree';`);
    await write('functions/fruit.ts', `export const handler = (): string => 'fruit';`);
    await build();
    expect(await filesOf('.')).toEqual(['fruit', 'tree', 'watcher']);
    expect(await filesOf('tree')).toEqual(['index.mjs', 'index.mjs.map']);
    expect([await call('tree'), await call('fruit')]).toEqual(['tree', 'fruit']);
  });

  it('two builds at once leave the bundles of one of them', async () => {
    await write('functions/tree.ts', `export const handler = (): string => 'tree';`);
    await write('functions/fruit.ts', `export const handler = (): string => 'fruit';`);
    await Promise.all([build(), build()]);
    expect(await filesOf('.')).toEqual(['fruit', 'tree', 'watcher']);
  });

  it('a stack names the source, of errors of the handler and of the module itself, and no source map is read without an error', async () => {
    await write(
      'src/pump.ts',
      `export function startPump(): never {\n  throw new Error('dry');\n}\nexport const level = (): string => 'low';`,
    );
    await write(
      'functions/tree.ts',
      `import { level, startPump } from '../src/pump.ts';
       if (process.env.FAIL === 'import') startPump();
       export const handler = () => (process.env.FAIL === 'handler' ? startPump() : level());`,
    );
    await build();
    const program = `
      import { syncBuiltinESMExports } from 'node:module';
      import fs from 'node:fs';
      const { readFileSync } = fs;
      fs.readFileSync = (file, ...rest) => (String(file).endsWith('.map') && console.log('map'), readFileSync(file, ...rest));
      syncBuiltinESMExports();
      try { const { handler } = await import('./dist/tree/index.mjs'); console.log(handler()); }
      catch (error) { console.log(error.stack); }`;
    const output = async (fail: string) => {
      const argv = ['--input-type=module', '-e', program];
      const env = { ...process.env, FAIL: fail };
      return (await promisify(execFile)(process.execPath, argv, { cwd: folder.path, env })).stdout;
    };
    expect(await output('')).toBe('low\n');
    for (const fail of ['handler', 'import'])
      expect(await output(fail)).toContain(`Error: dry\n    at ${at('src/pump.ts')}:2:9\n`);
  });

  it('build bundles CommonJS that requires a module of Node', async () => {
    await write('src/old.cjs', `exports.separator = require('path').sep;`);
    await write(
      'functions/tree.ts',
      `import { separator } from '../src/old.cjs'; export const handler = () => separator;`,
    );
    await build();
    expect(await call('tree')).toBe('/');
  });

  it('a bundle parses with zod, and z.toJSONSchema in it says that it is left out', async () => {
    await write(
      'functions/tree.ts',
      `import * as z from 'zod';
       export const handler = () => {
         const schema = z.object({ a: z.string() });
         const calls = [() => z.toJSONSchema(schema), () => schema.toJSONSchema(), () => schema['~standard'].jsonSchema.input({})];
         const errors = calls.map((make) => { try { return make(); } catch (error) { return error.message; } });
         return [schema.parse({ a: 'x' }).a, ...errors];
       };`,
    );
    await build();
    const message = expect.stringContaining('not in the bundle of a function');
    expect(await call('tree')).toEqual(['x', message, message, message]);
  });

  it('a bundle has no JavaScript SHA-256, nothing that recognizes browsers and no names of regions, and hashes as Node does', async () => {
    await write(
      'functions/tree.ts',
      `import { Sha256 } from '@smithy/core/checksum';
       import { SQSClient } from '@aws-sdk/client-sqs';
       export const handler = async () => {
         const hash = new Sha256();
         hash.update('tree');
         const sqs = new SQSClient({ region: 'cn-north-1' });
         const { hostname } = await sqs.config.endpointProvider({ Region: 'cn-north-1' }).url;
         return [Buffer.from(await hash.digest()).toString('hex'), hostname];
       };`,
    );
    await build();
    expect(await call('tree')).toEqual([
      createHash('sha256').update('tree').digest('hex'),
      'sqs.cn-north-1.amazonaws.com.cn',
    ]);
    const modules = (await filesOf('tree')).filter((file) => file.endsWith('.mjs'));
    for (const file of modules)
      expect(await read(`dist/tree/${file}`), file).not.toMatch(/Chrome|0x428a2f98|1116352408|Cape Town/);
  });

  it('a bundle sends to SQS and reads its response, and each error has its name and message, without the other operations', async () => {
    await write(
      'functions/tree.ts',
      `import { QueueDoesNotExist, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
       const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
       const attributes = { kind: { DataType: 'String', StringValue: 'oak' } };
       export const handler = async (endpoint: string) => {
         const sqs = new SQSClient({ region: 'eu-west-1', endpoint, credentials, maxAttempts: 1 });
         const entry = { Id: '0', MessageBody: 'tree', DelaySeconds: 3, MessageAttributes: attributes };
         const send = (QueueUrl: string) => sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries: [entry] }));
         const error = (url: string) =>
           send(url).catch((thrown) => [
             ...[thrown.name, thrown.message, thrown.$metadata.httpStatusCode],
             thrown instanceof QueueDoesNotExist,
           ]);
         const { Successful, Failed } = await send('echo');
         const errors = ['KmsThrottled', 'RequestThrottled', 'QueueDoesNotExist'].map(error);
         return { Successful, Failed, errors: await Promise.all(errors) };
       };`,
    );
    await build();
    // The SDK compares it.
    const MD5OfMessageBody = createHash('md5').update('tree').digest('hex');
    const failed = { Id: '1', SenderFault: true, Code: 'InvalidParameterValue', Message: 'no' };
    const server = await startHttpServer(async (request, response) => {
      const { QueueUrl, Entries } = JSON.parse(await text(request));
      const [status, body] =
        QueueUrl === 'echo'
          ? [200, { Successful: [{ Id: '0', MessageId: JSON.stringify(Entries), MD5OfMessageBody }], Failed: [failed] }]
          : [400, { __type: `com.amazonaws.sqs#${QueueUrl}`, message: `about ${QueueUrl}` }];
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
    });
    onTestFinished(server.close);
    const attributes = { kind: { DataType: 'String', StringValue: 'oak' } };
    const entries = [{ Id: '0', MessageBody: 'tree', DelaySeconds: 3, MessageAttributes: attributes }];
    expect(await call('tree', server.url)).toMatchObject({
      Successful: [{ Id: '0', MessageId: JSON.stringify(entries) }],
      Failed: [failed],
      errors: [
        ['KmsThrottled', 'about KmsThrottled', 400, false],
        ['RequestThrottled', 'about RequestThrottled', 400, false],
        ['QueueDoesNotExist', 'about QueueDoesNotExist', 400, true],
      ],
    });
    expect(await read('dist/tree/index.mjs')).not.toContain('ListMessageMoveTasks');
  });

  it('a bundle loads node:http without the client that Node adds for its WebSocket', async () => {
    await write('src/old.cjs', `exports.codes = require('http').STATUS_CODES;`);
    await write(
      'functions/tree.ts',
      `import http, { request } from 'node:http';
       import { codes } from '../src/old.cjs';
       export const handler = () => [http.request === request, codes === http.STATUS_CODES];`,
    );
    await build();
    expect(await call('tree')).toEqual([true, true]);
    const loaded = `await import('./dist/tree/index.mjs'); process.stdout.write(process.moduleLoadList.join('\\n'));`;
    const argv = ['--input-type=module', '-e', loaded];
    const { stdout } = await promisify(execFile)(process.execPath, argv, { cwd: folder.path });
    expect(stdout.split('\n')).toContain('NativeModule http');
    expect(stdout).not.toContain('undici');
  });

  it('build deletes the bundles of removed functions', async () => {
    await write('functions/tree.ts', 'export const handler = () => 1;');
    await write('functions/old.ts', 'export const handler = () => 1;');
    await build();
    await rm(at('functions/old.ts'));
    await build();
    expect(await filesOf('.')).toEqual(['tree', 'watcher']);
  });

  it('build rejects a function that imports client-node indirectly, and keeps the old bundles', async () => {
    await write('functions/tree.ts', `export const handler = () => 'old';`);
    await build();
    await write('src/far.ts', `export const load = async () => (await import('@kubernetes/client-node')).KubeConfig;`);
    await write('functions/tree.ts', `import { load } from '../src/far.ts'; export const handler = load;`);
    await expect(build()).rejects.toThrow('functions/tree.ts would contain @kubernetes/client-node');
    expect(await call('tree')).toBe('old');
  });

  it('build adds a WebSocket, in a file of its own, only to the functions of controllers that run commands', async () => {
    await write('src/open.ts', `export const open = async () => typeof (await import('ws')).WebSocket;`);
    for (const name of ['tree', 'fruit', 'timers']) {
      await write(`functions/${name}.ts`, `import { open } from '../src/open.ts'; export const handler = open;`);
    }
    const registry = `export const registry = [{ name: 'tree', declaration: {} }, { name: 'fruit', declaration: { exec: {} } }];`;
    await write('src/controllers/registry.ts', registry);
    await build();
    for (const name of ['tree', 'timers']) expect(await filesOf(name)).toHaveLength(2);
    expect((await filesOf('fruit')).length).toBeGreaterThan(2);
    await rm(at('node_modules'));
    expect(await call('fruit')).toBe('function');
    // The current sources are read, not the modules of this process.
    await symlink(path.join(source, 'node_modules'), at('node_modules'));
    await write('src/controllers/registry.ts', registry.replace('declaration: {} }', 'declaration: { exec: {} } }'));
    await build();
    expect((await filesOf('tree')).length).toBeGreaterThan(2);
  });

  it('build in a folder without functions writes nothing', async () => {
    await expect(build()).rejects.toThrow('functions');
    expect(await readdir(folder.path)).not.toContain('.outrigger');
  });

  it('the bundles of dev do not wait for another build when dev is stopped', async () => {
    await write('functions/tree.ts', 'export const handler = () => 1;');
    await mkdir(at('.outrigger/cache/build.lock'), { recursive: true });
    await expect(buildBundles(buildFolder, folder.path, AbortSignal.timeout(300))).rejects.toThrow('timeout');
  });

  it('no other build replaces the bundles while they are packaged', async () => {
    await write('functions/tree.ts', 'export const handler = () => 1;');
    await buildFolder(folder.path, { pack: async () => await access(at('.outrigger/cache/build.lock')) });
    await expect(access(at('.outrigger/cache/build.lock'))).rejects.toThrow('ENOENT');
  });

  it('build fails with the file and line of a source that does not compile', async () => {
    await write('functions/tree.ts', 'export const handler = (;');
    await expect(build()).rejects.toThrow('functions/tree.ts:1');
  });
});
