// Outrigger as a contestant: the deployed bundles of one job, with queue server, watcher and functions in processes of
// their own; this process is only the Lambda service. `node program.ts QUEUE JOB SETTING`; its contract is in
// contestant.ts.
//
// There is one watcher and not two: the second one sends what the first has sent, and runs on another machine on AWS.
// `best` is for the only cluster of a deployment: its watcher forwards as much as the functions can process
// (RATE_LIMIT_PER_SECOND in src/settings.ts).
// cluster of a deployment: its watcher forwards what the functions work off (RATE_LIMIT_PER_SECOND in src/settings.ts).
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openCluster } from '@outrigger/cli/dev/cluster-access';
import { localAccountId, localRegion } from '@outrigger/cli/dev/lambda/account';
import { startLambda } from '@outrigger/cli/dev/lambda/local-lambda';
import { createQueues } from '@outrigger/cli/dev/lambda/queues';
import { readStack } from '@outrigger/cli/dev/lambda/stack';
import { parseTemplate } from '@outrigger/cli/dev/lambda/template';
import { stackNamePrefix, watcherEnvironment, withClustersTable } from '@outrigger/cli/dev/local-stack';
import { createLocalSqsClient } from '@outrigger/cli/dev/sqs-server';
import { startWatchers } from '@outrigger/cli/dev/watchers';
import * as z from 'zod';
import { environment } from '../../src/settings.ts';
import { applyManifests, readManifests } from '../../src/testing/manifests.ts';
import { startElasticMq } from '../../test/deploy/elasticmq.ts';
import { startServerProcess } from '../../test/support/server-process.ts';
import { packagedTemplate } from '../../tools/artifacts.ts';
import { createChildProcesses } from '../../tools/control-plane/child-processes.ts';
import { serviceRoot } from './service.ts';

const startSeconds = 60;
/** As deployed (maximumConcurrency of the event source mapping). */
const deployedConcurrency = 10;
/** Ten concurrent batches of ten, each 0.2 s: the maximum rate of the functions of one job. */
const onlyClusterLimits = { RATE_LIMIT_PER_SECOND: '500', RATE_LIMIT_BURST: '2000' };

const argumentsShape = z.tuple([
  z.enum(['fauxqs', 'elasticmq']),
  z.enum(['foo', 'ping', 'slow']),
  z.enum(['default', 'best']),
]);
const environmentShape = z.object({
  KUBECONFIG: z.string(),
  OUTSIDE_URL: z.url(),
  /**
   * The number of concurrent objects when all contestants have the same: as many environments with a tenth of it each,
   * or one.
   */
  CONCURRENCY: z.coerce.number().int().min(1).optional(),
  /** A running queue server, if it has to outlive this program. */
  QUEUE_ENDPOINT: z.url().optional(),
});

const [queue, job, setting] = argumentsShape.parse(process.argv.slice(2));
const { KUBECONFIG, OUTSIDE_URL, CONCURRENCY, QUEUE_ENDPOINT } = environmentShape.parse(environment());
const signal = AbortSignal.timeout(startSeconds * 1000);
const cleanup = new AsyncDisposableStack();
const log = (line: string) => void process.stderr.write(`${line}\n`);
let ending = false;
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => void end());

async function end(): Promise<void> {
  ending = true;
  await cleanup.disposeAsync();
  process.exit();
}

try {
  await start();
  if (!ending) process.stdout.write('ready\n');
} catch (error) {
  if (!ending) {
    log(String(error));
    process.exitCode = 1;
    await end();
  }
}

async function start(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-bench-'));
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  const root = serviceRoot(job);
  const template = await packagedTemplate(root, signal);
  const endpoint = QUEUE_ENDPOINT ?? (await startQueue(folder));
  const client = createLocalSqsClient(endpoint);
  cleanup.defer(() => client.destroy());
  const cluster = await openCluster(folder, { file: KUBECONFIG, signal });
  cleanup.defer(() => cluster.close());

  const packaged = readStack(parseTemplate(template), {
    region: localRegion,
    parameters: {
      ...(job === 'slow' ? { OutsideUrl: OUTSIDE_URL } : {}),
    },
  });
  const stack = withClustersTable(packaged, cluster.clustersTableFile);
  const queues = await createQueues(client, stack.queues, { endpoint, signal });
  const manifests = await readManifests(path.join(root, 'dist/kubernetes'));
  const prerequisites = manifests.filter(({ kind }) => ['Namespace', 'ConfigMap'].includes(kind));
  await applyManifests(cluster.client, prerequisites, { signal });

  const lambda = startLambda(
    {
      stack,
      queues,
      client,
      queueEndpoint: endpoint,
      taskRoot: root,
      // On AWS their logs go to CloudWatch; here they are read as well, but not written again.
      onEvent: (event) => {
        if (event.type === 'failed') log(`${event.function}: ${event.error.message}`);
      },
      onProcesses: () => undefined,
    },
    {
      schedules: false,
      concurrency: CONCURRENCY === undefined ? deployedConcurrency : Math.max(1, Math.floor(CONCURRENCY / 10)),
    },
  );
  cleanup.defer(() => lambda.stop());
  const watchers = startWatchers(
    {
      file: path.join(root, 'dist/watcher/index.mjs'),
      environment: {
        ...watcherEnvironment(cluster, endpoint, queues, stackNamePrefix(stack), ''),
        ...(setting === 'best' ? onlyClusterLimits : {}),
      },
      onEvent: (event) => log(event.type === 'line' ? event.text : `watcher ${event.pid} ${event.type}`),
    },
    1,
  );
  cleanup.defer(() => watchers.stop());
  await watchers.ready(signal);
}

async function startQueue(folder: string): Promise<string> {
  if (queue === 'fauxqs') {
    const server = await startServerProcess(new URL('../../test/support/sqs-program.ts', import.meta.url), signal);
    cleanup.defer(() => server.close());
    return server.url;
  }
  const children = createChildProcesses(folder);
  cleanup.defer(() => children.close());
  return await startElasticMq(children, folder, { region: localRegion, accountId: localAccountId });
}
