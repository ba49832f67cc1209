// Loaded into a Node program before its own code: the few differences between a container and a process on this machine
// that the program can notice. Files below a mount path are the pod's, and a server without an address listens on the
// pod's address only. The URL of this module names the file that describes the pod, so the program's environment is
// exactly the pod's. It also injects what cannot be caused from outside: after SIGUSR2 the idle timers of watches never
// fire, and SIGALRM makes the program's clock fast, and real again.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import * as z from 'zod';
import { fastClock, installAdjustableClock } from './adjustable-clock.ts';

const description = new URL(import.meta.url).searchParams.get('pod') ?? '';
const { ip, mounts } = z
  .object({ ip: z.string(), mounts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(fs.readFileSync(description, 'utf8')));

function resolveMount(file: unknown): unknown {
  if (typeof file !== 'string') return file;
  const mount = Object.entries(mounts).find(([path]) => file.startsWith(`${path}/`));
  return mount === undefined ? file : mount[1] + file.slice(mount[0].length);
}

const { readFile, readFileSync } = fs;
const readFilePromise = fs.promises.readFile;
const { listen } = net.Server.prototype;
Object.assign(fs, {
  readFile: (file: unknown, ...rest: unknown[]) => Reflect.apply(readFile, fs, [resolveMount(file), ...rest]),
  readFileSync: (file: unknown, ...rest: unknown[]): unknown =>
    Reflect.apply(readFileSync, fs, [resolveMount(file), ...rest]),
});
Object.assign(fs.promises, {
  readFile: (file: unknown, ...rest: unknown[]) =>
    Reflect.apply(readFilePromise, fs.promises, [resolveMount(file), ...rest]),
});
Object.assign(net.Server.prototype, {
  listen(this: net.Server, port: unknown, host: unknown, ...rest: unknown[]): unknown {
    return Reflect.apply(listen, this, [port, typeof port === 'number' && host === undefined ? ip : host, ...rest]);
  },
});

/** The timers of a watch's idle timeout (src/kube/watch/watch.ts): 70 s, less the moments since its last event. */
const isIdleTimer = (ms: number | undefined) => ms !== undefined && ms > 65_000 && ms <= 70_000;
/** The longest timer that Node supports. */
const neverMs = 2 ** 31 - 1;
process.once('SIGUSR2', () => {
  const { setTimeout } = globalThis;
  globalThis.setTimeout = Object.assign(
    (...[callback, ms, ...rest]: Parameters<typeof setTimeout>) =>
      isIdleTimer(ms) ? setTimeout(() => undefined, neverMs) : setTimeout(callback, ms, ...rest),
    { __promisify__: setTimeout.__promisify__ },
  );
});
let speed = 1;
const setSpeed = installAdjustableClock();
process.on('SIGALRM', () => {
  speed = speed === 1 ? fastClock : 1;
  setSpeed(speed);
});
syncBuiltinESMExports();
