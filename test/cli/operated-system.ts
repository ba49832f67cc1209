// A harness for an operator's commands: a state file, an SQS server, and an API server with samples and their
// simulators. No function runs, so a sent message stays on its queue until a test reads it.

import { type ApiServer, startApiServer } from '@outrigger/apiserver';
import { clustersCommand } from '@outrigger/cli/commands/clusters/clusters';
import { detachCommand } from '@outrigger/cli/commands/detach';
import { dlqCommand } from '@outrigger/cli/commands/dlq';
import { doctorCommand } from '@outrigger/cli/commands/doctor/doctor';
import { getCommand } from '@outrigger/cli/commands/get';
import { explainCommand, historyCommand, logsCommand } from '@outrigger/cli/commands/key-commands';
import { pauseCommand, resumeCommand } from '@outrigger/cli/commands/pause';
import { replayCommand } from '@outrigger/cli/commands/replay';
import { statusCommand } from '@outrigger/cli/commands/status/status';
import { wakeCommand } from '@outrigger/cli/commands/wake';
import { startLambdaApi } from '@outrigger/cli/dev/lambda/lambda-api';
import { startSimulators } from '@outrigger/cli/simulators/registry';
import { afterAll, afterEach, beforeAll, onTestFinished } from 'vitest';
import { registry } from '../../src/controllers/registry.ts';
import { controllerDeadLetterQueue, controllerQueue } from '../../src/core/names.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import { applyManifests, readManifests } from '../../src/testing/manifests.ts';
import { startChaosProxy } from '../../tools/chaos/chaos-proxy.ts';
import { statusOf } from '../kube/wire-server.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { useFolder } from '../support/folder.ts';
import { kindManifests } from '../support/sample-manifests.ts';
import { runHere } from './command-result.ts';

const { signal } = new AbortController();
const commands = {
  clusters: clustersCommand,
  doctor: doctorCommand,
  explain: explainCommand,
  get: getCommand,
  history: historyCommand,
  logs: logsCommand,
  dlq: dlqCommand,
  detach: detachCommand,
  pause: pauseCommand,
  replay: replayCommand,
  resume: resumeCommand,
  status: statusCommand,
  wake: wakeCommand,
};
type Name = keyof typeof commands;

/** Starts the system for a test file. The controllers' queues are emptied after each test. */
export function operatedSystem({ samples = [] }: { readonly samples?: readonly string[] } = {}) {
  const parts = new AsyncDisposableStack();
  const folder = useFolder({ shared: true });
  const now: { queues?: TestQueues; server?: ApiServer } = {};
  const started = <T>(part: T | undefined): T => {
    if (part === undefined) throw new Error('not started');
    return part;
  };

  beforeAll(async () => {
    const queues = await startTestQueues();
    parts.defer(() => queues.stop());
    const server = await startApiServer();
    parts.defer(() => server.close());
    const { plant, pantry } = await startSimulators(parts);
    Object.assign(now, { queues, server });

    const lambda = await startLambdaApi({ mappings: registry.map(({ name }) => mappingOf(name)) });
    parts.defer(() => lambda.close());
    const controllers = registry.flatMap(({ name }) => [controllerQueue(name), controllerDeadLetterQueue(name)]);
    const all = [...controllers, 'timers', 'timers-dlq', 'resync', 'resync-dlq'];
    await queues.create(...all);
    const state = {
      apiServer: server.url,
      queueEndpoint: queues.endpoint,
      lambda: lambda.url,
      queues: Object.fromEntries(all.map((name) => [name, `${queues.urlPrefix}${name}`])),
      watchers: [],
      functions: [],
      simulators: { plant: plant.url, pantry: pantry.url },
    };
    await folder.write('state.json', JSON.stringify(state));
    const local = { server: server.url, access: { type: 'none' } };
    await folder.write('clusters.json', JSON.stringify({ local }));
    if (samples.length > 0) await applySamples(server, samples);
  }, 60_000);
  afterAll(async () => await parts.disposeAsync());
  afterEach(async () => {
    const queues = started(now.queues);
    for (const name of registry.flatMap((one) => [controllerQueue(one.name), controllerDeadLetterQueue(one.name)])) {
      if (queues.holds(name)) await queues.drain(name);
    }
  });

  return {
    get queues() {
      return started(now.queues);
    },
    folder,
    /** The number of requests so far that were not reads. */
    writes: () =>
      started(now.server)
        .requests()
        .filter(({ method }) => method !== 'GET').length,
    /** Receives the messages on a controller's queue, and deletes them. */
    sentTo: async (controller: string) =>
      (await started(now.queues).drain(controllerQueue(controller))).map(({ Body = '' }) => parseMessage(Body)),
    get apiServer() {
      return started(now.server);
    },
    /** A client of the API server, which is closed at the end of the test. */
    client: () => {
      const client = createClient({ server: new URL(started(now.server).url) }, { userAgent: 'kubectl' });
      onTestFinished(() => client.close());
      return client;
    },
    /** The options that a printed command has. */
    get at() {
      return ` --folder ${folder.path}`;
    },
    /** Refuses the reads of which the URL matches to the commands of a test. */
    forbid: async (pattern: string | RegExp) => {
      const proxy = await startChaosProxy({ url: started(now.server).url });
      onTestFinished(() => proxy.close());
      const body = JSON.stringify(statusOf(403, 'Forbidden'));
      proxy.rule(({ url }) => (url.search(pattern) < 0 ? undefined : { type: 'respond', status: 403, body }));
      const before = await folder.read('clusters.json');
      onTestFinished(async () => await folder.write('clusters.json', before));
      await folder.write('clusters.json', JSON.stringify({ local: { server: proxy.url, access: { type: 'none' } } }));
    },
    run: async (command: Name, ...argv: readonly string[]) =>
      await runHere(commands[command](), [...argv, ...(argv.includes('--folder') ? [] : ['--folder', folder.path])]),
  };
}

function mappingOf(controller: string) {
  let isPaused = false;
  return {
    uuid: controller,
    queueArn: `arn:aws:sqs:us-east-1:000000000000:${controllerQueue(controller)}`,
    isPaused: () => isPaused,
    setPaused: (wanted: boolean) => {
      isPaused = wanted;
    },
    retry: async () => undefined,
    stop: async () => undefined,
  };
}

/** Applies the CRDs and samples of the repository. */
export async function applySamples(server: ApiServer, samples: readonly string[]): Promise<void> {
  const client = createClient({ server: new URL(server.url) });
  const definitions = kindManifests().filter(({ kind }) => kind === 'CustomResourceDefinition');
  const files = samples.map((sample) => readManifests(`infra/kubernetes/samples/${sample}.yaml`));
  for (const manifests of [definitions, ...(await Promise.all(files))])
    await applyManifests(client, manifests, { signal });
  client.close();
}
