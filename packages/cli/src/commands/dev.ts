// `outrigger dev`: runs the whole system on one machine. It prints live lines while it runs, or a table when every
// object is ready.

import path from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { SchemaError, toError, UserError } from 'outrigger/internal/core/errors';
import { resyncQueue } from 'outrigger/internal/core/names';
import { environment } from 'outrigger/internal/settings';
import { createDevSource, type DevSource } from '../console/dev/dev-source.ts';
import { readPage } from '../console/server/page-files.ts';
import { startConsole } from '../console/server/server.ts';
import { explainListening } from '../dev/explain-error.ts';
import { TemplateError } from '../dev/lambda/template.ts';
import type { OutputLine } from '../dev/lines.ts';
import { createPrinter } from '../dev/printer.ts';
import { formatNotReady, formatTable } from '../dev/readiness.ts';
import { reloadOnSave } from '../dev/reload.ts';
import { urlPrefixOf } from '../dev/sqs-server.ts';
import { type Dev, type DevOptions, startDev } from '../dev/system.ts';
import { createTypeCheck } from '../dev/type-check.ts';
import { loadProject } from '../project/project.ts';
import { build } from './build.ts';
import { type Output, outputOption, portNumber, printError, printLines, printStack, wholeNumber } from './command.ts';
import { devOperator } from './console/operator.ts';
import { wakeByPlant } from './dev-plant.ts';
import { DevScreen } from './dev-screen.ts';
import { readDevSettings } from './dev-settings.ts';
import { openInBrowser } from './open-in-browser.ts';
import { devFolder } from './place.ts';

type Given = Pick<DevOptions, 'folder' | 'keep' | 'kubeconfig' | 'context' | 'apiPort' | 'queueEndpoint' | 'queuePort'>;
type Flags = Given & {
  readonly cleanup?: true;
  readonly apply: readonly string[];
  readonly watchers: number;
  readonly resync: boolean;
  readonly simulatorFault: readonly string[];
  readonly set: readonly string[];
  readonly allowHost: readonly string[];
  readonly attempts?: number;
  readonly retryAfter?: number;
  readonly output: Output;
  readonly verbose?: true;
  readonly picture: boolean;
  readonly open?: true;
  readonly consolePort?: number;
  readonly untilReady?: true;
  readonly timeoutSeconds: number;
};

/** Makes the command. */
export function devCommand(): Command {
  return new Command('dev')
    .description(
      'run the whole system on this machine: API server, SQS, functions, watcher and the samples’ simulators',
    )
    .option('--kubeconfig <file>', 'a cluster of your own instead of the embedded API server')
    .option('--context <name>', 'which context of the kubeconfig')
    .option('--api-port <port>', 'port of the embedded API server; a free one by default', portNumber)
    .option('--queue-endpoint <url>', 'another SQS server instead of the embedded one')
    .option('--queue-port <port>', 'port of the embedded SQS server; a free one by default', portNumber)
    .addOption(repeatable('--apply <path>', 'manifests to apply, a file or a folder; may be repeated'))
    .option('--keep', 'keep the objects of the embedded API server in the folder: a restart has them again')
    .option('--cleanup', 'with --kubeconfig: at the end delete what was created there, and wait for finalizers')
    .option('--folder <path>', 'where kubeconfig and state.json are written; .outrigger by default')
    .option('--watchers <n>', 'how many watchers', wholeNumber, 1)
    .option('--no-resync', 'disable the scheduled resync')
    .addOption(
      repeatable(
        '--simulator-fault <simulator=fault>',
        'break a simulator: pantry=down, plant=sensor-error, bitcoin=hang; may be repeated',
      ),
    )
    .addOption(repeatable('--set <NAME=value>', 'a setting of the controllers; a secret is file:PATH; may be repeated'))
    .addOption(
      repeatable('--allow-host <name>', 'a name of this machine for containers: host.docker.internal; may be repeated'),
    )
    .option(
      '--attempts <n>',
      'failed reconciles before a dead letter, instead of retry.attempts of each controller',
      atLeastOne,
    )
    .option(
      '--retry-after <seconds>',
      'delay of each retry, instead of the growing delays of each controller',
      atLeastOne,
    )
    .option('--open', 'open the console in the browser when everything runs')
    .option('--console-port <port>', 'port of the console; a free one by default', portNumber)
    .option('--until-ready', 'exit with 0 when all applied objects are Ready, or with 1 and the objects that are not')
    .option('--timeout-seconds <s>', 'how long --until-ready waits', wholeNumber, 60)
    .addOption(outputOption())
    .option('--verbose', 'also show reconciles that changed nothing, and the start of processes')
    .option('--no-picture', 'print lines on a terminal too, as in a pipe and in CI')
    .addHelpText('after', helpText)
    .action(run);
}

const helpText = `
Examples:
  outrigger dev --apply infra/kubernetes/samples                 everything on this machine; Ctrl-C stops it
  outrigger dev --apply infra/kubernetes/samples --until-ready   for CI: exits with a table
  outrigger dev --kubeconfig ~/.kube/config --context kind       against a cluster of your own
  outrigger dev --apply infra/kubernetes/samples --simulator-fault pantry=down
  outrigger dev --keep                                           the objects are there again after a restart
  outrigger dev --attempts 3 --retry-after 1                     an object that fails is a dead letter within seconds
  outrigger dev --set DNS_URL=https://dns.example.com --set DNS_TOKEN=file:./token

Settings of the controllers are read from --set, then from the environment, then from the file .env.

In another terminal: export KUBECONFIG=.outrigger/kubeconfig for kubectl; outrigger status shows the status.
Exit status: 0 when it was stopped, or every object was Ready; 1 when an object was not, or it could not start. The last
lines name the reason.`;

async function run(flags: Flags): Promise<void> {
  const stop = stopSignal();
  const verbose = flags.verbose === true;
  try {
    using screen = showsPicture(flags) ? new DevScreen(stop, { verbose }) : undefined;
    const print =
      screen?.print ??
      createPrinter((text) => void process.stdout.write(text), { readable: flags.output === 'text', verbose });
    const root = process.cwd();
    const { registry } = await loadProject(root);
    const sources = { set: flags.set, environment: environment(), root };
    const settings = await readDevSettings(registry, sources, flags.queueEndpoint !== undefined);
    requireConsistent(flags);
    // Only a run that lasts has a console.
    const source = flags.untilReady === true ? undefined : createDevSource(registry);
    const options = {
      ...optionsOf(flags, print),
      parameters: settings,
      ...(source === undefined ? {} : { onEvent: source.onEvent }),
    };
    const loadSaved = async () => {
      const saved = await loadProject(root, { again: true });
      return {
        ...saved,
        parameters: await readDevSettings(saved.registry, sources, flags.queueEndpoint !== undefined),
      };
    };
    const dev = await startDev({ controllers: registry, build, loadSaved, root }, options, stop);
    const onError = (error: Error) => print({ source: 'system', text: `the plant's event: ${error.message}` });
    wakeByPlant(dev, registry, { signal: stop, onError });
    let end: Ending = { status: 0, text: '' };
    try {
      if (source === undefined) end = await waitUntilReady(dev, flags.timeoutSeconds, stop);
      else await live(dev, registry, { flags, source, print, screen, stop });
    } finally {
      if (flags.cleanup === true) await cleanUp(dev, print);
      await dev.close();
    }
    // Printed after every other line, so that the last lines are the result of the command.
    if (end.text !== '') printLines(end.text.trimEnd().split('\n'));
    process.exitCode = end.status;
  } catch (error) {
    if (stop.aborted) return;
    process.exitCode = 1;
    if (isUserFacing(error)) printError(`outrigger dev: ${error.message}`);
    else printStack(toError(error));
  }
}

/** Only a person at a terminal has a picture. */
function showsPicture({ output, untilReady, picture }: Flags): boolean {
  const { CI = '', TERM = '' } = environment();
  const isTerminal = process.stdout.isTTY === true && process.stdin.isTTY === true && TERM !== 'dumb' && CI === '';
  return isTerminal && picture && output === 'text' && untilReady !== true;
}

function optionsOf(flags: Flags, onLine: (line: OutputLine) => void): DevOptions {
  const { folder, simulatorFault: simulatorFaults, allowHost: allowedHosts, attempts, retryAfter, ...same } = flags;
  return {
    ...same,
    warnsOfRefused: flags.untilReady !== true,
    simulatorFaults,
    allowedHosts,
    retry: { attempts, seconds: retryAfter },
    onLine,
    // Each process listens on its own debugger port and prints it.
    nodeArguments: process.execArgv.some((argument) => argument.startsWith('--inspect')) ? ['--inspect=0'] : [],
    ...(folder === undefined ? {} : { folder: path.resolve(folder) }),
  };
}

/** The exit status, and the last lines. */
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

/** What a run that lasts until Ctrl-C needs of the command. */
type Live = {
  readonly flags: Flags;
  readonly source: DevSource;
  readonly print: (line: OutputLine) => void;
  readonly screen: DevScreen | undefined;
  readonly stop: AbortSignal;
};

async function live(
  dev: Dev,
  registry: readonly ControllerDefinition[],
  {
    flags: { kubeconfig, keep, cleanup, open, set, consolePort = 0, folder = devFolder },
    source: devSource,
    print,
    screen,
    stop,
  }: Live,
): Promise<void> {
  const say = (text: string) => print({ source: 'system', text });
  const operator = await devOperator(dev, registry, { folder, set });
  const source = devSource.attach(dev, operator, stop);
  const page = await explainListening('--console-port', consolePort, () =>
    startConsole({ source, page: readPage }, { port: consolePort }),
  );
  screen?.follow({ source, url: page.url, resync: async () => await startResync(dev, say) });
  // The name alone may be that of a built-in kind, such as a CronJob of the project.
  const names = registry.map(({ declaration: { resource } }) => [resource.plural, resource.group].filter(Boolean));
  const kinds = [...new Set(names.map((one) => one.join('.')))].join(',');
  const isReal = kubeconfig !== undefined && cleanup !== true;
  const kept =
    keep === true
      ? 'objects are kept for the next outrigger dev --keep; queues and simulators start empty then'
      : 'objects are in memory: they are lost when this ends; outrigger dev --keep keeps them';
  say(
    [
      'everything runs. Try this in another terminal:',
      `  export KUBECONFIG=${path.relative(process.cwd(), dev.kubeconfigFile)}`,
      `  kubectl get ${kinds}`,
      `  npx outrigger status${operator.at}`,
      `  the console in a browser: ${page.url}`,
      'a saved source file is built and loaded; Ctrl-C stops it',
      kubeconfig === undefined ? kept : isReal ? staysInCluster : 'Ctrl-C deletes what was created in the cluster',
    ].join('\n'),
  );
  if (open === true) openInBrowser(page.url, say);
  const root = process.cwd();
  const types = createTypeCheck(root, print);
  types.start();
  const reloading = reloadOnSave(dev, root, {
    onLine: print,
    onReloaded: (refused) => {
      devSource.setRefused(refused);
      types.start();
    },
  });
  await new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener('abort', () => resolve());
  });
  reloading.stop();
  types.stop();
  await page.close();
  say(`stopping: messages in flight are finished first${isReal ? `; ${staysInCluster}` : ''}`);
}

/** Starts a run as the schedule does, and says so. Throws the function's error, and UserError without the function. */
export async function startResync(
  { functions, queues }: Pick<Dev, 'functions' | 'queues'>,
  say: (text: string) => void,
): Promise<void> {
  const name = `${urlPrefixOf(queues).split('/').at(-1)}${resyncQueue}`;
  const found = functions.find((one) => one.name === name);
  if (found === undefined) throw new UserError(`there is no function ${name}`);
  say('a resync run has started');
  await found.invoke({ time: new Date().toISOString() });
}

/** A deletion waits for a finalizer that nothing removes any more. */
const staysInCluster =
  'the cluster keeps CRDs, objects, finalizers and children; --cleanup deletes them at the end, and outrigger detach ' +
  'KIND --kubeconfig FILE afterwards';

/** How long the deletions of --cleanup wait for finalizers. */
const cleanUpMilliseconds = 60_000;

async function cleanUp(dev: Dev, print: (line: OutputLine) => void): Promise<void> {
  print({ source: 'system', text: 'deleting what was created in the cluster; Ctrl-C leaves the rest there' });
  const lines = await dev.cleanUp(AbortSignal.timeout(cleanUpMilliseconds));
  for (const text of lines) print({ source: 'system', text });
}

function requireConsistent({ kubeconfig, context, apiPort, keep, cleanup }: Flags): void {
  const given = (flags: object) => Object.entries(flags).find(([, value]) => value !== undefined)?.[0];
  const embedded = given({ '--keep': keep, '--api-port': apiPort });
  if (embedded !== undefined && kubeconfig !== undefined)
    throw new UserError(`${embedded} is for the embedded API server; leave it out with --kubeconfig`);
  const own = given({ '--cleanup': cleanup, '--context': context });
  if (own !== undefined && kubeconfig === undefined)
    throw new UserError(`${own} is for a cluster of your own; name it with --kubeconfig FILE`);
}

/** Aborts at the first Ctrl-C, which finishes messages in flight. The second Ctrl-C exits at once. */
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

function isUserFacing(error: unknown): error is Error {
  return error instanceof UserError || error instanceof SchemaError || error instanceof TemplateError;
}

function atLeastOne(text: string): number {
  const number = wholeNumber(text);
  if (number < 1) throw new InvalidArgumentError('1 or more is needed');
  return number;
}

function repeatable(flags: string, description: string): Option {
  const collect = (text: string, before: readonly string[]) => [...before, text];
  return new Option(flags, description).argParser(collect).default([], 'none');
}
