// The manifests on a real control plane, and the watchers that they start: the image's command, the Deployment's
// environment, the service account's token. Excluded: outages (watcher-outage.test.ts), and the watcher's handling of
// changes (watcher-restart.test.ts).
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkpointName, systemNamespace, watcherAccount } from '../../src/core/names.ts';
import { parseWatchList } from '../../src/core/watch-list.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import { sampleWatchList, writeBase } from '../support/sample-manifests.ts';
import { openWatcherCluster, type WatcherCluster } from './watcher-cluster.ts';

const user = `system:serviceaccount:${systemNamespace}:${watcherAccount}`;
const timeout = 180_000;
let cluster: WatcherCluster;
let base: string;

beforeAll(async () => {
  cluster = await openWatcherCluster();
  base = await writeBase();
}, timeout);
afterAll(async () => await cluster.close());

describe('the manifests of the watcher', { timeout }, () => {
  // Server-side the other tests, and hub.test.ts, apply them.
  it.each([
    {},
    { roleArn: 'arn:aws:iam::123456789012:role/watcher', replicas: 3, memory: '1Gi', settings: { CLUSTER: 'eu' } },
    { fleet: true },
  ])('the manifests of %j are accepted by kubectl apply -k without a warning', async (options) => {
    // A dry run creates no namespace for the objects in it.
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } };
    await cluster.kubectl.output(['apply', '-f', '-'], { manifest: namespace });
    const { status, stderr } = await cluster.kubectl.run(['apply', '--dry-run=server', '-k', await writeBase(options)]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('kubectl diff reports no difference after an apply, and a written checkpoint is kept', async () => {
    await cluster.kubectl.output(['apply', '--server-side', '--force-conflicts', '-k', base]);
    const written = { checkpoint: 'written' };
    await cluster.kubectl.output([
      'patch',
      'configmap',
      checkpointName,
      '--type=merge',
      '-p',
      JSON.stringify({ data: written }),
    ]);
    const { status, stdout } = await cluster.kubectl.run(['diff', '--server-side', '-k', base]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    await cluster.kubectl.output(['apply', '--server-side', '-k', base]);
    const checkpoint = await cluster.kubectl.output(['get', 'configmap', checkpointName, '-o', 'jsonpath={.data}']);
    expect(JSON.parse(checkpoint)).toEqual(written);
    await cluster.kubectl.output(['delete', 'deployment', 'outrigger-watcher', '--cascade=foreground']);
    await cluster.kubectl.output(['patch', 'configmap', checkpointName, '--type=merge', '-p', '{"data":null}']);
  });

  it('the watcher’s namespace rejects pods that are less restricted than the watcher’s', async () => {
    const spec = { containers: [{ name: 'main', image: 'main' }] };
    const manifest = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'other' }, spec };
    const { stderr } = await cluster.kubectl.run(['create', '-f', '-'], { manifest });
    expect(stderr).toContain('violates PodSecurity "restricted');
  });
});

describe('the deployed watchers', { timeout }, () => {
  let client: KubeClient;
  beforeAll(async () => {
    await cluster.apply();
    await cluster.run();
    const [watcher] = cluster.running();
    const token = await readFile(
      join(watcher?.mounts['/var/run/secrets/kubernetes.io/serviceaccount'] ?? '', 'token'),
      'utf8',
    );
    client = createClient({ ...cluster.plane.connection(), token: async () => token });
  }, timeout);
  afterAll(() => client.close());

  it('two watchers receive a change, which becomes one message', async () => {
    const watchers = cluster.running();
    expect(watchers.length).toBe(2);
    await cluster.applyTank('north');
    const accepted = async (ip: string): Promise<boolean> =>
      /forwarded_total\{cluster="test",controller="water-tank",cause="change"\} 1/.test(
        await (await fetch(`http://${ip}:8080/metrics`)).text(),
      );
    for (const { ip } of watchers) await expect.poll(() => accepted(ip), { timeout: 30_000 }).toBe(true);
    const messages = await cluster.queues.drain('water-tank.fifo');
    expect(messages.map(({ Body = '' }) => parseMessage(Body))).toMatchObject([
      { cluster: 'test', controller: 'water-tank', namespace: 'default', name: 'north', cause: { type: 'change' } },
    ]);
  });

  it('the watchers send as the role of their service account', async () => {
    const path = 'jsonpath={.metadata.annotations.eks\\.amazonaws\\.com/role-arn}';
    const role = await cluster.kubectl.output(['get', 'serviceaccount', watcherAccount, '-o', path]);
    expect(cluster.sts.issued.length).toBeGreaterThanOrEqual(2);
    expect(cluster.sts.issued).toEqual(cluster.sts.issued.map(() => ({ role, user })));
  });

  it('the watchers were denied nothing, and requested only lists and watches of the watch list, and their checkpoint', async () => {
    const requested = (await cluster.plane.auditEvents()).filter((event) => event.user.username === user);
    expect(requested.filter(({ responseStatus }) => [401, 403].includes(responseStatus?.code ?? 0))).toEqual([]);
    const { resources } = parseWatchList(sampleWatchList);
    const allowed = new Set([
      ...resources.flatMap(({ group, plural }) => [`list ${plural}.${group}`, `watch ${plural}.${group}`]),
      ...['get namespaces.', 'get configmaps.', 'patch configmaps.', 'get /version'],
    ]);
    const did = requested.map(({ verb, requestURI, objectRef }) =>
      objectRef === undefined ? `${verb} ${requestURI}` : `${verb} ${objectRef.resource}.${objectRef.apiGroup ?? ''}`,
    );
    expect(did.filter((one) => !allowed.has(one))).toEqual([]);
    for (const { group, plural } of resources) expect(did).toContain(`watch ${plural}.${group}`);
  });

  it('the watchers have a priority level of their own at the API server', async () => {
    const uid = await cluster.kubectl.output(['get', 'flowschema', 'outrigger', '-o', 'jsonpath={.metadata.uid}']);
    const { headers } = await client.request({ method: 'GET', path: '/apis/plant.example.com/v1/watertanks' });
    expect(headers['x-kubernetes-pf-flowschema-uid']).toBe(uid);
  });

  it('the watchers run as the user of the image, which is not root', async () => {
    const path =
      'jsonpath={.spec.template.spec.securityContext.runAsUser}:{.spec.template.spec.securityContext.runAsGroup}';
    const declared = await cluster.kubectl.output(['get', 'deployment', 'outrigger-watcher', '-o', path]);
    expect(declared).toBe(cluster.programs.image.user);
    expect(declared).not.toMatch(/^(0|root|:)/);
  });

  it('the watchers are evicted one at a time, and the other one continues', async () => {
    const evict = async (name: string) => {
      const path = `/api/v1/namespaces/${systemNamespace}/pods/${name}/eviction`;
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
      return await cluster.client.request({ method: 'POST', path, body }).then(
        ({ status }) => status,
        (error: unknown) => String(error),
      );
    };
    const budget = ['get', 'poddisruptionbudget', 'outrigger-watcher', '-o', 'jsonpath={.status.disruptionsAllowed}'];
    await expect.poll(() => cluster.kubectl.output(budget), { timeout: 60_000, interval: 500 }).toBe('1');
    const [first, second] = cluster.running();
    expect(await evict(first?.pod ?? '')).toBe(201);
    expect(await evict(second?.pod ?? '')).toContain('disruption budget');
    await cluster.applyTank('drained');
    expect(await cluster.tanksSeen(['drained'])).toEqual(['drained']);
    await cluster.rolledOut();
    expect(first?.ended()).toBe('exit status 0');
  });

  it('a change of the settings rolls the watchers, each exits with 0, and no change is lost', async () => {
    const before = cluster.running();
    const names = Array.from({ length: 40 }, (_, number) => `rolled-${number}`);
    await cluster.apply({ LOG_LEVEL: 'DEBUG' });
    const rolled = cluster.rolledOut();
    for (const name of names) await cluster.applyTank(name);
    await rolled;
    await expect
      .poll(() => before.map(({ ended }) => ended()), { timeout: 60_000 })
      .toEqual(before.map(() => 'exit status 0'));
    await cluster.applyTank('last');
    expect(await cluster.tanksSeen([...names, 'last'])).toEqual([...names, 'last'].sort());
    expect(cluster.running().length).toBe(2);
    expect(cluster.errors.filter((line) => /probes failed|is restarted/.test(line))).toEqual([]);
  });

  it('the watchers leave nothing behind when the manifests are deleted', async () => {
    await cluster.kubectl.output(['delete', '-k', base, '--ignore-not-found', '--timeout=150s']);
    const kinds = 'clusterroles,clusterrolebindings,flowschemas,prioritylevelconfigurations,crds,namespaces';
    const remaining = await cluster.kubectl.output(['get', kinds, '-o', 'name']);
    expect(remaining.split('\n').filter((name) => /outrigger|example\.com/.test(name))).toEqual([]);
    await expect.poll(() => cluster.running().length, { timeout: 60_000 }).toBe(0);
  });
});
