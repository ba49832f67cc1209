// `outrigger logs`, `history` and `explain`: what happened to one object, and why it is in its state. They read the
// object, the logs of its controller, the dead letters and the depth of the queue, and change nothing.
import { Command } from 'commander';
import { readWatcherStatus } from 'outrigger/internal/checkpoint/watcher-status';
import { UserError } from 'outrigger/internal/core/errors';
import { formatReconcileKey, isPathSegment, type ReconcileKey } from 'outrigger/internal/core/key';
import { controllerDeadLetterQueue, controllerQueue, finalizerOf } from 'outrigger/internal/core/names';
import { redact } from 'outrigger/internal/core/redact';
import { sleep } from 'outrigger/internal/core/time';
import { getObject } from 'outrigger/internal/kube/client/read';
import { createQueueBrowser } from 'outrigger/internal/sqs/browse';
import { createDepth } from 'outrigger/internal/sqs/depth';
import { keyOfMessage } from 'outrigger/internal/sqs/message';
import { type LastWrite, lastWrites } from '../console/field-changes.ts';
import { conditionsOf, functionText, watcherFacts, watcherHealth } from '../console/health.ts';
import { type ObjectExplanation, stateOf } from '../console/object-state.ts';
import { alignColumns } from '../dev/columns.ts';
import { readDeadLetters } from '../operations/redrive.ts';
import { type ListedController, listControllers } from '../project/list-controllers.ts';
import { loadProject } from '../project/project.ts';
import {
  acting,
  checkLimit,
  formatError,
  jsonOption,
  type Output,
  outputOption,
  printError,
  printJson,
  printLines,
} from './command.ts';
import { mostLines, readHidden } from './function-log.ts';
import {
  clusterClient,
  type Installation,
  type InstallationFlags,
  isLocalRunning,
  openInstallation,
  requireClusterName,
  requireRegistry,
  withInstallationOptions,
} from './installation.ts';
import { type KeyLogEntry, readKeyLog, readTroubles } from './key-log.ts';
import { pausedControllers } from './mappings.ts';
import { listPagesIn } from './object-keys.ts';
import { clusterOfKey, completeKey, parseKey, requireController } from './parse-key.ts';
import { explainController } from './status/status.ts';

type Flags = InstallationFlags & {
  readonly cluster?: string;
  readonly since: string;
  readonly limit?: number;
  readonly follow?: true;
  readonly output: Output;
};

/** What a command gets: the key with its controller, and the place where it is reconciled. */
type Opened = {
  readonly key: ReconcileKey;
  readonly controller: ListedController;
  readonly controllers: readonly ListedController[];
  readonly installation: Installation;
  readonly entries: readonly KeyLogEntry[];
  /** Of the files of the local system. */
  readonly folder: string;
  readonly signal: AbortSignal;
};

/** Makes the command `logs`. */
export function logsCommand(): Command {
  return keyCommand('logs', 'print the log lines of one object', '1h', logsText, async (opened, { output, follow }) => {
    const { entries } = opened;
    if (follow === true) return await followLog(opened);
    if (output === 'json') printJson(entries);
    else printLines(entries.length === 0 ? ['no log line in this time; see --since'] : entries.map(logLine));
    return 0;
  }).option('-f, --follow', 'print new lines as they come, until Ctrl-C');
}

const followSeconds = 2;

/** A line may be readable that long after it was written. */
const lateMilliseconds = 60_000;

/**
 * Prints the lines of a key, and the new ones until the signal aborts. Says once that a log cannot be read, or that the
 * local system has ended, and waits for the next line.
 */
async function followLog({ entries, installation, key, folder, signal }: Opened): Promise<number> {
  let known = new Set<string>();
  let [next, readAtMs] = [entries, Date.now()];
  let said: string | undefined;
  while (!signal.aborted) {
    const lines = next.map(logLine);
    printLines(lines.filter((line) => !known.has(line)));
    known = new Set(lines);
    await sleep(followSeconds, signal).catch(() => undefined);
    if (signal.aborted) break;
    const [startedMs, sinceMs] = [Date.now(), readAtMs - lateMilliseconds];
    const problem = await readKeyLog(installation, key, { folder, sinceMs, signal })
      .then(async ({ lines }) => {
        [next, readAtMs] = [lines, startedMs];
        return installation.on === 'AWS' || (await isLocalRunning(folder)) ? undefined : 'no system runs here';
      })
      .catch((error: unknown) => formatError(error, installation.at));
    if (signal.aborted) break;
    if (problem !== said) printError(problem === undefined ? 'the log goes on' : `${problem}; waiting`, () => 'yellow');
    said = problem;
  }
  return 0;
}

/** Makes the command `history`. */
export function historyCommand(): Command {
  return keyCommand(
    'history',
    'list the last reconciles of one object: cause, attempt, outcome, writes, duration, error',
    '1d',
    historyText,
    async ({ entries }, { output, limit = 20 }) => {
      checkLimit(limit);
      const last = entries.filter(({ outcome }) => outcome !== undefined).slice(-limit);
      if (output === 'json') printJson(last);
      else printLines(last.length === 0 ? ['no reconcile is logged in this time; see --since'] : historyTable(last));
      return 0;
    },
  ).option('--limit <n>', 'at most this many, the newest', Number, 20);
}

/** Makes the command `explain`. */
export function explainCommand(): Command {
  return keyCommand(
    'explain',
    'show why one object is in its state: conditions, last error, next reconcile, dead letters, who wrote it',
    '1d',
    explainText,
    async (opened, { output }) => {
      const found = await explain(opened);
      if (output === 'json') printJson(found);
      else printLines(explainLines(found));
      if (found.state !== 'missing') return 0;
      // A script that keeps the standard output elsewhere reads this one, as of kubectl.
      printError('outrigger explain: there is no such object; check its namespace and name, and --cluster');
      return 1;
    },
    explainController,
  );
}

const logsText = `
Examples:
  outrigger logs water-tank:default/north
  outrigger logs north -f
  outrigger logs water-tank:default/north --stage prod --cluster berlin --since 3h
Here they are read from .outrigger/log.jsonl; of a deployment from CloudWatch Logs (logs:FilterLogEvents).`;

const historyText = `
Examples:
  outrigger history water-tank:default/north
  outrigger history dinner:default/friday --stage prod --cluster berlin --since 7d --limit 50
NEXT is the follow-up of a reconcile: its cause, and when it is due.`;

const explainText = `
Examples:
  outrigger explain north
  outrigger explain water-tank:default/north
  outrigger explain water-tank      a controller, of the last 15 minutes: what is wrong, waits or was missed, and where
                                    its time goes: watcher and queue, the API server, or its own code
A wait of requeueAfterSeconds begins on a grid of the key, so that several chains of one key become one: the first wait
is half to one and a half times the delay (300: 150 to 450 s), and each following one is exactly the delay.
The position of one message in a queue cannot be read; the number of messages in the queue is the upper bound.
Exit status: 0; 1 when there is no such object, or something is wrong with the controller.`;

function keyCommand(
  name: string,
  description: string,
  since: string,
  helpText: string,
  act: (opened: Opened, flags: Flags) => Promise<number>,
  actOnController?: typeof explainController,
): Command {
  return withInstallationOptions(new Command(name))
    .description(description)
    .argument(
      '<key>',
      'NAME, KIND/NAMESPACE/NAME, CONTROLLER:NAMESPACE/NAME, CONTROLLER:NAME, or a whole key as dlq list prints it',
    )
    .option('--cluster <name>', 'which cluster; on one machine there is only one')
    .option('--since <time>', 'how far back the logs are read: 30m, 3h, 7d', since)
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', helpText)
    .action(
      acting(async (text: string, flags: Flags, signal: AbortSignal) => {
        const controllers = await listControllers(process.cwd());
        const isController = actOnController !== undefined && controllers.some((one) => one.name === text);
        if (isController) return await actOnController(text, flags, signal);
        return await openKey(text, controllers, { ...flags, signal }, act);
      }),
    );
}

async function openKey(
  text: string,
  controllers: readonly ListedController[],
  { signal, ...flags }: Flags & { readonly signal: AbortSignal },
  act: (opened: Opened, flags: Flags) => Promise<number>,
): Promise<number> {
  const sinceMs = Date.now() - durationMs(flags.since);
  const asked = text.includes(':') ? undefined : parseName(text);
  // A key that is wrong is said before a part is asked.
  if (asked === undefined) parseKey(text, controllers);
  using installation = await openInstallation(flags, signal);
  const whole = asked ? await findByName(asked, controllers, installation, { ...flags, signal }) : text;
  const requested = parseKey(whole, controllers);
  const controller = requireController(requested.controller, controllers);
  const cluster = await clusterOfKey(requested, flags.cluster, installation);
  const key = completeKey(requested, controller, cluster);
  const [{ lines: entries, isCut }, hidden] = await Promise.all([
    readKeyLog(installation, key, { folder: flags.folder, sinceMs, signal }),
    readHidden(installation, signal),
  ]);
  if (isCut) printError(`only the newest ${mostLines} lines of this time were read; give a shorter --since`);
  if (hidden !== undefined) printError(hidden, () => 'yellow');
  return await act({ key, controller, controllers, installation, entries, folder: flags.folder, signal }, flags);
}

/** A part of an object's name that is undefined matches every value. */
type ObjectName = {
  readonly text: string;
  readonly kind: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string;
};

/** Reads `north`, `watertank/north` or `watertank/shop/north`, as `outrigger dev` and kubectl print names. */
function parseName(text: string): ObjectName {
  const parts = text.split('/');
  const [name = '', namespace] = parts.length === 3 ? parts.toReversed() : [parts.at(-1)];
  if (parts.length > 3 || !parts.every(isPathSegment))
    throw new UserError(`${JSON.stringify(text)} is not a name; write NAME, KIND/NAME or KIND/NAMESPACE/NAME`);
  return { text, kind: parts.length === 1 ? undefined : parts[0]?.toLowerCase(), namespace, name };
}

/** Finds the object of a name among the kinds of all controllers. Throws UserError if there is none, or several. */
async function findByName(
  { text, ...asked }: ObjectName,
  controllers: readonly ListedController[],
  installation: Installation,
  { cluster, signal }: { readonly cluster?: string; readonly signal: AbortSignal },
): Promise<string> {
  const client = await clusterClient(installation, await requireClusterName(cluster, installation));
  const found: string[] = [];
  for (const { name: controller, kinds } of controllers) {
    const [kind] = kinds;
    if (kind === undefined || ![undefined, kind.kind.toLowerCase(), kind.plural].includes(asked.kind)) continue;
    const query = { fieldSelector: `metadata.name=${asked.name}`, metadataOnly: true, signal };
    for await (const { items } of listPagesIn(installation.namespaces, client, kind, query))
      for (const {
        metadata: { namespace, name },
      } of items)
        if (asked.namespace === undefined || asked.namespace === namespace)
          found.push(`${controller}:${namespace === undefined ? '' : `${namespace}/`}${name}`);
  }
  const [only, ...more] = found;
  if (only === undefined)
    throw new UserError(
      `no object of a controller has the name ${JSON.stringify(text)}; outrigger get${installation.at} lists all`,
    );
  if (more.length > 0) throw new UserError(`several objects have this name; name one: ${found.join(', ')}`);
  return only;
}

/** Parses `30m`, `3h` or `7d`. Throws UserError. */
export function durationMs(text: string): number {
  const [, number, unit = ''] = /^(\d{1,5})([smhd])$/.exec(text) ?? [];
  const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
  if (number === undefined) throw new UserError(`--since ${JSON.stringify(text)}: write a time like 30m, 3h or 7d`);
  return Number(number) * (units[unit] ?? 1) * 1000;
}

/** Why an object is in its state. */
type Explanation = ObjectExplanation & {
  readonly key: string;
  /** What else holds up its next reconcile: watchers that are down, a queue that is gone. */
  readonly notes: readonly string[];
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly text: string }[];
  readonly last: KeyLogEntry | undefined;
  /** ISO 8601; undefined if no follow-up is known. */
  readonly nextDueAt: string | undefined;
  readonly queued: number | undefined;
  readonly deadLetters: readonly { readonly reason: string; readonly error: string | undefined }[];
  /** The newest first. */
  readonly writes: readonly LastWrite[];
};

async function explain({ key, controller, installation, entries, folder, signal, ...opened }: Opened) {
  const [resource] = controller.kinds;
  if (resource === undefined) throw new UserError(`${controller.name} reconciles no kind`);
  if (key.group !== resource.group || key.resource !== resource.plural) {
    const others = `logs and history are for ${key.resource} too`;
    throw new UserError(`explain is for ${resource.plural}, which ${controller.name} reconciles; ${others}`);
  }
  const client = await clusterClient(installation, key.cluster);
  const object = await getObject(client, resource, key, { signal });
  const { sqs, urlPrefix } = installation;
  const letterQueue = controllerDeadLetterQueue(key.controller);
  const browser = createQueueBrowser(sqs, urlPrefix, letterQueue);
  const { cluster } = key;
  const notes: string[] = [];
  const noted = async <T>(about: string, reading: Promise<T>): Promise<T | undefined> =>
    await reading.catch((error: unknown) => {
      if (signal.aborted) throw signal.reason;
      notes.push(`${about}: ${formatError(error, installation.at)}`);
      return undefined;
    });
  const queue = controllerQueue(key.controller);
  const unknownWatchers = `the status of the watchers of ${cluster} is unknown`;
  const notLoaded = `what ${controller.name} selects and has observed is unknown`;
  const loading = loadProject(process.cwd()).then(({ registry }) => requireController(controller.name, registry));
  const [loaded, paused, troubles, depth, letters, watchers, table] = await Promise.all([
    noted(notLoaded, loading),
    pausedControllers(installation, [key.controller], signal),
    readTroubles(installation, [key.controller], { folder, signal }),
    noted(`${queue} cannot be read`, createDepth(sqs, urlPrefix)(queue, { signal })),
    noted(`${letterQueue} cannot be read`, readDeadLetters(browser, { most: 1_000, signal })),
    noted(unknownWatchers, readWatcherStatus(client, Date.now(), { project: installation.project, signal })),
    requireRegistry(installation.clusters).find(cluster),
  ]);
  const seen = watchers && watcherHealth(watcherFacts(watchers), `the watchers of ${cluster}`);
  const ran = troubles.healthOf(controller.name, paused && paused.length > 0);
  if (seen !== undefined && seen.tone !== 'good') notes.push(seen.text ?? seen.state);
  // A failure of this object is its state.
  if (ran.state !== 'failing' && ['bad', 'unknown'].includes(ran.tone)) notes.push(functionText(ran));
  const deadLetters = (letters ?? [])
    .filter(
      ({ message }) => message !== undefined && formatReconcileKey(keyOfMessage(message)) === formatReconcileKey(key),
    )
    .map(({ reason, error }) => ({ reason, error }));
  const unread = depth === undefined ? queue : letters === undefined ? letterQueue : undefined;
  const last = entries.findLast(({ outcome }) => outcome !== undefined);
  const { project } = installation;
  const finalizer = finalizerOf(key.controller, project);
  const facts = {
    isPaused: (paused ?? []).length > 0,
    deadLetters: deadLetters.length,
    unread: deadLetters.length > 0 ? undefined : unread,
    last,
    hidden: troubles.hidden,
    finalizer,
    project,
    at: installation.at,
    ...(table.type === 'paused' ? { pausedCluster: cluster } : {}),
  };
  return {
    key: redact(formatReconcileKey(key)),
    ...stateOf(object, { name: controller.name, declaration: loaded?.declaration }, facts),
    notes,
    conditions: conditionsOf(object ?? {}).map(({ type, status, reason, message }) => ({
      type,
      status,
      text: [reason, message].filter((part) => part !== '').join(': '),
    })),
    last,
    nextDueAt: last?.dueAt === undefined ? undefined : new Date(last.dueAt * 1000).toISOString(),
    queued: depth?.visible,
    deadLetters,
    writes: object === undefined ? [] : lastWrites(object, { ...opened, project }),
  } satisfies Explanation;
}

/** The managers that are named. */
const mostWrites = 5;

function explainLines(found: Explanation): readonly string[] {
  const { key, state, why, notes, conditions, last, nextDueAt, queued, deadLetters, writes } = found;
  const due =
    nextDueAt === undefined ? 'no follow-up is known from the logs' : `${last?.nextCause} due at ${nextDueAt}`;
  return [
    `${key}: ${state}`,
    `  ${redact(why)}`,
    ...notes.map((note) => `  ${redact(note)}`),
    ...alignColumns(conditions.map(({ type, status, text }) => [`  ${type}`, status, redact(text)])),
    ...(last === undefined ? [] : [`  last reconcile: ${lastText(last)}`]),
    `  next reconcile: ${due}`,
    `  messages in the queue of its controller: ${queued ?? 'not known'}`,
    ...deadLetters.map(({ reason, error }) => `  dead letter: ${reason}${error === undefined ? '' : `: ${error}`}`),
    ...alignColumns(
      writes
        .slice(0, mostWrites)
        .map(({ by, operation, time = '-', fields }) => ['  written by', redact(by), operation, time, redact(fields)]),
    ),
  ];
}

function lastText({
  timestamp,
  cause,
  attempt = 0,
  outcome,
  reason,
  writes = 0,
  durationMs,
  error,
}: KeyLogEntry): string {
  const ended = reason === undefined ? outcome : `${outcome} (${reason})`;
  const text = `${timestamp}: ${cause}, attempt ${attempt + 1}: ${ended}, ${writes} writes in ${durationMs} ms`;
  return error === undefined ? text : `${text}: ${error}`;
}

function historyTable(entries: readonly KeyLogEntry[]): readonly string[] {
  const rows = entries.map((one) => [
    one.timestamp ?? '-',
    one.cause ?? '-',
    String((one.attempt ?? 0) + 1),
    one.reason === undefined ? (one.outcome ?? '-') : `${one.outcome} (${one.reason})`,
    String(one.writes ?? 0),
    String(one.durationMs ?? '-'),
    one.dueAt === undefined ? '-' : `${one.nextCause} ${new Date(one.dueAt * 1000).toISOString()}`,
    one.error ?? one.deadLetterReason ?? '-',
  ]);
  return alignColumns([['TIME', 'CAUSE', 'ATTEMPT', 'OUTCOME', 'WRITES', 'MS', 'NEXT', 'ERROR'], ...rows]);
}

/** Formats a line of the log of a key. */
export function logLine({ timestamp = '', level = '', message = '', key: _, ...fields }: KeyLogEntry): string {
  const shown = Object.entries(fields).filter(([name, value]) => !hidden.has(name) && value !== undefined);
  const rest = shown.map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return [timestamp, level, message, ...rest].filter((part) => part !== '').join(' ');
}

/** Fields that are the same in every line of a key. */
const hidden = new Set(['service', 'cluster', 'namespace', 'name']);
