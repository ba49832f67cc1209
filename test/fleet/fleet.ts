// Several clusters and one set of functions: the bundles under the local Lambda, one clusters table in a file, a watcher process in
// each cluster. Only Ingredient's function and timers run, with the short times of the chaos kit; there is no schedule, so that
// no resync hides a lost change.
import { renameSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { build } from '@outrigger/cli/commands/build';
import { startLambda } from '@outrigger/cli/dev/lambda/local-lambda';
import { createQueues } from '@outrigger/cli/dev/lambda/queues';
import { readLocalStack, shortResync, stackNamePrefix, watcherEnvironment } from '@outrigger/cli/dev/local-stack';
import { createLocalSqsClient } from '@outrigger/cli/dev/sqs-server';
import { startSimulators } from '@outrigger/cli/simulators/registry';
import { isRecord } from '../../src/core/json.ts';
import { buildArtifacts } from '../../tools/artifacts.ts';
import { createPlainApi, type PlainApi } from '../../tools/chaos/plain-api.ts';
import { type PantryRequest, startSlowPantry } from '../../tools/chaos/slow-pantry.ts';
import { shortIngredientStack } from '../../tools/chaos/system.ts';
import { groupOf } from '../sqs/messages.ts';
import { messagesOn } from '../support/messages-on.ts';
import { startServerProcess } from '../support/server-process.ts';
import { type EntryFields, type FleetDeps, type Member, startMember } from './member.ts';

/** A line that a function logged, or a metric that it wrote. */
export type Entry = Readonly<Record<string, unknown>>;

/** A dead letter. */
export type FleetDeadLetter = { readonly body: string; readonly reason: string };

/** A fleet that runs. */
export type Fleet = AsyncDisposable & {
  /** Starts a cluster more. `watcher`: further environment of its watcher. */
  add(name: string, watcher?: Readonly<Record<string, string>>, entry?: EntryFields): Promise<Member>;
  /** What functions have written so far, oldest first. */
  readonly entries: readonly Entry[];
  /** Resolves with the first entry from now on, or before, that is so. Rejects when the signal aborts. */
  untilEntry(isIt: (entry: Entry) => boolean, signal: AbortSignal): Promise<Entry>;
  /** The processes of the functions. */
  pids(): readonly number[];
  /** Sends a body to a queue (`ingredient.fifo`). */
  send(queue: string, body: string): Promise<void>;
  /** How many messages a queue has: those that are ready, in hand, and delayed. */
  depth(queue: string): Promise<number>;
  /** Takes the dead letters of every queue. */
  deadLetters(): Promise<readonly FleetDeadLetter[]>;
  readonly pantry: PlainApi;
  readonly sqs: PlainApi;
  readonly queueUrl: string;
  visits(): readonly PantryRequest[];
  /** Forgets the visits that have ended. */
  clearVisits(): void;
  /** Changes the clusters table; without an entry the cluster is taken out of it. */
  setEntry(name: string, entry?: object): void;
  /** The environment of a fleet watcher of the clusters table. */
  readonly fleetEnvironment: Readonly<Record<string, string>>;
  /** The environment of a watcher of one cluster, but for `CLUSTER` and `KUBECONFIG`. */
  readonly memberEnvironment: Readonly<Record<string, string>>;
  /** A folder for private files. */
  readonly folder: string;
};

const root = path.resolve(import.meta.dirname, '../..');
/** Enough for the objects of many clusters, which share the pantry. */
const pantryStock = 1_000_000;
/** Until a cluster's watcher watches. */
const memberSeconds = 120;

/** Starts the functions and their queues; clusters are added. When it cannot, nothing stays behind. */
export async function openFleet(
  {
    concurrency = 4,
    controllers = ['ingredient'],
    timeoutSeconds,
    onLine = () => undefined,
  }: {
    readonly concurrency?: number;
    /** The controllers whose functions run. */
    readonly controllers?: readonly string[];
    /** The time limit of the functions. Default: the short one of the chaos kit. */
    readonly timeoutSeconds?: number;
    readonly onLine?: (line: string) => void;
  },
  signal: AbortSignal,
): Promise<Fleet> {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-fleet-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const template = await buildArtifacts(build, root, signal);
  const tableFile = path.join(folder, 'clusters.json');
  const setEntry = keepTable(tableFile);

  const server = await startServerProcess(new URL('../support/sqs-program.ts', import.meta.url), signal);
  parts.defer(() => server.close());
  const client = createLocalSqsClient(server.url);
  parts.defer(() => client.destroy());
  const worlds = await startSimulators(parts, { pantryStock });
  const world = await startSlowPantry(worlds.pantry.url);
  parts.defer(() => world.close());

  const places = { clustersTableFile: tableFile, watcherKubeconfigFile: '' };
  const stack = shortIngredientStack(
    readLocalStack(template, places, { ...worlds, pantry: { ...worlds.pantry, url: world.url } }, shortResync),
    timeoutSeconds,
    controllers,
  );
  const prefix = stackNamePrefix(stack);
  const queues = await createQueues(client, stack.queues, { endpoint: server.url, signal });
  const urlOf = (queue: string) => queues.find(({ name }) => name === `${prefix}${queue}`)?.url ?? queue;

  const entries: Entry[] = [];
  const listeners = new Set<() => void>();
  const hear = (text: string) => {
    onLine(text);
    const entry = readJson(text);
    if (!isRecord(entry)) return;
    entries.push(entry);
    for (const listener of [...listeners]) listener();
  };
  const lambda = startLambda(
    {
      stack,
      queues,
      client,
      queueEndpoint: server.url,
      taskRoot: root,
      onEvent: (event) =>
        event.type === 'line' ? hear(event.text) : onLine(`${event.function}: ${event.error.message}`),
      onProcesses: () => undefined,
    },
    { concurrency, schedules: false },
  );
  parts.defer(() => lambda.stop());
  const [pantry, sqs] = [createPlainApi({ url: worlds.pantry.url }), createPlainApi({ url: server.url })];
  parts.defer(() => pantry.close());
  parts.defer(() => sqs.close());

  const environment = watcherEnvironment(places, server.url, queues, prefix, '');
  const { CLUSTER: _, KUBECONFIG: __, ...memberEnvironment } = environment;
  const shared: FleetDeps = { folder, setEntry, root, onLine, watcherEnvironment: environment };
  const whole = parts.move();
  return {
    add: (name, watcher, entry) =>
      startMember(whole, shared, { name, watcher, entry }, AbortSignal.timeout(memberSeconds * 1000)),
    entries,
    untilEntry: (isIt, until) =>
      new Promise((resolve, reject) => {
        const give = () => {
          listeners.delete(look);
          reject(until.reason);
        };
        const look = () => {
          const found = entries.find(isIt);
          if (found === undefined) return;
          listeners.delete(look);
          until.removeEventListener('abort', give);
          resolve(found);
        };
        listeners.add(look);
        until.addEventListener('abort', give);
        look();
      }),
    pids: () => lambda.functions.flatMap((one) => one.pids()),
    send: async (queue, body) => {
      const id = crypto.randomUUID();
      const fifo = queue.endsWith('.fifo') ? { MessageGroupId: groupOf(body), MessageDeduplicationId: id } : {};
      await client.send(new SendMessageCommand({ QueueUrl: urlOf(queue), MessageBody: body, ...fifo }));
    },
    depth: messagesOn(client, urlOf('timers').slice(0, -'timers'.length)),
    deadLetters: async () => {
      const deadLetterQueues = [...controllers.map((name) => `${name}-dlq.fifo`), 'timers-dlq'];
      const taken = deadLetterQueues.map(async (queue) => {
        const asked = { QueueUrl: urlOf(queue), MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] };
        const { Messages = [] } = await client.send(new ReceiveMessageCommand(asked));
        return Messages.map(({ Body = '', MessageAttributes = {} }) => {
          return { body: Body, reason: MessageAttributes.reason?.StringValue ?? '' };
        });
      });
      return (await Promise.all(taken)).flat();
    },
    pantry,
    sqs,
    queueUrl: urlOf('ingredient.fifo'),
    visits: () => world.requests(),
    clearVisits: () => world.clearRequests(),
    setEntry,
    folder,
    memberEnvironment,
    fleetEnvironment: { ...memberEnvironment, CLUSTERS: tableFile },
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  };
}

/** Keeps a clusters table in a file, whole at any time: functions read it whenever they like. */
function keepTable(file: string): FleetDeps['setEntry'] {
  const table = new Map<string, object>();
  const write = () => {
    writeFileSync(`${file}.new`, JSON.stringify(Object.fromEntries(table)), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  write();
  return (name, entry) => {
    if (entry === undefined) table.delete(name);
    else table.set(name, entry);
    write();
  };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
