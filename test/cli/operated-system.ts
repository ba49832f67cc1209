// What an operator's commands find on one machine, without the machine: a state file, an SQS server and, where it is asked for, an
// API server with the samples and their worlds. No function runs, so what is sent stays where it can be looked at.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { afterAll, afterEach, beforeAll, vi } from 'vitest';
import { dlqCommand } from '../../src/cli/dlq.ts';
import { releaseCommand } from '../../src/cli/release.ts';
import { replayCommand } from '../../src/cli/replay.ts';
import { statusCommand } from '../../src/cli/status.ts';
import { registry } from '../../src/controllers/registry.ts';
import { controllerDeadLetters, controllerQueue } from '../../src/core/names.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { type ApiServer, startApiServer } from '../../src/apiserver/server.ts';
import { applyManifests, readManifests } from '../../src/dev/manifests.ts';
import { startWorlds } from '../../src/local/worlds/sample-worlds.ts';
import { parseMessage } from '../../src/queue/message.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';

const { signal } = new AbortController();
const commands = { dlq: dlqCommand, release: releaseCommand, replay: replayCommand, status: statusCommand };
type Name = keyof typeof commands;

/** Starts it for a test file; what is on the controllers' queues is gone after each test. */
export function operatedSystem({ samples = [] }: { readonly samples?: readonly string[] } = {}) {
  const parts = new AsyncDisposableStack();
  const now: { queues?: TestQueues; server?: ApiServer; folder: string } = { folder: '' };
  const there = <T>(part: T | undefined): T => {
    if (part === undefined) throw new Error('not started');
    return part;
  };

  beforeAll(async () => {
    const queues = await startTestQueues();
    parts.defer(() => queues.stop());
    const server = await startApiServer();
    parts.defer(() => server.close());
    const { plant, pantry } = await startWorlds(parts);
    const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-operate-'));
    parts.defer(() => rm(folder, { recursive: true }));
    Object.assign(now, { queues, server, folder });

    const controllers = registry.flatMap(({ name }) => [controllerQueue(name), controllerDeadLetters(name)]);
    const all = [...controllers, 'timers', 'timers-dlq', 'resync', 'resync-dlq'];
    await queues.create(...all);
    const state = {
      apiServer: server.url,
      queueEndpoint: queues.endpoint,
      queues: Object.fromEntries(all.map((name) => [name, `${queues.urlPrefix}${name}`])),
      watchers: [],
      functions: [],
      worlds: { plant: plant.url, pantry: pantry.url },
    };
    await writeFile(path.join(folder, 'state.json'), JSON.stringify(state));
    const local = { server: server.url, access: { type: 'none' } };
    await writeFile(path.join(folder, 'clusters.json'), JSON.stringify({ local }));
    if (samples.length > 0) await applySamples(server, samples);
  }, 60_000);
  afterAll(async () => await parts.disposeAsync());
  afterEach(async () => {
    const queues = there(now.queues);
    for (const name of registry.flatMap((one) => [controllerQueue(one.name), controllerDeadLetters(one.name)])) {
      if (queues.holds(name)) await queues.drain(name);
    }
  });

  return {
    get queues() {
      return there(now.queues);
    },
    get folder() {
      return now.folder;
    },
    /** How many requests so far were no reads. */
    writes: () =>
      there(now.server)
        .requests()
        .filter(({ method }) => method !== 'GET').length,
    /** Takes what is on a controller's queue. */
    sentTo: async (controller: string) =>
      (await there(now.queues).drain(controllerQueue(controller))).map(({ Body = '' }) => parseMessage(Body)),
    get apiServer() {
      return there(now.server).url;
    },
    /** A client of the API server. */
    client: () => createClient({ server: new URL(there(now.server).url) }),
    run: async (command: Name, ...argv: readonly string[]) =>
      await runHere(commands[command](), [...argv, ...(argv.includes('--folder') ? [] : ['--folder', now.folder])]),
  };
}

async function applySamples(server: ApiServer, samples: readonly string[]): Promise<void> {
  const client = createClient({ server: new URL(server.url) });
  const generated = await readManifests('infra/kubernetes/generated');
  const definitions = generated.filter(({ kind }) => kind === 'CustomResourceDefinition');
  const files = samples.map((sample) => readManifests(`infra/kubernetes/samples/${sample}.yaml`));
  for (const manifests of [definitions, ...(await Promise.all(files))])
    await applyManifests(client, manifests, { signal });
  client.close();
}

/** Runs a command in this process: what it said, and the exit status that it chose. What a usage mistake says is here too. */
export async function runHere(
  command: Command,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
) {
  const said = { out: '', err: '' };
  const listen = (stream: 'stdout' | 'stderr', to: 'out' | 'err') =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      said[to] += text;
      return true;
    });
  const spies = [listen('stdout', 'out'), listen('stderr', 'err')];
  const before = process.exitCode;
  for (const [name, value] of Object.entries({ QUEUE_URL_PREFIX: '', CLUSTERS: '', ...env })) vi.stubEnv(name, value);
  try {
    await command.parseAsync([...argv], { from: 'user' });
    return { ...said, status: process.exitCode };
  } finally {
    vi.unstubAllEnvs();
    process.exitCode = before;
    for (const spy of spies) spy.mockRestore();
  }
}
