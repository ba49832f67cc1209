// A deployment with nothing of ours emulated but the Lambda service: the packaged template's queues on ElasticMQ, its clusters table in
// Systems Manager on moto, its functions in AWS's own runtime with a role's credentials each; and clusters, which are real control planes
// with the watcher's manifests applied, and let functions in as EKS does, by tokens and access entries.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { DeleteParameterCommand, PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { build } from '../../src/cli/build.ts';
import { registry } from '../../src/controllers/registry.ts';
import { accessEntries } from '../../src/generate/rbac/access-entries.ts';
import { makeArtifacts } from '../../src/local/artifacts.ts';
import { createQueues } from '../../src/dev/lambda/queues.ts';
import { readStack } from '../../src/dev/lambda/stack.ts';
import { parseTemplate } from '../../src/dev/lambda/template.ts';
import { namePrefix } from '../../src/dev/local-stack.ts';
import { createLocalSqsClient } from '../../src/dev/sqs-server.ts';
import { startWorlds, worldParameters } from '../../src/local/worlds/sample-worlds.ts';
import { createKubectl, type Kubectl } from '../cluster/kubectl.ts';
import { startTokenWebhook } from '../cluster/token-webhook.ts';
import { type InstallableCluster, openClusterBeside } from '../cluster/watcher-cluster.ts';
import { createEksAuthenticator, type KnownIdentity } from '../clusters/auth/eks-authenticator.ts';
import { createChildProcesses } from '../../tools/control-plane/child-processes.ts';
import { startElasticMq } from './elasticmq.ts';
import { startEmulatedAws } from './emulated-aws.ts';
import { type EmulatedLambda, startEmulatedLambda } from './emulated-lambda.ts';

/** A cluster of the deployment, entered into its table. */
export type DeployedCluster = InstallableCluster & {
  /** A user's, in namespace `default`. */
  readonly user: Kubectl;
  /** Writes its entry anew. */
  enter(fields?: { readonly leaving?: boolean }): Promise<void>;
  /** Takes its entry away. */
  remove(): Promise<void>;
};

/** What runs. */
export type Deployment = AsyncDisposable & {
  readonly lambda: EmulatedLambda;
  /** Starts a cluster, applies the manifests, enters it into the table, and runs the watchers; resolves when its watchers are ready. */
  add(name: string): Promise<DeployedCluster>;
  /** How many messages a queue has, those in hand and delayed ones included: `foo.fifo`. */
  depth(queue: string): Promise<number>;
  /** The queues of dead letters. */
  readonly deadLetterQueues: readonly string[];
  /** The ARN of a function's role. */
  roleOf(name: string): string;
};

const root = path.resolve(import.meta.dirname, '../..');
/** Where the watcher's overlay says that it is. */
const place = { region: 'eu-central-1', accountId: '123456789012' } as const;
const stage = 'dev';
const tickSeconds = 20;
/** A call of AWS that nobody foresaw goes here, and not to somebody's account. */
const nowhere = 'http://127.0.0.1:9';
/** Clients ask for some; the emulators look at none. */
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

/** Deploys; clusters are added. When it cannot, nothing stays behind. */
export async function openDeployment(signal: AbortSignal): Promise<Deployment> {
  await using parts = new AsyncDisposableStack();
  const template = await makeArtifacts(build, root, signal);
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-deployment-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const children = createChildProcesses(folder);
  parts.defer(() => children.close());
  const [queueEndpoint, aws] = await Promise.all([startElasticMq(children, folder, place), startEmulatedAws(children)]);
  const worlds = await startWorlds(parts);
  const stack = readStack(parseTemplate(template), {
    ...place,
    parameters: {
      ResyncTickSeconds: String(tickSeconds),
      [worldParameters.plant]: worlds.plant.url,
      [worldParameters.pantry]: worlds.pantry.url,
    },
  });
  const client = createLocalSqsClient(queueEndpoint);
  parts.defer(() => client.destroy());
  const queues = await createQueues(client, stack.queues, { endpoint: queueEndpoint, signal });
  const prefix = namePrefix(stack);
  const urlOf = (queue: string) => queues.find(({ name }) => name === `${prefix}${queue}`)?.url ?? queue;
  const urlPrefix = urlOf('timers').slice(0, -'timers'.length);

  const identities = new Map(stack.functions.map(({ name }) => [name, identityOf(name)]));
  const environment = (name: string) => {
    const { accessKeyId = '', secretAccessKey = '', sessionToken = '' } = identities.get(name) ?? {};
    return {
      AWS_REGION: place.region,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
      AWS_ENDPOINT_URL: nowhere,
      AWS_ENDPOINT_URL_SQS: queueEndpoint,
      AWS_ENDPOINT_URL_SSM: aws,
    };
  };
  const lambda = await startEmulatedLambda({ stack, queues, client, environment, taskRoot: root }, place);
  parts.use(lambda);
  lambda.feed({ tickSeconds });
  const ssm = new SSMClient({ region: place.region, endpoint: aws, credentials });
  parts.defer(() => ssm.destroy());

  // What EKS holds for each cluster: the access entry of every function's role, as the registry says.
  const roleOf = (name: string) => identityOf(`${prefix}${name}`).arn;
  const groups = new Map(accessEntries(registry).map((entry) => [roleOf(entry.function), entry.group]));
  const whole = parts.move();
  return {
    ...{ lambda, roleOf },
    deadLetterQueues: queues.map(({ name }) => name.slice(prefix.length)).filter((name) => name.includes('-dlq')),
    depth: (queue) => depthOf(client, urlOf(queue)),
    async add(name) {
      const authenticate = createEksAuthenticator({
        cluster: name,
        hosts: [`sts.${place.region}.amazonaws.com`],
        identities: [...identities.values()],
        now: () => new Date(),
      });
      const webhook = await startTokenWebhook((token) => {
        const { arn } = authenticate(token);
        const group = groups.get(arn);
        if (group === undefined) throw new Error(`${arn} has no access entry`);
        return { username: arn, groups: [group] };
      });
      whole.defer(() => webhook.close());
      const { apiServerFlags } = webhook;
      const surroundings = { name, queues: { endpoint: queueEndpoint, urlPrefix }, apiServerFlags, runsAll: true };
      const cluster = await openClusterBeside(surroundings);
      whole.defer(() => cluster.close());
      const user = await createKubectl(cluster.plane.kubectlPath, cluster.plane.kubeconfig(), 'default');
      whole.defer(() => user.close());
      const Name = `/outrigger/${stage}/clusters/${name}`;
      const enter: DeployedCluster['enter'] = async (fields = {}) => {
        const access = { type: 'eks', cluster: name, region: place.region };
        const Value = JSON.stringify({ server: cluster.plane.url, ca: cluster.plane.ca, access, ...fields });
        await ssm.send(new PutParameterCommand({ Name, Value, Type: 'SecureString', Overwrite: true }));
      };
      // The roles before the table, or the resync would be refused; the table before a watcher runs, or its keys would be dead letters.
      await cluster.apply();
      await enter();
      await cluster.run();
      const remove = async () => void (await ssm.send(new DeleteParameterCommand({ Name })));
      return { ...cluster, user, enter, remove };
    },
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  };
}

/** The credentials that Lambda would give a function of its role. */
function identityOf(name: string): KnownIdentity {
  return {
    accessKeyId: `ASIA${name.replaceAll('-', '').toUpperCase()}`,
    secretAccessKey: `secret of ${name}`,
    sessionToken: `session+of/${name}==`,
    arn: `arn:aws:iam::${place.accountId}:role/${name}`,
  };
}

async function depthOf(client: SQSClient, QueueUrl: string): Promise<number> {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl,
      AttributeNames: [
        'ApproximateNumberOfMessages',
        'ApproximateNumberOfMessagesNotVisible',
        'ApproximateNumberOfMessagesDelayed',
      ],
    }),
  );
  return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
}
