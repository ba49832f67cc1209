// The program of a process that tries to reach a server: `attack.ts PORT SOCKET`. It makes each attempt whose name it
// receives, and replies when that has ended, in whatever way.
import { spawnSync } from 'node:child_process';
import dgram from 'node:dgram';
import dns from 'node:dns';
import { once } from 'node:events';
import { createWriteStream, writeFileSync } from 'node:fs';
import { copyFile, open, rm } from 'node:fs/promises';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import inspector from 'node:inspector';
import { register } from 'node:module';
import net from 'node:net';
import { createContext, runInContext } from 'node:vm';
import { Worker } from 'node:worker_threads';

const [port = '', socketPath = ''] = process.argv.slice(2);
const url = `http://127.0.0.1:${port}/`;
const connectInOther = `const s = require('node:net').connect(${port}, '127.0.0.1', () => s.destroy()); s.on('error', () => {})`;

/** Resolves at the first event that tells how the attempt ended. */
async function settled(emitter: NodeJS.EventEmitter, ...good: readonly string[]): Promise<void> {
  await Promise.race(['error', 'close', ...good].map((event) => once(emitter, event)));
}

/** Connects with a handle of Node's own bindings. */
function connectByBinding(binding: string, type: string, request: string, ...to: readonly unknown[]): void {
  const parts = Reflect.get(process, 'binding').call(process, binding);
  const handle = new parts[type](0);
  const error = handle.connect(new parts[request](), ...to);
  if (error !== 0) throw new Error(`error ${error}`);
}

const attacks: Readonly<Record<string, () => unknown>> = {
  'fetch POST': async () => await fetch(url, { method: 'POST', body: 'x' }),
  'node:http': async () => await settled(http.request(url, { method: 'POST' }).end(), 'response'),
  'node:https': async () => await settled(https.request(`https://127.0.0.1:${port}/`, { method: 'POST' }).end()),
  'node:http2': async () => await settled(http2.connect(url), 'connect'),
  'AWS SDK': async () => {
    // A process that makes no such attempt need not load it.
    const { SendMessageCommand, SQSClient } = await import('@aws-sdk/client-sqs');
    const credentials = { accessKeyId: 'x', secretAccessKey: 'x' };
    const sqs = new SQSClient({ endpoint: url, region: 'eu-west-1', credentials, maxAttempts: 1 });
    await sqs.send(new SendMessageCommand({ QueueUrl: `${url}1/q`, MessageBody: 'x' }));
  },
  WebSocket: async () => {
    const socket = new WebSocket(url.replace('http', 'ws'));
    await new Promise((resolve) => socket.addEventListener('error', resolve));
  },
  'raw TCP': async () => await settled(net.connect(Number(port), '127.0.0.1'), 'connect'),
  'TCP of another realm': async () =>
    await settled(
      runInContext(`load('node:net').connect(${port}, '127.0.0.1')`, createContext({ load: process.getBuiltinModule })),
      'connect',
    ),
  'Unix socket': async () => await settled(net.connect(socketPath), 'connect'),
  UDP: async () => {
    const socket = dgram.createSocket('udp4');
    await new Promise((resolve) => socket.send('x', Number(port), '127.0.0.1', resolve));
  },
  'DNS query': async () => {
    const resolver = new dns.promises.Resolver({ timeout: 200, tries: 1 });
    resolver.setServers([`127.0.0.1:${port}`]);
    await resolver.resolve4('name.example');
  },
  'reverse DNS query': async () => {
    dns.setServers([`127.0.0.1:${port}`]);
    const error = new Promise((resolve) => dns.reverse('192.0.2.1', resolve));
    await Promise.race([error, new Promise((resolve) => setTimeout(resolve, 200))]);
  },
  'child process': () => void spawnSync(process.execPath, ['-e', connectInOther]),
  'process.execve': () => process.execve?.(process.execPath, ['node', '-e', connectInOther], {}),
  'worker thread': async () => await settled(new Worker(connectInOther, { eval: true, execArgv: [] }), 'exit'),
  "process.binding('tcp_wrap')": async () => {
    connectByBinding('tcp_wrap', 'TCP', 'TCPConnectWrap', '127.0.0.1', Number(port));
    await new Promise((resolve) => setImmediate(resolve));
  },
  "process.binding('pipe_wrap')": async () => {
    connectByBinding('pipe_wrap', 'Pipe', 'PipeConnectWrap', socketPath);
    await new Promise((resolve) => setImmediate(resolve));
  },
};

/** What Node refuses without a connection: the code of the error reaches the test. */
const actions: Readonly<Record<string, () => unknown>> = {
  // The program of Node is a library that is no addon, so it is opened and then refused.
  'native addon': () => process.dlopen({ exports: {} }, process.execPath),
  'a binding of Node': () => Reflect.get(process, 'binding').call(process, 'tcp_wrap'),
  'module hooks': () => register(new URL('data:text/javascript,')),
  'the inspector': () => new inspector.Session().connect(),
  'the port of the inspector': () => inspector.open(0),
  signal: () => void process.kill(process.ppid, 'SIGURG'),
  'file write': () => writeFileSync(`${socketPath}.txt`, 'x'),
  'file write by a stream': async () => await once(createWriteStream(`${socketPath}.txt`).end('x'), 'finish'),
  'file write by a handle': async () => await (await open(`${socketPath}.txt`, 'a')).close(),
  'removed file': async () => await rm(`${socketPath}.txt`),
  'copied file': async () => await copyFile(import.meta.filename, `${socketPath}.txt`),
  'file read': async () => await (await open(import.meta.filename)).close(),
  // Node's permission model does not cover its files.
  'database file': () => {
    const sqlite = process.getBuiltinModule('node:sqlite');
    new sqlite.DatabaseSync(`${socketPath}.db`).exec('create table written (at)');
  },
};

process.on('message', (name) => void attack(String(name)));

async function attack(name: string): Promise<void> {
  let code: unknown;
  try {
    await actions[name]?.();
  } catch (error) {
    code = Reflect.get(Object(error), 'code');
  }
  try {
    await attacks[name]?.();
  } catch {
    // It is refused, or the server closed the connection. The server's count tells which.
  }
  process.send?.({ ended: name, code });
}
