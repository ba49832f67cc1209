// Loaded before the code of a dry run (--import): refuses every connection of its process. Node has a permission for
// the network from version 25 on. In earlier versions the functions of the handles under node:net and node:dgram are
// replaced, so it does not matter which client calls them, or who kept a reference to `net.connect`. The queries of
// node:dns have sockets of their own (c-ares), so they are refused at their handle in every version. Together with
// Node's permission model, which refuses processes, threads and addons, nothing is left that opens a connection.
// Signals to other processes, which no permission covers, are refused as well.
import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import dns from 'node:dns';
import fs from 'node:fs';
import inspector from 'node:inspector';
import module, { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { constants } from 'node:os';
import workerThreads from 'node:worker_threads';
import { hasNetworkPermission } from './arguments.ts';
import { reportRefused } from './refused.ts';

const refused = -constants.errno.EACCES;
const names = ['connect', 'connect6', 'bind', 'bind6', 'listen', 'open', 'send', 'send6'];
type Functions = Record<string, unknown>;

// The streams are opened now. A pipe that is opened later would be refused.
void process.stdout;
void process.stderr;

if (!hasNetworkPermission()) for (const [label, prototype] of handlePrototypes()) close(label, prototype);
closeQueries();
refuseSignals();
reportProcesses();
reportWrites();
reportLookups();
syncBuiltinESMExports();

/** Finds the prototypes of the handles. Throws if one is not found: then the process must not start. */
function handlePrototypes(): readonly (readonly [label: string, prototype: Functions])[] {
  const udp = dgram.createSocket('udp4');
  const state: unknown = Object.getOwnPropertySymbols(udp)
    .map((symbol): unknown => Reflect.get(udp, symbol))
    .find((value) => typeof value === 'object' && value !== null && 'handle' in value);
  const found = [
    ['tcp', prototypeOf(handleOf({ host: '127.0.0.1', port: 9 }), 'listen')],
    ['unix', prototypeOf(handleOf({ path: '/nonexistent/outrigger' }), 'listen')],
    ['udp', prototypeOf(Reflect.get(Object(state), 'handle'), 'send')],
  ] as const;
  udp.close();
  return found;
}

/** Returns the handle of a socket that is destroyed before it connects. */
function handleOf(options: net.SocketConnectOpts): unknown {
  const socket = new net.Socket();
  socket.on('error', () => undefined);
  socket.connect(options);
  const handle: unknown = Reflect.get(socket, '_handle');
  socket.destroy();
  return handle;
}

function prototypeOf(handle: unknown, required: string): Functions {
  const prototype: unknown = typeof handle === 'object' && handle !== null ? Object.getPrototypeOf(handle) : undefined;
  const own = [required, 'connect', 'bind', 'open'].every((name) => Object.hasOwn(Object(prototype), name));
  if (!own) throw new Error('the handles of node:net and node:dgram were not found, so nothing is run');
  return prototype as Functions;
}

function close(label: string, prototype: Functions): void {
  for (const name of names.filter((one) => one in prototype)) {
    lock(prototype, name, (...given: readonly unknown[]) => {
      reportRefused(`${name} ${label} ${given.filter((one) => ['string', 'number'].includes(typeof one)).join(' ')}`);
      return refused;
    });
  }
}

/** Refuses the queries of node:dns: `resolve4`, `reverse` and the others, also those of a Resolver. */
function closeQueries(): void {
  const handle: unknown = Reflect.get(new dns.Resolver(), '_handle');
  const prototype: unknown = Object.getPrototypeOf(Object(handle));
  const queries = Object.getOwnPropertyNames(prototype).filter((name) => /^(query|getHostByAddr)/.test(name));
  if (queries.length === 0) throw new Error('the handle of node:dns was not found, so nothing is run');
  for (const name of queries) {
    lock(Object(prototype), name, (_request: unknown, host: unknown) => {
      reportRefused(`${name} ${String(host)}`);
      return refused;
    });
  }
}

function refuseSignals(): void {
  for (const name of ['kill', '_kill', '_debugProcess']) {
    lock(process, name, (pid: unknown) => {
      reportRefused(`signal the process ${String(pid)}`);
      throw Object.assign(new Error('kill EACCES: a dry run sends no signals'), { code: 'EACCES', errno: refused });
    });
  }
}

/** Node refuses a process, a thread, an addon, a binding and the inspector by itself. They are reported here. */
function reportProcesses(): void {
  const starters = ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'];
  for (const name of starters) report(childProcess, name, (command) => `start the process ${String(command)}`);
  report(workerThreads, 'Worker', () => 'start a thread');
  report(process, 'execve', (command) => `start the process ${String(command)}`);
  report(process, 'dlopen', (_, file) => `load the addon ${String(file)}`);
  report(process, 'binding', (name) => `use the binding ${String(name)}`);
  report(module, 'register', (hooks) => `register the module hooks ${String(hooks)}`);
  report(inspector, 'open', () => 'start the inspector');
  report(inspector.Session.prototype, 'connect', () => 'start the inspector');
}

/** Node refuses writes to files as well. A number is a file that is open already, such as the output. */
function reportWrites(): void {
  const write = (file: unknown) => (typeof file === 'number' ? undefined : `write to ${String(file)}`);
  const opened = (file: unknown, flags: unknown) => (isForWriting(flags) ? write(file) : undefined);
  const copied = (_: unknown, file: unknown) => write(file);
  const copiers = ['copyFile', 'cp', 'link', 'rename', 'symlink'];
  const writers = ['appendFile', 'chmod', 'chown', 'lchown', 'lutimes', 'mkdir', 'mkdtemp', 'rm', 'rmdir', 'truncate'];
  const reportAll = (names: readonly string[], describe: Describe) => {
    for (const name of names) {
      report(fs, name, describe);
      report(fs, `${name}Sync`, describe);
      report(fs.promises, name, describe);
    }
  };
  reportAll([...writers, 'unlink', 'utimes', 'writeFile'], write);
  reportAll(copiers, copied);
  reportAll(['open'], opened);
}

function isForWriting(flags: unknown): boolean {
  if (typeof flags === 'string') return /[wa+]/.test(flags);
  return typeof flags === 'number' && (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) !== 0;
}

/** Describes a call by its arguments; undefined: it is not reported. */
type Describe = (...given: readonly unknown[]) => string | undefined;

/** Reports the calls of a function. A library may replace it. */
function report(holder: object, name: string, describe: Describe): void {
  const real: unknown = Reflect.get(holder, name);
  if (typeof real !== 'function') return;
  const reportCall = (given: readonly unknown[]) => {
    const call = describe(...given);
    if (call !== undefined) reportRefused(call);
  };
  const reporting = new Proxy(real, {
    apply: (target, self, given: unknown[]) => {
      reportCall(given);
      return Reflect.apply(target, self, given);
    },
    construct: (target, given: unknown[], newTarget) => {
      reportCall(given);
      return Reflect.construct(target, given, newTarget);
    },
  });
  Reflect.set(holder, name, reporting);
}

/**
 * A client looks up its server's address before it connects. The look-up is refused, so that an unknown name is
 * reported too, and the query stays on this machine.
 */
function reportLookups(): void {
  const error = (host: string) =>
    Object.assign(new Error(`connect EACCES ${host}: a dry run opens no connection`), {
      code: 'EACCES',
      errno: refused,
    });
  const { lookup } = dns;
  const lookupAsync = dns.promises.lookup;
  lock(dns, 'lookupService', (address: string, _port: unknown, callback: unknown) => {
    reportRefused(`lookupService ${address}`);
    if (typeof callback === 'function') process.nextTick(callback, error(address));
  });
  lock(dns.promises, 'lookupService', async (address: string) => {
    reportRefused(`lookupService ${address}`);
    throw error(address);
  });
  lock(dns, 'lookup', (host: string, ...rest: readonly unknown[]) => {
    if (net.isIP(host) !== 0) return Reflect.apply(lookup, dns, [host, ...rest]);
    reportRefused(`connect ${host}`);
    const callback = rest.at(-1);
    if (typeof callback === 'function') process.nextTick(callback, error(host));
    return {};
  });
  lock(dns.promises, 'lookup', async (host: string, ...rest: readonly unknown[]) => {
    if (net.isIP(host) !== 0) return await Reflect.apply(lookupAsync, dns.promises, [host, ...rest]);
    reportRefused(`connect ${host}`);
    throw error(host);
  });
}

function lock(holder: object, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, writable: false, configurable: false, enumerable: true });
}
