// Breaks each part of a running `outrigger dev`, one after the other: `npm run console-broken`, with `-- TEXT` only the
// rows with this text. Prints for each what the page's verdict, `status` and `doctor` say, and after how many
// seconds. It fails where one of them does not say it, and where the page is not green again after the repair.
// docs/records/profiles.md has the list. The source of a controller is edited, and restored.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DeleteQueueCommand } from '@aws-sdk/client-sqs';
import { openCluster } from '@outrigger/cli/dev/cluster-access';
import { createLocalSqsClient } from '@outrigger/cli/dev/sqs-server';
import { readStateFile } from '@outrigger/cli/dev/state-file';
import { Foo } from '../../src/controllers/foo.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { openPage, startBrowser } from '../../test/console/browser/chromium.ts';
import { startDevProcess } from '../../test/console/browser/dev-process.ts';
import { wrapProse } from '../../test/support/wrap-prose.ts';
import { until } from '../chaos/until.ts';
import { breakPart, commandLine, execute, runCommand } from './operator.ts';

/** Breaks the part, and resolves with its repair; undefined: it is not repaired, or repairs itself. */
type Break = () => Promise<(() => Promise<unknown>) | undefined>;
/** `says` is in a line of every view. */
type Row = {
  readonly part: string;
  readonly how: string;
  readonly says: RegExp;
  readonly start: Break;
  readonly limitSeconds?: number;
};
type View = { readonly name: string; readonly read: () => Promise<readonly string[]> };
/** What one view says, and the seconds since the part was broken; undefined: it did not say it. */
type Said = { readonly lines: readonly string[]; readonly seconds: number } | undefined;

const controller = 'foo';
const source = new URL(`../../src/controllers/${controller}.ts`, import.meta.url);
/** Until a view is not green: a function that does not respond has its time limit first. */
const redSeconds = 120;
/** Nothing was heard of a watcher for 150 s, and for 300 s; and a command has to read that. */
const [silentSeconds, downSeconds] = [200, 350];
/** An experiment of the page ends when every change was reconciled, some after their visibility timeout. */
const greenSeconds = 400;
const killMilliseconds = 20;
let edits = 0;

const system = await startDevProcess();
const folder = path.dirname(system.kubeconfig);
const browser = await startBrowser();
const { page } = await openPage(browser, system.url);
const operator = (await openPage(browser, system.url)).page;
const cluster = await openCluster(folder, { file: system.kubeconfig, signal: AbortSignal.timeout(7_200_000) });
const table = path.join(folder, 'clusters.json');

async function state() {
  const found = await readStateFile(system.state);
  if (found === undefined) throw new Error('outrigger dev has ended');
  return found;
}

/** Changes the object, so that its function is called. */
async function edit(): Promise<void> {
  edits += 1;
  await cluster.client.request({
    method: 'PATCH',
    contentType: 'application/merge-patch+json',
    path: objectPath(Foo, { namespace: 'default', name: 'example' }),
    body: { spec: { replicas: 1 + (edits % 3) } },
  });
}

async function functionPids(): Promise<readonly number[]> {
  return (await state()).functions.flatMap(({ name, pid }) => (name === controller ? [pid] : []));
}

async function watcherPids(): Promise<readonly number[]> {
  return (await state()).watchers.map(({ pid }) => pid);
}

/** Sends a signal to each process. One that has just ended is no error. */
function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {}
  }
}

/** Stops processes; the repair lets them run on. */
function stopped(pidsOf: () => Promise<readonly number[]>): Break {
  return async () => {
    const pids = await pidsOf();
    signalAll(pids, 'SIGSTOP');
    await edit();
    return async () => signalAll(pids, 'SIGCONT');
  };
}

/** A fault of the page, which repairs itself. */
function fault(title: string): Break {
  return async () => {
    await breakPart(operator, title);
    return undefined;
  };
}

/** A file with another text; the repair writes the first one. */
function edited(file: string | URL, change: (text: string) => string): Break {
  return async () => {
    const text = await readFile(file, 'utf8');
    await writeFile(file, change(text));
    await edit();
    return async () => await writeFile(file, text);
  };
}

/** A command, and the one that takes it back. */
function commanded(argv: readonly string[], back: readonly string[]): Break {
  return async () => {
    await runCommand(folder, argv);
    return async () => await runCommand(folder, back);
  };
}

const rows: readonly Row[] = [
  {
    part: 'function',
    how: 'its processes are stopped (SIGSTOP)',
    says: /timed out/,
    start: stopped(functionPids),
  },
  {
    part: 'function',
    how: 'each of its processes is killed',
    says: /SIGKILL/,
    start: async () => {
      const over = new AbortController();
      const killing = (async () => {
        while (!over.signal.aborted) {
          signalAll(await functionPids(), 'SIGKILL');
          await wait(killMilliseconds);
        }
      })();
      await edit();
      return async () => {
        over.abort();
        await killing;
      };
    },
  },
  {
    part: 'function',
    how: 'saved code cannot be built',
    says: /cannot (?:be )?load/,
    start: edited(source, (text) => `${text}\nconst = 1;\n`),
  },
  {
    part: 'function',
    how: 'saved code cannot be loaded',
    says: /no image/,
    start: edited(source, (text) => `${text}\nthrow new Error('no image');\n`),
  },
  {
    part: 'API server',
    how: '503',
    says: /returned 503/,
    start: fault('Unavailable (503)'),
  },
  {
    part: 'API server',
    how: '429',
    says: /returned 429/,
    start: fault('Throttle (429)'),
  },
  // A watch that is silent is known by its silence, as a watcher that is stopped.
  {
    part: 'watch',
    how: 'cut, and not opened again',
    says: /reconnect/,
    start: fault('Cut the watch'),
  },
  {
    part: 'queues',
    how: '503 of SQS',
    says: /cannot be read/,
    start: fault('SQS down'),
  },
  {
    part: 'table',
    how: 'no JSON',
    says: /clusters table|table cannot be read/i,
    start: edited(table, () => '{ no JSON'),
  },
  {
    part: 'controller',
    how: 'paused',
    says: /paused/i,
    start: commanded(['pause', controller], ['resume', controller]),
  },
  {
    part: 'cluster',
    how: 'paused',
    says: /paused/i,
    start: commanded(['clusters', 'pause', 'local'], ['clusters', 'resume', 'local']),
  },
  {
    part: 'watcher',
    how: 'each is stopped (SIGSTOP)',
    says: /silent/,
    start: stopped(watcherPids),
    limitSeconds: silentSeconds,
  },
  {
    part: 'watcher',
    how: 'each is stopped for five minutes',
    says: /watchers are down/,
    start: stopped(watcherPids),
    limitSeconds: downSeconds,
  },
  {
    part: 'queue',
    how: 'deleted',
    says: /cannot be read|does not exist/,
    start: async () => {
      const { queueEndpoint, queues } = await state();
      const client = createLocalSqsClient(queueEndpoint);
      await client.send(new DeleteQueueCommand({ QueueUrl: queues[`${controller}.fifo`] }));
      client.destroy();
      return undefined;
    },
  },
];

/** The verdict, and the problems that it names. */
async function verdict(): Promise<readonly string[]> {
  const lines = (await page.locator('.verdict').innerText()).split('\n');
  const named = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('behind: '));
  return named.some((line) => line.includes('All is well')) ? [] : named;
}

/** The verdict of `status` on a terminal, and the lines of what is wrong or not known, which have a stream of their own. */
async function statusLines(): Promise<readonly string[]> {
  const errors = path.join(folder, 'status.txt');
  const command = [process.execPath, ...commandLine(folder, ['status']), `2>${errors}`].join(' ');
  const [first = ''] = (await execute('script', ['-qec', command, '/dev/null'])).trim().split('\n');
  const lines = [first.trim(), ...(await readFile(errors, 'utf8')).trim().split('\n')];
  return first.includes('All is well') ? [] : lines.filter((line) => line !== '' && !line.startsWith('queues: '));
}

/** What `doctor` does not find ok, without the warnings of a system in which all is well. */
async function findings(): Promise<readonly string[]> {
  const lines = (await runCommand(folder, ['doctor'])).split('\n').filter((line) => /^(?:wrong|warning) /.test(line));
  return lines.map((line) => line.replaceAll(/ {2,}/g, ' ')).filter((line) => !usual.includes(line));
}

/** Reads a view until a line of it says the pattern. */
async function untilSaid(
  { read }: View,
  { says, since, limitSeconds }: { readonly says: RegExp; readonly since: number; readonly limitSeconds: number },
): Promise<Said> {
  for (;;) {
    const lines = await read();
    const seconds = (performance.now() - since) / 1000;
    if (lines.some((line) => says.test(line))) return { lines, seconds };
    if (seconds > limitSeconds) return undefined;
    await wait(500);
  }
}

async function untilGreen(): Promise<void> {
  let lines: readonly string[] = [];
  const isGreen = async () => {
    lines = await verdict();
    return lines.length === 0;
  };
  await until(isGreen, greenSeconds, () => `not green again: ${lines.join('; ')}`);
}

/** What was said: the first line, which is the verdict, and what is about the part. */
function describe(view: string, said: Said, says: RegExp): string {
  if (said === undefined) return `- ${view}: does not say it`;
  const [first = '', ...others] = said.lines;
  const about = says.test(first) ? undefined : others.find((line) => says.test(line));
  const text = [first, ...(about === undefined ? [] : [about])].join(': ').replaceAll(`${folder}/`, '');
  return wrapProse(`- ${view}, ${said.seconds.toFixed(0)} s: ${text}`);
}

const views: readonly View[] = [
  { name: 'page', read: verdict },
  { name: '`status`', read: statusLines },
  { name: '`doctor`', read: findings },
];
const usual: string[] = [];
const wanted = process.argv.slice(2);
let repair: Awaited<ReturnType<Break>>;
async function end(): Promise<void> {
  await repair?.();
  await browser.close();
  cluster.close();
  await system[Symbol.asyncDispose]();
}
process.once('SIGINT', () => void end().finally(() => process.exit(130)));
try {
  await untilGreen();
  usual.push(...(await findings()));
  for (const { part, how, says, start, limitSeconds = redSeconds } of rows) {
    if (wanted.length > 0 && !wanted.some((text) => `${part}: ${how}`.includes(text))) continue;
    const since = performance.now();
    repair = await start();
    const said = await Promise.all(views.map((view) => untilSaid(view, { says, since, limitSeconds })));
    const lines = views.map(({ name }, index) => describe(name, said[index], says));
    process.stdout.write(`**${part}: ${how}**\n\n${lines.join('\n')}\n\n`);
    if (said.includes(undefined)) process.exitCode = 1;
    await repair?.();
    repair = undefined;
    if (how !== 'deleted') await untilGreen();
  }
} finally {
  await end();
}
