// The means of a dry run's process: each way out that a program has is tried against servers that count what arrives.
// With one of the two layers missing something arrives, so each layer is needed and this test is able to fail.
import { type ChildProcess, fork } from 'node:child_process';
import dgram from 'node:dgram';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { gateArguments, hasNetworkPermission, permissionArguments } from '@outrigger/cli/commands/dry-run/arguments';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { useFolder } from '../../support/folder.ts';
import { listenOnLoopback } from '../../support/listen.ts';

const permission = permissionArguments();
const gate = gateArguments(path.resolve('packages/cli/src/commands/dry-run/gate.ts'));
const both = [...permission, ...gate];

const folder = useFolder({ shared: true });
const parts = new AsyncDisposableStack();
const arrived = { count: 0 };
const servers = { port: 0, socketPath: '' };

beforeAll(async () => {
  servers.socketPath = folder.at('socket');
  const count = (socket: net.Socket) => {
    arrived.count += 1;
    socket.on('error', () => undefined).destroy();
  };
  const tcp = net.createServer(count);
  servers.port = await listenOnLoopback(tcp);
  const unix = net.createServer(count).listen(servers.socketPath);
  await once(unix, 'listening');
  const udp = dgram.createSocket('udp4').on('message', () => {
    arrived.count += 1;
  });
  udp.bind(servers.port, '127.0.0.1');
  await once(udp, 'listening');
  parts.defer(() => void tcp.close());
  parts.defer(() => void unix.close());
  parts.defer(() => void udp.close());
});
afterAll(async () => await parts.disposeAsync());

/** The processes, by their arguments. */
const children = new Map<readonly string[], ChildProcess>();

function start(execArgv: readonly string[]): ChildProcess {
  const child = fork(path.resolve('test/cli/dry-run/attack.ts'), [String(servers.port), servers.socketPath], {
    execArgv: [...execArgv],
    env: {},
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
  });
  parts.defer(() => void child.kill('SIGKILL'));
  return child;
}

/** Attacks in the process with these arguments of Node, and returns what its gate reported, and the code of the error. */
async function attack(name: string, execArgv: readonly string[]): Promise<readonly string[]> {
  const known = children.get(execArgv);
  const child = known?.connected === true ? known : start(execArgv);
  children.set(execArgv, child);
  arrived.count = 0;
  const calls: string[] = [];
  await new Promise<void>((resolve) => {
    const take = (message: unknown) => {
      const { call, code, ended } = Object(message);
      if (call !== undefined) calls.push(String(call));
      if (code !== undefined) calls.push(String(code));
      if (ended === name) end();
    };
    const end = () => {
      child.off('message', take).off('close', end);
      resolve();
    };
    child.on('message', take).on('close', end).send(name);
  });
  return calls;
}

/** Reaches each server once. What an attack sent before arrives before that. */
async function reachEachServer(): Promise<void> {
  const before = arrived.count;
  for (const to of [{ port: servers.port, host: '127.0.0.1' }, { path: servers.socketPath }])
    await once(
      net.connect(to).on('error', () => undefined),
      'close',
    );
  const udp = dgram.createSocket('udp4');
  await new Promise((resolve) => udp.send('x', servers.port, '127.0.0.1', resolve));
  udp.close();
  await vi.waitFor(() => expect(arrived.count).toBeGreaterThanOrEqual(before + 3), { timeout: 5_000 });
}

const connections = [
  'fetch POST',
  'node:http',
  'node:https',
  'node:http2',
  'AWS SDK',
  'WebSocket',
  'raw TCP',
  'TCP of another realm',
  'Unix socket',
  'UDP',
  'DNS query',
  'reverse DNS query',
];
const processes = ['child process', 'process.execve', 'worker thread'];
const bindings = ["process.binding('tcp_wrap')", "process.binding('pipe_wrap')"];

describe('the process of a dry run', () => {
  // Control T26.
  it.each([...connections, ...processes])('nothing of %s arrives, and it is reported', async (name) => {
    const calls = await attack(name, both);
    await reachEachServer();
    expect(arrived.count).toBe(3);
    expect(calls).not.toEqual([]);
  });

  it.each(bindings)('nothing of %s arrives', async (name) => {
    await attack(name, both);
    await reachEachServer();
    expect(arrived.count).toBe(3);
  });
});

describe('what needs no connection', () => {
  it('a native addon is not loaded, and it is reported', async () => {
    expect(await attack('native addon', both)).toEqual([
      expect.stringMatching(/^load the addon /),
      'ERR_DLOPEN_DISABLED',
    ]);
    expect(await attack('native addon', gate)).not.toContain('ERR_DLOPEN_DISABLED');
  });

  it.each([
    ['a binding of Node', 'use the binding tcp_wrap'],
    ['module hooks', 'register the module hooks data:text/javascript,'],
    ['the inspector', 'start the inspector'],
    ['the port of the inspector', 'start the inspector'],
  ])('Node refuses %s, and it is reported', async (name, call) => {
    expect(await attack(name, both)).toEqual([call, 'ERR_ACCESS_DENIED']);
    expect(await attack(name, gate)).not.toContain('ERR_ACCESS_DENIED');
  });

  it('a signal reaches no other process, and it is reported', async () => {
    const received: string[] = [];
    const take = (signal: string) => void received.push(signal);
    process.on('SIGURG', take);
    try {
      expect(await attack('signal', both)).toEqual([`signal the process ${process.pid}`, 'EACCES']);
      expect(received).toEqual([]);
      await attack('signal', permission);
      await vi.waitFor(() => expect(received).toEqual(['SIGURG']), { timeout: 30_000 });
    } finally {
      process.off('SIGURG', take);
    }
  });

  it.each([
    'file write',
    'file write by a stream',
    'file write by a handle',
    'removed file',
    'copied file',
    // Control T27.
  ])('nothing of %s is done, and it is reported', async (name) => {
    const file = `${servers.socketPath}.txt`;
    // The removal of a file is reported by two functions.
    expect(new Set(await attack(name, both))).toEqual(new Set([`write to ${file}`, 'ERR_ACCESS_DENIED']));
    expect(new Set(await attack(name, gate))).toEqual(new Set([`write to ${file}`]));
  });

  it('a file that is read is not reported', async () => {
    expect(await attack('file read', both)).toEqual([]);
  });

  it('no database of node:sqlite is written', async () => {
    await attack('database file', both);
    expect(existsSync(`${servers.socketPath}.db`)).toBe(false);
    await attack('database file', gate);
    expect(existsSync(`${servers.socketPath}.db`)).toBe(true);
  });
});

it.skipIf(hasNetworkPermission())('the process does not start if the gate finds no handles', async () => {
  const hide = "import net from 'node:net'; net.Socket.prototype.connect = function () { return this; };";
  const child = start([`--import=data:text/javascript,${encodeURIComponent(hide)}`, ...both]);
  let errors = '';
  child.stderr?.on('data', (text) => {
    errors += text;
  });
  await once(child, 'close');
  expect(errors).toContain('the handles of node:net and node:dgram were not found');
  expect(child.exitCode).toBe(1);
});

describe('the layers', () => {
  it.skipIf(hasNetworkPermission()).each(connections)('%s arrives without the gate', async (name) => {
    await attack(name, permission);
    await vi.waitFor(() => expect(arrived.count).toBeGreaterThan(0), { timeout: 30_000 });
  });

  it.each(processes)('%s arrives without the permission model', async (name) => {
    await attack(name, gate);
    await vi.waitFor(() => expect(arrived.count).toBeGreaterThan(0), { timeout: 5_000 });
  });

  it.each(bindings)('%s arrives without both', async (name) => {
    await attack(name, []);
    await vi.waitFor(() => expect(arrived.count).toBeGreaterThan(0), { timeout: 30_000 });
  });
});
