// Only the bundles that `outrigger build` makes of a folder of the author's functions, and its errors. The programs that it
// makes itself are in test/project/entries.test.ts.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readdir, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build as buildFolder } from '@outrigger/cli/commands/build';
import { requireLoadable } from '@outrigger/cli/commands/load-bundles';
import { buildBundles } from '@outrigger/cli/dev/artifacts';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { bundleFunctions } from '../support/bundle-functions.ts';
import { useFolder } from '../support/folder.ts';
import { startHttpServer } from '../support/listen.ts';

const source = path.resolve(import.meta.dirname, '../..');
/** A module of the runtime, for an import. */
const runtime = (name: string) => path.join(source, `src/${name}.ts`);
const folder = useFolder();
const { at, read, write } = folder;
const build = async (...withExec: string[]) => await bundleFunctions(folder.path, { withExec });
const filesOf = async (name: string) => (await readdir(at('dist', name))).sort();

beforeEach(async () => {
  await symlink(path.join(source, 'node_modules'), at('node_modules'));
  await write('package.json', '{"type":"module","outrigger":{"project":"trees"}}');
});

/** What is made with every bundle. */
const always = ['fleet-watcher.json', 'kubernetes', 'watcher'];

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
    expect(await filesOf('.')).toEqual([...always, 'fruit', 'tree'].toSorted());
    expect(await filesOf('tree')).toEqual(['index.mjs', 'index.mjs.map']);
    expect([await call('tree'), await call('fruit')]).toEqual(['tree', 'fruit']);
  });

  it(
    'two builds at once leave the bundles of one of them, and wait while these are packaged',
    { timeout: 180_000 },
    async () => {
      await write('functions/tree.ts', `export const handler = (): string => 'tree';`);
      const lock = at('.outrigger/cache/build.lock');
      await Promise.all([buildFolder(folder.path, { pack: async () => await access(lock) }), buildFolder(folder.path)]);
      await expect(access(lock)).rejects.toThrow('ENOENT');
      expect(await filesOf('.')).toEqual([...always, 'resync', 'timers', 'tree'].toSorted());
    },
  );

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

  it('B2: a bundle has the conversion to JSON schemas of zod only if an author mentions it', async () => {
    const source = `import * as z from 'zod';
       const schema = z.object({ a: z.string() });`;
    await write('functions/fruit.ts', `${source} export const handler = () => schema.parse({ a: 'x' }).a;`);
    await write('functions/tree.ts', `${source} export const handler = () => z.toJSONSchema(schema).required;`);
    await build();
    expect([await call('fruit'), await call('tree')]).toEqual(['x', ['a']]);
    expect(await read('dist/tree/index.mjs')).toContain('additionalProperties');
    expect(await read('dist/fruit/index.mjs')).not.toContain('additionalProperties');
  });

  it('the runtime has no JavaScript SHA-256, nothing that recognizes browsers and no names of regions in a bundle', async () => {
    await write(
      'functions/tree.ts',
      `import { createSqsClient } from '${runtime('sqs/sqs-client')}';
       export const handler = async () => {
         const sqs = createSqsClient({ region: 'cn-north-1' });
         return (await sqs.config.endpointProvider({ Region: 'cn-north-1' })).url.hostname;
       };`,
    );
    await build();
    expect(await call('tree')).toBe('sqs.cn-north-1.amazonaws.com.cn');
    const modules = (await filesOf('tree')).filter((file) => file.endsWith('.mjs'));
    for (const file of modules)
      expect(await read(`dist/tree/${file}`), file).not.toMatch(/Chrome|0x428a2f98|1116352408|Cape Town/);
  });

  it('the runtime sends to SQS and reads its response, and each error has its name and message, without the other operations', async () => {
    await write(
      'functions/tree.ts',
      `import { createSqsClient } from '${runtime('sqs/sqs-client')}';
       import { createSend } from '${runtime('sqs/send')}';
       process.env.AWS_ACCESS_KEY_ID = 'a';
       process.env.AWS_SECRET_ACCESS_KEY = 'b';
       const { signal } = new AbortController();
       const entry = { body: 'tree', delaySeconds: 3, attributes: { kind: 'oak' } };
       export const handler = async (endpoint: string) => {
         const send = createSend(createSqsClient({ region: 'eu-west-1', endpoint }), '', { tries: 1 });
         const names = ['echo', 'partly', 'KmsThrottled', 'RequestThrottled', 'QueueDoesNotExist'];
         return await Promise.all(names.map(async (name) => (await send(name, [entry], { signal }))[0]));
       };`,
    );
    await build();
    const MD5OfMessageBody = createHash('md5').update('tree').digest('hex');
    const failed = { Id: '0', SenderFault: true, Code: 'InvalidParameterValue', Message: 'no' };
    const server = await startHttpServer(async (request, response) => {
      const { QueueUrl, Entries } = JSON.parse(await text(request));
      const accepted = { Id: '0', MessageId: JSON.stringify(Entries), MD5OfMessageBody };
      const answers = new Map([
        ['echo', { Successful: [accepted] }],
        ['partly', { Failed: [failed] }],
      ]);
      const error = { __type: `com.amazonaws.sqs#${QueueUrl}`, message: `about ${QueueUrl}` };
      response.writeHead(answers.has(QueueUrl) ? 200 : 400, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify(answers.get(QueueUrl) ?? error));
    });
    onTestFinished(server.close);
    const MessageAttributes = { kind: { DataType: 'String', StringValue: 'oak' } };
    const messageId = JSON.stringify([{ Id: '0', MessageBody: 'tree', DelaySeconds: 3, MessageAttributes }]);
    expect(await call('tree', server.url)).toMatchObject([
      { accepted: true, messageId },
      { accepted: false, reason: 'partly: InvalidParameterValue: no' },
      { accepted: false, reason: 'KmsThrottled: KmsThrottled: about KmsThrottled' },
      { accepted: false, reason: 'RequestThrottled: RequestThrottled: about RequestThrottled' },
      { accepted: false, missingQueue: true },
    ]);
    expect(await read('dist/tree/index.mjs')).not.toContain('ListMessageMoveTasks');
  });

  it('B2: an author has the classes, names and credentials of an SDK, where the runtime imports the same packages', async () => {
    await write(
      'functions/tree.ts',
      `import { CreateQueueCommand, QueueNameExists, SQSClient } from '@aws-sdk/client-sqs';
       import { defaultProvider } from '@aws-sdk/credential-provider-node';
       import http, { WebSocket } from 'node:http';
       import bowser from 'bowser';
       import { createSqsClient } from '${runtime('sqs/sqs-client')}';
       class Oak extends Error {}
       const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
       export const handler = async (endpoint: string) => {
         const sqs = new SQSClient({ region: 'eu-west-1', endpoint, credentials, maxAttempts: 1 });
         const error = await sqs.send(new CreateQueueCommand({ QueueName: 'q' })).catch((thrown) => thrown);
         return {
           error: [error instanceof QueueNameExists, error.constructor.name, error.name],
           classes: [sqs.constructor.name, new Oak().constructor.name, createSqsClient() instanceof SQSClient],
           others: [typeof bowser.parse, WebSocket === http.WebSocket, defaultProvider.length],
         };
       };`,
    );
    await build();
    const server = await startHttpServer((_, response) => {
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify({ __type: 'com.amazonaws.sqs#QueueNameExists', message: 'exists' }));
    });
    onTestFinished(server.close);
    vi.stubEnv('AWS_REGION', 'eu-west-1');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
    expect(await call('tree', server.url)).toEqual({
      error: [true, 'QueueNameExists', 'QueueNameExists'],
      classes: ['SQSClient', 'Oak', true],
      others: ['function', true, defaultProvider.length],
    });
  });

  it('the runtime loads modules of Node without what Node adds when their exports are read: a client for a WebSocket, reports', async () => {
    await write('src/old.cjs', `exports.codes = require('http').STATUS_CODES;`);
    await write(
      'functions/tree.ts',
      `import { codes } from '../src/old.cjs';
       import { createSqsClient } from '${runtime('sqs/sqs-client')}';
       export const handler = () => [codes[404], typeof createSqsClient];`,
    );
    await build();
    expect(await call('tree')).toEqual(['Not Found', 'function']);
    const loaded = `await import('./dist/tree/index.mjs'); process.stdout.write(process.moduleLoadList.join('\\n'));`;
    const argv = ['--input-type=module', '-e', loaded];
    const { stdout } = await promisify(execFile)(process.execPath, argv, { cwd: folder.path });
    expect(stdout.split('\n')).toContain('NativeModule http');
    expect(stdout).not.toContain('undici');
    expect(stdout).not.toContain('internal/process/report');
  });

  it('build deletes the bundles of removed functions', async () => {
    await write('functions/tree.ts', 'export const handler = () => 1;');
    await write('functions/old.ts', 'export const handler = () => 1;');
    expect(await build()).toEqual([]);
    await rm(at('functions/old.ts'));
    expect(await build()).toEqual([expect.stringContaining('outrigger detach KIND --controller old')]);
    expect(await filesOf('.')).toEqual([...always, 'tree'].toSorted());
  });

  it('build rejects a function that imports client-node indirectly, and keeps the old bundles', async () => {
    await write('functions/tree.ts', `export const handler = () => 'old';`);
    await build();
    await write('src/far.ts', `export const load = async () => (await import('@kubernetes/client-node')).KubeConfig;`);
    await write('functions/tree.ts', `import { load } from '../src/far.ts'; export const handler = load;`);
    await expect(build()).rejects.toThrow('the function tree would contain @kubernetes/client-node');
    expect(await call('tree')).toBe('old');
  });

  it('B1: the WebSocket of the runtime is only in the functions of controllers that run commands, and that of an author in theirs', async () => {
    const openExec = `import { openWebSocket } from '${runtime('kube/client/web-socket')}';`;
    for (const name of ['foo', 'bitcoin-peers'])
      await write(`functions/${name}.ts`, `${openExec} export const handler = () => typeof openWebSocket;`);
    await write(
      'functions/timers.ts',
      `${openExec} import { WebSocket } from 'ws'; export const handler = () => [typeof openWebSocket, WebSocket.OPEN];`,
    );
    const hasWebSocket = async (name: string) => {
      const texts = (await filesOf(name))
        .filter((file) => file.endsWith('.mjs'))
        .map((file) => read(`dist/${name}/${file}`));
      return (await Promise.all(texts)).join('').includes('Sec-WebSocket-Extensions');
    };
    await build('bitcoin-peers');
    expect(await Promise.all(['foo', 'bitcoin-peers', 'timers'].map(hasWebSocket))).toEqual([false, true, true]);
    await rm(at('node_modules'));
    expect([await call('bitcoin-peers'), await call('timers')]).toEqual(['function', ['function', 1]]);
  });

  it('build in a folder that is no project writes nothing', async () => {
    await rm(at('package.json'));
    await expect(buildFolder(folder.path)).rejects.toThrow('there are no controllers in src/controllers here');
    expect(await readdir(folder.path)).not.toContain('.outrigger');
  });

  it('the bundles of dev do not wait for another build when dev is stopped', async () => {
    await write('functions/tree.ts', 'export const handler = () => 1;');
    await mkdir(at('.outrigger/cache/build.lock'), { recursive: true });
    await expect(buildBundles(buildFolder, folder.path, AbortSignal.timeout(300))).rejects.toThrow('timeout');
  });

  it('build fails with the file and line of a source that does not compile', async () => {
    await write('functions/tree.ts', 'export const handler = (;');
    await expect(build()).rejects.toThrow('functions/tree.ts:1');
  });

  it.each([
    [
      'a function that reads a file when it is loaded',
      `import { readFileSync } from 'node:fs'; readFileSync('package.json'); export const handler = () => 1;`,
      '',
      'the function tree: Error: ENOENT: no such file or directory',
    ],
    [
      'a function that imports what only the folder of the project has',
      `import { createRequire } from 'node:module'; createRequire('/x')('zod'); export const handler = () => 1;`,
      '',
      "the function tree: Error: Cannot find module 'zod'",
    ],
    [
      'a watcher that imports what Node does not have',
      'export const handler = () => 1;',
      `import { nothing } from 'node:fs'; console.log(nothing);`,
      'the watcher: SyntaxError',
    ],
  ])('B1: the bundle of %s is refused, and replaces none', async (_, tree, watcher, message) => {
    await write('functions/tree.ts', tree);
    await expect(bundleFunctions(folder.path, { watcher, check: requireLoadable })).rejects.toThrow(message);
    await expect(filesOf('tree')).rejects.toThrow('ENOENT');
  });

  const rule = 'a function has only its bundle';
  const reads = (place: string) => `export const load = () => String(${place});`;
  it.each([
    [
      'import.meta.url',
      'src/near.ts',
      reads(`new URL('./table.txt', import.meta.url)`),
      'asks for the place of its file',
    ],
    ['import.meta.dirname', 'src/near.ts', reads('import.meta.dirname'), 'asks for the place of its file'],
    ['import.meta.resolve', 'src/near.ts', reads(`import.meta.resolve('zod')`), 'asks for the place of its file'],
    ['__dirname', 'src/near.cjs', 'exports.load = () => __dirname;', 'asks for the place of its file'],
    ['__filename', 'src/near.cjs', 'exports.load = () => __filename;', 'asks for the place of its file'],
    ['a dynamic require', 'src/near.cjs', 'exports.load = (name) => require(name);', 'require'],
    ['a dynamic import', 'src/near.ts', 'export const load = (name) => import(name);', 'import'],
    ['a native addon', 'src/near.cjs', `exports.load = () => require('./add.node');`, 'native addon'],
  ])('B3: %s is an error in a source of the project and a warning in a package, which name file, line and rule', async (_, file, code, problem) => {
    await write('src/add.node', '');
    await write(file, code);
    await write('functions/tree.ts', `import { load } from '../${file}'; export const handler = load;`);
    await expect(build()).rejects.toThrow(new RegExp(`^src/.*${problem}.*${rule}`));

    await rm(at('node_modules'));
    const inPackage = `node_modules/near/${path.basename(file)}`;
    await write(
      'node_modules/near/package.json',
      JSON.stringify({ main: path.basename(file), exports: `./${path.basename(file)}` }),
    );
    await write('node_modules/near/add.node', '');
    await write(inPackage, code);
    await write('functions/tree.ts', `import { load } from 'near'; export const handler = load;`);
    const warnings = await build();
    expect(warnings).toEqual([expect.stringMatching(new RegExp(`^node_modules/near/.*${problem}.*${rule}`))]);
  });

  it('B3: a package that declares its own __dirname has no warning, and one that asks for the place has that of the bundle', async () => {
    await write('src/own.cjs', `const __dirname = '/own'; exports.place = __dirname;`);
    await rm(at('node_modules'));
    await write('node_modules/near/package.json', '{"main":"near.cjs"}');
    await write('node_modules/near/near.cjs', 'exports.place = () => __dirname;');
    await write(
      'functions/tree.ts',
      `import { place } from 'near'; import own from '../src/own.cjs'; export const handler = () => [place(), own.place];`,
    );
    expect(await build()).toEqual([expect.stringContaining('node_modules/near/near.cjs:1: asks for the place')]);
    expect(await call('tree')).toEqual([at('dist/tree'), '/own']);
  });

  it('B1: an import that is not found fails the build with its name and its file, unless a package does without it', async () => {
    await rm(at('node_modules'));
    await write('node_modules/near/package.json', '{"main":"near.cjs"}');
    await write('node_modules/near/near.cjs', `try { require('faster'); } catch { exports.speed = 'slow'; }`);
    await write('functions/tree.ts', `import { speed } from 'near'; export const handler = () => speed;`);
    expect(await build()).toEqual([]);
    expect(await call('tree')).toBe('slow');
    await write(
      'src/late.ts',
      `export const late = async () => { try { return await import('faster'); } catch { return 'slow'; } };`,
    );
    await write('functions/tree.ts', `import { late } from '../src/late.ts'; export const handler = late;`);
    await expect(build()).rejects.toThrow('src/late.ts imports faster, which is not found');
    await write('functions/tree.ts', `import 'https://example.com/code.js'; export const handler = () => 1;`);
    await expect(build()).rejects.toThrow('functions/tree.ts imports https://example.com/code.js, which is not found');
  });
});
