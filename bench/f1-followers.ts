// The watching programs of f1, each in a process of its own that collects its garbage on SIGUSR2 and prints its live
// heap: the deployed watcher, controller-runtime's metadata informer, and the official client's informer.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import * as z from 'zod';
import { type GuardedProcess, startGuarded, startMessageProcess } from './child-process.ts';
import { deployedWatcher } from './deployed-watcher.ts';
import { benchKind } from './metadata-server.ts';
import { goPrograms } from './peers/go-programs.ts';

/** A process that has received all objects and is idle. */
export type Follower = Pick<GuardedProcess, 'pid' | 'lines' | 'died'>;

/**
 * Starts the program at an API server with this number of objects, and resolves when it has received them. `cleanup`
 * stops it.
 */
export type Follow = (
  cleanup: AsyncDisposableStack,
  server: { readonly url: string; readonly count: number },
) => Promise<Follower>;

const deadlineMs = 300_000;
const { group, version, plural, kind } = benchKind;

/**
 * For a program that does not know the bench. The last step does what V8's memory reducer does in an idle process
 * (https://v8.dev/blog/tag/memory): it returns the unused part of the new space. It collects twice: objects that become
 * unreachable in the first collection are freed by the second.
 */
const collecting = `process.on('SIGUSR2', () => {
  for (let time = 0; time < 2; time += 1) gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  console.log(JSON.stringify({ liveHeap: process.memoryUsage().heapUsed }));
})`;
const nodeArguments = ['--expose-gc', '--import', `data:text/javascript,${encodeURIComponent(collecting)}`];

/**
 * The watcher without a checkpoint, as its Dockerfile starts it: it has sent every object, and SQS has accepted every
 * key.
 */
export const watcher: Follow = async (cleanup, { url, count }) => {
  const queue = await startMessageProcess(cleanup, 'frames/counting-queue.ts', [], (message) => counted.parse(message));
  const { file, nodeOptions, environment } = await deployedWatcher(cleanup, {
    apiServer: url,
    queue: queue.first.url ?? '',
  });
  const child = start(cleanup, process.execPath, [...nodeArguments, ...nodeOptions, file], environment);
  await until(async () => ((await queue.request({})).keys ?? 0) >= count, child.died);
  return child;
};

/**
 * A fleet watcher of these API servers with this number of objects each, as its image starts it. In a container of
 * `megabytes` it has the heap that Node plans for it, and its own rate limits: keys wait.
 */
export async function fleetWatcher(
  cleanup: AsyncDisposableStack,
  { urls, count, megabytes }: { readonly urls: readonly string[]; readonly count: number; readonly megabytes?: number },
): Promise<Follower> {
  const queue = await startMessageProcess(cleanup, 'frames/counting-queue.ts', [], (message) => counted.parse(message));
  const { file, nodeOptions, environment } = await deployedWatcher(cleanup, {
    apiServer: urls[0] ?? '',
    queue: queue.first.url ?? '',
  });
  const table = path.join(path.dirname(environment.KUBECONFIG ?? ''), 'clusters.json');
  const entries = urls.map((server, index) => [`bench-${index}`, { server, access: { type: 'none' } }] as const);
  await writeFile(table, JSON.stringify(Object.fromEntries(entries)));
  const limits = ['RESYNC_PER_SECOND', 'RATE_LIMIT_PER_SECOND', 'RATE_LIMIT_BURST'];
  const left = ['CLUSTER', 'KUBECONFIG', ...(megabytes === undefined ? [] : limits)];
  const own = Object.fromEntries(Object.entries(environment).filter(([name]) => !left.includes(name)));
  const options = nodeOptions.map((option) => (megabytes === undefined ? option : withHeap(option, megabytes)));
  const child = start(cleanup, process.execPath, [...nodeArguments, ...options, file], { ...own, CLUSTERS: table });
  await until(async () => ((await queue.request({})).keys ?? 0) >= count * urls.length, child.died);
  return child;
}

/** Node takes the percentage of the limit of its cgroup, which the bench does not have. */
function withHeap(option: string, megabytes: number): string {
  const [, percentage] = /^--max-old-space-size-percentage=(\d+)$/.exec(option) ?? [];
  return percentage === undefined ? option : `--max-old-space-size=${(megabytes * Number(percentage)) / 100}`;
}

/** The informer of controller-runtime's cache; `default` keeps all metadata, `stripped` removes managedFields. */
export function metadataInformer(transform: 'default' | 'stripped'): Follow {
  return async (cleanup, { url, count }) => {
    const { 'metadata-informer': program } = await goPrograms();
    const child = start(cleanup, program, [url, `${group}/${version}`, kind, transform], {});
    await untilReceived(child, count);
    return child;
  };
}

/** The informer of client-node. */
export const clientNode: Follow = async (cleanup, { url, count }) => {
  // Built without types: Node would load a compiler into the measured process to remove them.
  const outfile = path.resolve('dist/bench/client-node-holder.mjs');
  const entryPoints = [path.join(import.meta.dirname, 'peers/client-node-holder.ts')];
  await build({ entryPoints, outfile, packages: 'external', bundle: true, format: 'esm', logLevel: 'error' });
  const child = start(
    cleanup,
    process.execPath,
    [...nodeArguments, outfile, url, group, version, plural, `${count}`],
    {},
  );
  await untilReceived(child, count);
  return child;
};

const counted = z.object({ url: z.string().optional(), keys: z.number().optional() });
const received = z.object({ objects: z.number() });

function start(
  cleanup: AsyncDisposableStack,
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Follower {
  const child = startGuarded(program, args, { env: { PATH: process.env.PATH, ...environment } });
  cleanup.defer(() => child.end('SIGKILL'));
  return child;
}

async function untilReceived({ lines, died }: Follower, count: number): Promise<void> {
  let objects = 0;
  lines.on('line', (line) => {
    const said = received.safeParse(JSON.parse(line));
    if (said.success) objects = said.data.objects;
  });
  await until(async () => objects >= count, died);
}

async function until(done: () => Promise<boolean>, died: Promise<never>): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await Promise.race([done(), died]))) {
    if (performance.now() > deadline) throw new Error(`f1: timeout after ${deadlineMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
