// Loaded into a Node program before its own code: the little of a container that it can tell from a process of this machine. Files below a
// mount path are the pod's, and a server that names no address listens at the pod's alone. The file that describes the pod is named
// in this module's own URL, so that the program's environment is the pod's and nothing else. And one fault that nothing from outside could
// bring about: from SIGUSR2 on, the timers by which watches notice silence never ring.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import * as z from 'zod';

const description = new URL(import.meta.url).searchParams.get('pod') ?? '';
const { ip, mounts } = z
  .object({ ip: z.string(), mounts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(fs.readFileSync(description, 'utf8')));

function inside(place: unknown): unknown {
  if (typeof place !== 'string') return place;
  const mount = Object.entries(mounts).find(([path]) => place.startsWith(`${path}/`));
  return mount === undefined ? place : mount[1] + place.slice(mount[0].length);
}

const { readFile, readFileSync } = fs;
const promised = fs.promises.readFile;
const { listen } = net.Server.prototype;
Object.assign(fs, {
  readFile: (place: unknown, ...rest: unknown[]) => Reflect.apply(readFile, fs, [inside(place), ...rest]),
  readFileSync: (place: unknown, ...rest: unknown[]): unknown =>
    Reflect.apply(readFileSync, fs, [inside(place), ...rest]),
});
Object.assign(fs.promises, {
  readFile: (place: unknown, ...rest: unknown[]) => Reflect.apply(promised, fs.promises, [inside(place), ...rest]),
});
Object.assign(net.Server.prototype, {
  listen(this: net.Server, port: unknown, host: unknown, ...rest: unknown[]): unknown {
    return Reflect.apply(listen, this, [port, typeof port === 'number' && host === undefined ? ip : host, ...rest]);
  },
});

/** How long a watch is silent until it is given up (src/kube/watch.ts). */
const idleMs = 70_000;
/** As long as a timer of Node's may be. */
const neverMs = 2 ** 31 - 1;
process.once('SIGUSR2', () => {
  const { setTimeout } = globalThis;
  globalThis.setTimeout = Object.assign(
    (...[ring, ms, ...rest]: Parameters<typeof setTimeout>) =>
      ms === idleMs ? setTimeout(() => undefined, neverMs) : setTimeout(ring, ms, ...rest),
    { __promisify__: setTimeout.__promisify__ },
  );
});
syncBuiltinESMExports();
