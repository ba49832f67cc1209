// Who follows the objects of f1, each a process of its own that collects its garbage when it is told to (SIGUSR2) and says on its standard
// output what lives: the deployed watcher, controller-runtime's metadata informer, and the official client's informer.
import path from 'node:path';
import { build } from 'esbuild';
import * as z from 'zod';
import { type HeldProcess, startHeld, startSpoken } from './child-process.ts';
import { deployedWatcher } from './deployed-watcher.ts';
import { benchKind } from './metadata-server.ts';
import { goPrograms } from './peers/go-programs.ts';

/** A process that holds all objects and has nothing more to do. */
export type Follower = Pick<HeldProcess, 'pid' | 'lines' | 'died'>;

/** Starts it, at an API server with so many objects, and resolves when it holds them. It ends with `parts`. */
export type Follow = (
  parts: AsyncDisposableStack,
  server: { readonly url: string; readonly count: number },
) => Promise<Follower>;

const deadlineMs = 300_000;
const { group, version, plural, kind } = benchKind;

/**
 * For a program that is not to know of the bench. The last resort is what V8's memory reducer does on its own in a process that is idle
 * (https://v8.dev/blog/tag/memory): it gives the unused part of the new space back. Twice: what a first collection makes unreachable, a
 * second one frees.
 */
const collecting = `process.on('SIGUSR2', () => {
  for (let time = 0; time < 2; time += 1) gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  console.log(JSON.stringify({ liveHeap: process.memoryUsage().heapUsed }));
})`;
const nodeArguments = ['--expose-gc', '--import', `data:text/javascript,${encodeURIComponent(collecting)}`];

/** The watcher without a cursor, as its Dockerfile starts it: it has forwarded every object, and SQS has taken every key. */
export const watcher: Follow = async (parts, { url, count }) => {
  const queue = await startSpoken(parts, 'frames/counting-queue.ts', [], (message) => counted.parse(message));
  const { file, nodeOptions, environment } = await deployedWatcher(parts, {
    apiServer: url,
    queue: queue.first.url ?? '',
  });
  const child = start(parts, process.execPath, [...nodeArguments, ...nodeOptions, file], environment);
  await until(async () => ((await queue.ask({})).keys ?? 0) >= count, child.died);
  return child;
};

/** The informer of controller-runtime's cache; `default` keeps all metadata, `stripped` lets managedFields go. */
export function metadataInformer(transform: 'default' | 'stripped'): Follow {
  return async (parts, { url, count }) => {
    const { 'metadata-informer': program } = await goPrograms();
    const child = start(parts, program, [url, `${group}/${version}`, kind, transform], {});
    await untilHeld(child, count);
    return child;
  };
}

/** The informer of client-node. */
export const clientNode: Follow = async (parts, { url, count }) => {
  // Without its types beforehand: to take them off, Node would load a compiler into the process that is measured.
  const outfile = path.resolve('dist/bench/client-node-holder.mjs');
  const entryPoints = [path.join(import.meta.dirname, 'peers/client-node-holder.ts')];
  await build({ entryPoints, outfile, packages: 'external', bundle: true, format: 'esm', logLevel: 'error' });
  const child = start(
    parts,
    process.execPath,
    [...nodeArguments, outfile, url, group, version, plural, `${count}`],
    {},
  );
  await untilHeld(child, count);
  return child;
};

const counted = z.object({ url: z.string().optional(), keys: z.number().optional() });
const held = z.object({ objects: z.number() });

function start(
  parts: AsyncDisposableStack,
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Follower {
  const child = startHeld(program, args, { env: { PATH: process.env.PATH, ...environment } });
  parts.defer(() => child.end('SIGKILL'));
  return child;
}

async function untilHeld({ lines, died }: Follower, count: number): Promise<void> {
  let objects = 0;
  lines.on('line', (line) => {
    const said = held.safeParse(JSON.parse(line));
    if (said.success) objects = said.data.objects;
  });
  await until(async () => objects >= count, died);
}

async function until(done: () => Promise<boolean>, died: Promise<never>): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await Promise.race([done(), died]))) {
    if (performance.now() > deadline) throw new Error(`f1: not within ${deadlineMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
