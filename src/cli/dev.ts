// `outrigger dev`: the whole system on one machine, live lines while it runs, or a table when everything got there.
import path from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ConnectionProblem } from '../clusters/connection-problem.ts';
import { toError } from '../core/errors.ts';
import { type Dev, type DevOptions, startDev } from '../dev/system.ts';
import { TemplateError } from '../dev/lambda/template.ts';
import type { Line } from '../local/lines.ts';
import { createPrinter } from '../dev/printer.ts';
import { DevProblem } from '../dev/explain-error.ts';
import { formatNotReady, formatTable } from '../dev/readiness.ts';
import { reloadOnSave } from '../dev/reload.ts';
import { build } from './build.ts';
import { OperatorProblem } from './operate.ts';
import { loadProject } from './project.ts';

type Flags = {
  readonly folder?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly apiPort?: number;
  readonly queueEndpoint?: string;
  readonly queuePort?: number;
  readonly apply: readonly string[];
  readonly watchers: number;
  readonly resync: boolean;
  readonly worldFault: readonly string[];
  readonly untilReady?: true;
  readonly timeoutSeconds: number;
};

/** Makes the command. */
export function devCommand(): Command {
  return new Command('dev')
    .description('run the whole system on this machine: API server, SQS, functions, watcher and the samples’ worlds')
    .option('--kubeconfig <file>', 'a cluster of your own instead of the embedded API server')
    .option('--context <name>', 'which context of the kubeconfig')
    .option('--api-port <port>', 'port of the embedded API server; a free one by default', wholeNumber)
    .option('--queue-endpoint <url>', 'another SQS server instead of the embedded one')
    .option('--queue-port <port>', 'port of the embedded SQS server; a free one by default', wholeNumber)
    .addOption(
      new Option('--apply <path>', 'manifests to apply, a file or a folder; may be repeated')
        .argParser(collect)
        .default([]),
    )
    .option('--folder <path>', 'where kubeconfig and state.json are written; .outrigger by default')
    .option('--watchers <n>', 'how many watchers', wholeNumber, 1)
    .option('--no-resync', 'switch the schedule off')
    .addOption(
      new Option(
        '--world-fault <world=fault>',
        'break a world: pantry=down, plant=sensor-error, bitcoin=hang; may be repeated',
      )
        .argParser(collect)
        .default([]),
    )
    .option('--until-ready', 'end with 0 and a table when all applied objects are Ready, with 1 and what is not')
    .option('--timeout-seconds <s>', 'how long --until-ready waits', wholeNumber, 60)
    .addHelpText('after', helpText)
    .action(run);
}

const helpText = `
Examples:
  outrigger dev --apply infra/kubernetes/samples                 everything on this machine; Ctrl-C ends it
  outrigger dev --apply infra/kubernetes/samples --until-ready   for CI: ends by itself, with a table
  outrigger dev --kubeconfig ~/.kube/config --context kind       against a cluster of your own
  outrigger dev --apply infra/kubernetes/samples --world-fault pantry=down

In another terminal: export KUBECONFIG=.outrigger/kubeconfig, and kubectl sees it; outrigger status shows how it stands.
Exit status: 0 when it was stopped, or everything got Ready; 1 when something did not, or it could not start: the last lines say what.`;

async function run(flags: Flags): Promise<void> {
  const stop = stopSignal();
  const print = createPrinter((text) => void process.stdout.write(text), { readable: process.stdout.isTTY === true });
  try {
    const { registry } = await loadProject(process.cwd());
    const dev = await startDev({ controllers: registry, build, root: process.cwd() }, optionsOf(flags, print), stop);
    let end: Ending = { status: 0, text: '' };
    try {
      if (flags.untilReady === true) end = await waitUntilReady(dev, flags.timeoutSeconds, stop);
      else await live(dev, print, stop);
    } finally {
      await dev.close();
    }
    // After everything else has had its say: the last lines are what this command came to.
    process.stdout.write(end.text);
    process.exitCode = end.status;
  } catch (error) {
    if (stop.aborted) return;
    process.exitCode = 1;
    process.stderr.write(`${isForAPerson(error) ? `outrigger dev: ${error.message}` : toError(error).stack}\n`);
  }
}

function optionsOf(flags: Flags, onLine: (line: Line) => void): DevOptions {
  const { folder, kubeconfig, context, apiPort, queueEndpoint, queuePort, apply, watchers, resync, worldFault } = flags;
  return {
    apply,
    watchers,
    resync,
    worldFaults: worldFault,
    onLine,
    // Each process takes a debugger's port of its own and prints it.
    nodeArguments: process.execArgv.some((argument) => argument.startsWith('--inspect')) ? ['--inspect=0'] : [],
    ...(folder === undefined ? {} : { folder: path.resolve(folder) }),
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
    ...(apiPort === undefined ? {} : { apiPort }),
    ...(queueEndpoint === undefined ? {} : { queueEndpoint }),
    ...(queuePort === undefined ? {} : { queuePort }),
  };
}

/** The exit status, and what is said last. */
type Ending = { readonly status: number; readonly text: string };

async function waitUntilReady(dev: Dev, timeoutSeconds: number, stop: AbortSignal): Promise<Ending> {
  const limit = AbortSignal.any([stop, AbortSignal.timeout(timeoutSeconds * 1000)]);
  try {
    return { status: 0, text: `\n${formatTable(await dev.untilReady(limit), new Date())}\n` };
  } catch (error) {
    if (!limit.aborted) throw error;
    const rows = dev.rows();
    const missing = rows.filter(({ ready }) => !ready).length;
    const after = stop.aborted ? 'when it was stopped' : `after ${timeoutSeconds} s`;
    const table = `${formatTable(rows, new Date())}\n\n${formatNotReady(rows)}`;
    return { status: 1, text: `\n${table}\n${missing} of ${rows.length} objects were not ready ${after}\n` };
  }
}

async function live(dev: Dev, print: (line: Line) => void, stop: AbortSignal): Promise<void> {
  print({ who: 'system', text: 'Ctrl-C ends it; a saved source file is built and taken up' });
  const reloading = reloadOnSave(dev, process.cwd(), print);
  await new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener('abort', () => resolve());
  });
  reloading.stop();
  print({ who: 'system', text: 'ending: what is in hand is finished first' });
}

/** The first Ctrl-C drains; the second one does not wait for that. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(130);
      stop.abort(new Error('stopped'));
    });
  }
  return stop.signal;
}

function isForAPerson(error: unknown): error is Error {
  return [DevProblem, ConnectionProblem, TemplateError, OperatorProblem].some((kind) => error instanceof kind);
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('a whole number is needed');
  return Number(text);
}

function collect(text: string, before: readonly string[]): readonly string[] {
  return [...before, text];
}
