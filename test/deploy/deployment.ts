// A deployment in which only the Lambda service itself is ours: the packaged template's queues on ElasticMQ, its
// clusters table in S3 on moto, its functions in AWS's own runtime with a role's credentials each; and
// clusters, which are real control planes with the watcher's manifests, and authenticate functions as EKS does, with
// tokens and access entries.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from '@outrigger/cli/commands/build';
import { createQueues } from '@outrigger/cli/dev/lambda/queues';
import { readStack } from '@outrigger/cli/dev/lambda/stack';
import { parseTemplate } from '@outrigger/cli/dev/lambda/template';
import { stackNamePrefix, withClustersTable } from '@outrigger/cli/dev/local-stack';
import { createLocalSqsClient } from '@outrigger/cli/dev/sqs-server';
import { simulatorParameters, startSimulators } from '@outrigger/cli/simulators/registry';
import { registry } from '../../src/controllers/registry.ts';
import { accessEntries } from '../../src/generate/rbac/access-entries.ts';
import { buildArtifacts } from '../../tools/artifacts.ts';
import { createChildProcesses } from '../../tools/control-plane/child-processes.ts';
import { createKubectl, type Kubectl } from '../cluster/kubectl.ts';
import { startTokenWebhook } from '../cluster/token-webhook.ts';
import { type InstallableCluster, openClusterWithQueues } from '../cluster/watcher-cluster.ts';
import { roleIdentity } from '../clusters/auth/eks-authenticator.ts';
import { messagesOn } from '../support/messages-on.ts';
import { startElasticMq } from './elasticmq.ts';
import { startEmulatedAws } from './emulated-aws.ts';
import { type EmulatedLambda, startEmulatedLambda } from './emulated-lambda.ts';
import { changeEntries, createTableBucket } from './emulated-table.ts';

/** A cluster of the deployment, with an entry in its table. */
export type DeployedCluster = InstallableCluster & {
  /** The kubectl of a user, in namespace `default`. */
  readonly user: Kubectl;
  /** Rewrites its entry. */
  enter(fields?: { readonly decommissioning?: boolean }): Promise<void>;
  /** Removes its entry. */
  remove(): Promise<void>;
};

/** The running deployment. */
export type Deployment = AsyncDisposable & {
  readonly lambda: EmulatedLambda;
  /**
   * Starts a cluster, applies the manifests, adds it to the table, and runs the watchers; resolves when its watchers
   * are ready.
   */
  add(name: string): Promise<DeployedCluster>;
  /** The number of messages of a queue, including those in flight and delayed: `foo.fifo`. */
  depth(queue: string): Promise<number>;
  /** The dead-letter queues. */
  readonly deadLetterQueues: readonly string[];
  /** The ARN of a function's role. */
  roleOf(name: string): string;
};

const root = path.resolve(import.meta.dirname, '../..');
/** The region and account in the watcher's overlay. */
const location = { region: 'eu-central-1', accountId: '123456789012' } as const;
const scheduleSeconds = 20;
/** The endpoint of every AWS service without an emulator, so that an unexpected call never reaches a real account. */
const unreachableEndpoint = 'http://127.0.0.1:9';
/** Clients require credentials; the emulators do not check them. */
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

/** Deploys; clusters are added later. Cleans up if the start fails. */
export async function openDeployment(signal: AbortSignal): Promise<Deployment> {
  await using cleanup = new AsyncDisposableStack();
  const template = await buildArtifacts(build, root, signal);
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-deployment-'));
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  const children = createChildProcesses(folder);
  cleanup.defer(() => children.close());
  const [queueEndpoint, aws] = await Promise.all([
    startElasticMq(children, folder, location),
    startEmulatedAws(children),
  ]);
  const simulators = await startSimulators(cleanup);
  const packaged = readStack(parseTemplate(template), {
    ...location,
    parameters: {
      [simulatorParameters.plant]: simulators.plant.url,
      [simulatorParameters.pantry]: simulators.pantry.url,
    },
  });
  const bucket = { aws, region: location.region, credentials };
  const stack = withClustersTable(packaged, await createTableBucket(bucket));
  const client = createLocalSqsClient(queueEndpoint);
  cleanup.defer(() => client.destroy());
  const queues = await createQueues(client, stack.queues, { endpoint: queueEndpoint, signal });
  const prefix = stackNamePrefix(stack);
  const urlOf = (queue: string) => queues.find(({ name }) => name === `${prefix}${queue}`)?.url ?? queue;
  const urlPrefix = urlOf('timers').slice(0, -'timers'.length);

  const identities = new Map(stack.functions.map(({ name }) => [name, roleIdentity(name, location.accountId)]));
  const environment = (name: string) => {
    const { accessKeyId = '', secretAccessKey = '', sessionToken = '' } = identities.get(name) ?? {};
    return {
      // ElasticMQ gives every sender the same id.
      SENDER_CHECK: 'off',
      RESYNC_SCHEDULE_SECONDS: String(scheduleSeconds),
      AWS_REGION: location.region,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
      AWS_ENDPOINT_URL: unreachableEndpoint,
      AWS_ENDPOINT_URL_SQS: queueEndpoint,
      AWS_ENDPOINT_URL_S3: aws,
    };
  };
  const lambda = await startEmulatedLambda({ stack, queues, client, environment, taskRoot: root }, location);
  cleanup.use(lambda);
  lambda.feed({ scheduleSeconds });

  // The access entries of each cluster in EKS: one for every function's role, as in the registry.
  const roleOf = (name: string) => roleIdentity(`${prefix}${name}`, location.accountId).arn;
  const groups = new Map(accessEntries(registry).map((entry) => [roleOf(entry.function), entry.group]));
  const resources = cleanup.move();
  return {
    lambda,
    roleOf,
    deadLetterQueues: queues.map(({ name }) => name.slice(prefix.length)).filter((name) => name.includes('-dlq')),
    depth: messagesOn(client, urlPrefix),
    async add(name) {
      const eks = { cluster: name, region: location.region, identities: [...identities.values()], groups };
      const webhook = await startTokenWebhook(eks);
      resources.defer(() => webhook.close());
      const { apiServerFlags } = webhook;
      const surroundings = { name, queues: { endpoint: queueEndpoint, urlPrefix }, apiServerFlags, runsAll: true };
      const cluster = await openClusterWithQueues(surroundings);
      resources.defer(() => cluster.close());
      const user = await createKubectl(cluster.plane.kubectlPath, cluster.plane.kubeconfig(), 'default');
      resources.defer(() => user.close());
      const enter: DeployedCluster['enter'] = async (fields = {}) => {
        const access = { type: 'eks', cluster: name, region: location.region };
        const entry = { server: cluster.plane.url, ca: cluster.plane.ca, access, ...fields };
        await changeEntries(bucket, (entries) => new Map([...entries, [name, entry]]));
      };
      // The roles come before the table, or the resync would be denied; the table before the watcher, or its keys would
      // become dead letters.
      await cluster.apply();
      await enter();
      await cluster.run();
      const remove = async () =>
        await changeEntries(bucket, (entries) => new Map([...entries].filter(([one]) => one !== name)));
      return { ...cluster, user, enter, remove };
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
