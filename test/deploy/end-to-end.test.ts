// From a user's kubectl to a status, in a deployment in which only the Lambda service itself is ours: real control
// planes, ElasticMQ, the watchers of the manifests, the bundles in AWS's runtime with the deployed environment, and EKS
// authentication. Clusters are added and removed at run time. Excluded: an unreachable or slow cluster (test/fleet),
// the watchers' permissions (test/cluster/watcher-deployment.test.ts).
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Foo } from '../../src/controllers/foo.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { readManifests } from '../../src/testing/manifests.ts';
import { type DeployedCluster, type Deployment, openDeployment } from './deployment.ts';

const startMilliseconds = 420_000;
const timeout = 240_000;
const poll = { timeout: timeout - 20_000, interval: 250 };
const names = { one: 'prod-1', two: 'prod-2', three: 'prod-3' };

const cleanup = new AsyncDisposableStack();
let deployment: Deployment;
let one: DeployedCluster;
let two: DeployedCluster;

beforeAll(async () => {
  deployment = cleanup.use(await openDeployment(AbortSignal.timeout(startMilliseconds)));
  [one, two] = await Promise.all([deployment.add(names.one), deployment.add(names.two)]);
}, startMilliseconds);
afterEach(async () => {
  for (const queue of deployment.deadLetterQueues) expect([queue, await deployment.depth(queue)]).toEqual([queue, 0]);
});
afterAll(async () => await cleanup.disposeAsync(), 60_000);

const apply = async (cluster: DeployedCluster, name: string, replicas: number): Promise<void> => {
  const [sample] = await readManifests('infra/kubernetes/samples/foo.yaml');
  const spec = { deploymentName: `${name}-nginx`, replicas };
  await cluster.user.output(['apply', '-f', '-'], {
    manifest: { ...sample?.object, metadata: { name, namespace: 'default' }, spec },
  });
};
const statusOf = async (cluster: DeployedCluster, name: string): Promise<unknown> =>
  (await getObject(cluster.client, Foo, { namespace: 'default', name }))?.status;
const ready = (generation: number, replicas: number) => ({
  observedGeneration: generation,
  availableReplicas: replicas,
  conditions: expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'True' })]),
});
const untilReady = async (cluster: DeployedCluster, name: string, generation: number, replicas: number) =>
  await expect.poll(() => statusOf(cluster, name), poll).toMatchObject(ready(generation, replicas));
/** How often a function was loaded. */
const loaded = async () => (await deployment.lambda.byQueue('foo').log()).split('INIT START').length - 1;

describe('a deployment end to end', { timeout }, () => {
  it('a deployment writes the status of a change, and of the next one', async () => {
    await apply(one, 'first', 1);
    await untilReady(one, 'first', 1, 1);
    await apply(one, 'first', 3);
    await untilReady(one, 'first', 2, 3);
  });

  it('a deployment serves a second cluster with the same functions, and objects of one cluster do not affect the other', async () => {
    await apply(two, 'first', 2);
    await untilReady(two, 'first', 1, 2);
    expect(await statusOf(one, 'first')).toMatchObject(ready(2, 3));
    expect(await loaded()).toBe(1);
  });

  it('functions access clusters as their roles, each with its access entry, and are denied nothing', async () => {
    const requests = (await one.plane.auditEvents()).filter(({ user }) => user.username.startsWith('arn:aws:iam:'));
    expect(requests.filter(({ responseStatus }) => [401, 403].includes(responseStatus?.code ?? 0))).toEqual([]);
    const asFoo = requests.filter(({ user }) => user.username === deployment.roleOf('foo'));
    expect(
      asFoo.map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}/${objectRef?.subresource ?? ''}`),
    ).toEqual(expect.arrayContaining(['patch deployments/', 'patch foos/status', 'create events/']));
    const touched = requests.filter(({ objectRef }) => objectRef?.name === 'first' && objectRef.resource === 'foos');
    expect(new Set(touched.map(({ user }) => user.username))).toEqual(new Set([deployment.roleOf('foo')]));
  });

  it('a deployment serves a third cluster once it is in the table, without restarting a function', async () => {
    // Functions may cache for a minute that a cluster is not being decommissioned; another one is added meanwhile.
    await two.enter({ decommissioning: true });
    const three = await deployment.add(names.three);
    await apply(three, 'first', 1);
    await untilReady(three, 'first', 1, 1);
    expect(await loaded()).toBe(1);
  });

  it('a deployment deletes and counts the messages of a cluster that is decommissioned; after its removal nothing of it remains, and the others are served', async () => {
    let replicas = 2;
    const counted = async () => {
      replicas = (replicas % 9) + 1;
      await apply(two, 'first', replicas);
      return await deployment.lambda.byQueue('foo').log();
    };
    await expect.poll(counted, { ...poll, interval: 1_000 }).toMatch(/"DecommissioningClusterMessages":[1-9]/);
    const { generation } = (await getObject(two.client, Foo, { namespace: 'default', name: 'first' }))?.metadata ?? {};
    await apply(two, 'first', replicas === 1 ? 2 : 1);
    await two.kubectl.output(['delete', '-f', 'infra/kubernetes/watcher', '--timeout=60s']);
    await expect.poll(() => two.running().length, poll).toBe(0);
    for (const queue of ['foo.fifo', 'timers']) await expect.poll(() => deployment.depth(queue), poll).toBe(0);
    // The last change has no cluster any more.
    expect(await statusOf(two, 'first')).not.toMatchObject({ observedGeneration: (generation ?? 0) + 1 });

    await two.remove();
    await apply(one, 'first', 1);
    await untilReady(one, 'first', 3, 1);
    expect(await loaded()).toBe(1);
  });
});
