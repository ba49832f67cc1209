// Keys in real memcached servers behind a MemcachedProxy on the real kube-apiserver, with libmemcached's own clients:
// which keys survive a change of back ends. A small router stands for mcrouter (memcached-router.ts) and reads what the
// proxy's Deployment mounts. Needs Debian's packages memcached and libmemcached-tools.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { MemcachedProxy } from '../../src/controllers/memcached-proxy/kind.ts';
import { useApiServer } from '../harness/api-server.ts';
import { useSystem } from '../statements/harness.ts';
import { createMemcached } from '../statements/memcached.ts';
import { useFolder } from '../support/folder.ts';
import { type MemcachedRouter, startMemcachedRouter } from './memcached-router.ts';

const run = promisify(execFile);
const proxy = 'sharded-example';
const backEnds = ['10.0.2.17', '10.0.2.18', '10.0.2.19', '10.0.2.20'];
const keys = Array.from({ length: 120 }, (_, number) => `key-${number}`);

const { connect } = await useApiServer({ controllers: 'none' });
const system = useSystem(connect);
const memcached = createMemcached(system);

const folder = useFolder();
let router: MemcachedRouter;
const socketOf = (address: string) => folder.at(address);
beforeEach(async () => {
  // The address of a pod leads to its server's socket.
  router = await startMemcachedRouter((server) => connectSocket(socketOf(server.replace(/:11211$/, ''))));
  await memcached.service('sharded-memcached');
});
afterEach(async () => await router[Symbol.asyncDispose]());

/** Starts memcached as a pod with this address, and returns a function that kills it. */
async function startMemcached(address: string): Promise<() => void> {
  const child = spawn('memcached', ['-s', socketOf(address), '-u', 'root', '-m', '8'], { stdio: 'ignore' });
  const kill = () => void child.kill('SIGKILL');
  onTestFinished(kill);
  const failed = once(child, 'error').then(([error]) => {
    throw new Error('memcached does not start: apt-get install memcached libmemcached-tools', { cause: error });
  });
  const isUp = async () => void (await once(connectSocket(socketOf(address)), 'connect'));
  await Promise.race([failed, vi.waitFor(isUp, { timeout: 10_000 })]);
  return kill;
}
/** Changes the Service's endpoints, reconciles the proxy, and lets the router load what the Deployment mounts. */
async function use(...addresses: readonly string[]): Promise<void> {
  await memcached.endpoints('sharded-memcached', addresses);
  await system.reconcile(MemcachedProxy, proxy);
  router.load(await memcached.config(proxy));
}
const servers = () => `--servers=127.0.0.1:${router.port}`;
/** Sets keys to their own names with libmemcached's client. */
async function write(names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => folder.write(name, name)));
  await run('memccp', [servers(), '--set', ...names.map((name) => folder.at(name))]);
}
/** The keys that libmemcached's client reads with their values. */
async function readable(names: readonly string[] = keys, from = servers()): Promise<readonly string[]> {
  // Its exit status is 1 if a key is missing.
  const { stdout } = await run('memccat', [from, ...names]).catch((error: { readonly stdout: string }) => error);
  return stdout.split('\n').filter((line) => line !== '');
}
const onServer = async (address: string) => await readable(keys, `--servers=${socketOf(address)}`);

it('a back end that is added takes a part of the keys, and no other key moves', async () => {
  for (const address of backEnds) await startMemcached(address);
  await memcached.proxy(proxy);
  await use(...backEnds.slice(0, 3));
  await write(keys);
  expect(await readable()).toEqual(keys);
  await use(...backEnds);
  const kept = await readable();
  const moved = keys.filter((key) => !kept.includes(key));
  expect(moved.length).toBeGreaterThan(0);
  expect(moved.length).toBeLessThan(keys.length / 2);
  await write(moved);
  expect(await onServer('10.0.2.20')).toEqual(moved);
  expect(await readable()).toEqual(keys);
});

it('a last back end that is removed takes only its own keys with it', async () => {
  for (const address of backEnds) await startMemcached(address);
  await memcached.proxy(proxy);
  await use(...backEnds);
  await write(keys);
  const lost = await onServer('10.0.2.20');
  expect(lost.length).toBeGreaterThan(0);
  await use(...backEnds.slice(0, 3));
  expect(await readable()).toEqual(keys.filter((key) => !lost.includes(key)));
});

it('with replication every key survives a back end that is killed, and its removal from the Service', async () => {
  const [killFirst] = [await startMemcached('10.0.2.17'), await startMemcached('10.0.2.18')];
  await memcached.proxy(proxy, { type: 'replicated', service: { name: 'sharded-memcached', port: 11_211 } });
  await use('10.0.2.17', '10.0.2.18');
  await write(keys);
  expect(await onServer('10.0.2.17')).toEqual(keys);
  killFirst();
  expect(await readable()).toEqual(keys);
  await use('10.0.2.18');
  expect(await readable()).toEqual(keys);
});
