// The peer written with @kubernetes/client-node: an informer of each kind, as in its example
// (https://github.com/kubernetes-client/javascript/blob/main/examples/typescript/informer/informer.ts), and a queue of
// keys, which the client does not include. It has no settings.
import type { V1Deployment } from '@kubernetes/client-node';
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { type Cluster, type Custom, connect, type Resource } from './cluster.ts';
import { createQueue } from './queue.ts';

const [job = ''] = process.argv.slice(2);
const jobs: Readonly<Record<string, (cluster: Cluster) => Promise<void>>> = { foo, ping, slow };
const start = jobs[job];
if (start === undefined) throw new Error(`unknown job ${job}`);

const stopping = new AbortController();
const cluster = connect();
process.on('SIGTERM', () => {
  stopping.abort();
  void cluster.stop().finally(() => process.exit(0));
});
await start(cluster);
process.stdout.write('ready\n');

type Numbered = Custom<{ value: number }, { observed?: number }>;
type Foo = Custom<{ deploymentName: string; replicas: number }, { availableReplicas?: number }>;

async function ping(cluster: Cluster): Promise<void> {
  await copyValue(cluster, 'pings', async () => {});
}

async function slow(cluster: Cluster): Promise<void> {
  await copyValue(cluster, 'slows', async ({ metadata }) => {
    const response = await fetch(`${process.env.OUTSIDE_URL}/slow/${metadata?.namespace}/${metadata?.name}`);
    await response.text();
    if (!response.ok) throw new Error(`external service: ${response.status}`);
  });
}

/** Watches a kind whose status copies its spec's value, after `before`. */
async function copyValue(cluster: Cluster, plural: string, before: (object: Numbered) => Promise<void>): Promise<void> {
  const resource: Resource = { group: 'bench.example.com', version: 'v1', plural };
  const queue = queueOf(async (key) => {
    const { name, namespace } = splitKey(key);
    const object = (await known).get(name, namespace);
    if (object === undefined || object.status?.observed === object.spec.value) return;
    await before(object);
    await cluster.writeStatus(resource, object, { observed: object.spec.value });
  });
  const known = cluster.follow<Numbered>(resource, (object) => queue(keyOf(object)));
  await known;
}

/** Watches Foos and Deployments; the job is that of https://github.com/kubernetes/sample-controller. */
async function foo(cluster: Cluster): Promise<void> {
  const resource: Resource = { group: 'samples.example.com', version: 'v1', plural: 'foos' };
  const queue = queueOf(async (key) => {
    const { name, namespace } = splitKey(key);
    const object = (await foos).get(name, namespace);
    if (object === undefined) return;
    const { deploymentName, replicas } = object.spec;
    let deployment = (await deployments).get(deploymentName, namespace);
    if (deployment === undefined) {
      deployment = await cluster.apps.createNamespacedDeployment({ namespace, body: deploymentOf(object) });
    } else if (deployment.spec?.replicas !== replicas) {
      deployment = await cluster.apps.patchNamespacedDeployment(
        { name: deploymentName, namespace, body: { spec: { replicas } } },
        setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
      );
    }
    const availableReplicas = deployment.status?.availableReplicas ?? 0;
    if (object.status?.availableReplicas === availableReplicas) return;
    await cluster.writeStatus(resource, object, { availableReplicas });
  });
  const foos = cluster.follow<Foo>(resource, (object) => queue(keyOf(object)));
  const deployments = cluster.followPath<V1Deployment>(
    '/apis/apps/v1/deployments',
    () => cluster.apps.listDeploymentForAllNamespaces(),
    ({ metadata }) => {
      const owner = metadata?.ownerReferences?.find(({ controller, kind }) => controller === true && kind === 'Foo');
      if (owner !== undefined) queue(`${metadata?.namespace}/${owner.name}`);
    },
  );
  await Promise.all([foos, deployments]);
}

function deploymentOf({ metadata, spec }: Foo): V1Deployment {
  const { name = '', uid = '' } = metadata ?? {};
  const labels = { app: 'nginx', controller: name };
  const owner = { apiVersion: 'samples.example.com/v1', kind: 'Foo', name, uid };
  return {
    metadata: {
      name: spec.deploymentName,
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: {
      replicas: spec.replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx:latest' }] } },
    },
  };
}

function queueOf(reconcile: (key: string) => Promise<void>): (key: string) => void {
  return createQueue(reconcile, (error) => process.stderr.write(`reconcile: ${String(error)}\n`), stopping.signal);
}

function keyOf({ metadata }: Numbered | Foo): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}

function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
}
