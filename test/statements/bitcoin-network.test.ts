// What BitcoinNetwork's workloads are (B1 to B6, B14, B15, B32), for any API server where the test alone says how a StatefulSet changes.
// bitcoin-network-wake.test.ts has the wake-ups, bitcoin-peers.test.ts nodes and peers; what holds for every controller is
// every-controller.test.ts.

import { describe, expect, it } from 'vitest';
import type { Kind } from '../../src/api/kind.ts';
import { BitcoinNetwork as networks } from '../../src/controllers/bitcoin-network/kind.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { Service, StatefulSet } from '../../src/kubernetes.ts';
import { useApiServer } from '../harness/api-server.ts';
import { createBitcoin, name, service, set } from './bitcoin.ts';
import { useSystem } from './harness.ts';

const secret = 'bitcoin-default-secret';
const children: readonly (readonly [string, Kind, string])[] = [
  ['Service', Service, service],
  ['StatefulSet', StatefulSet, set],
];

const { connect } = await useApiServer({ controllers: 'none' });
const system = useSystem(connect);
const bitcoin = createBitcoin(system);
const reconcile = async () => await system.reconcile(networks, name);
/** Makes the network, or changes it, and reconciles it. Returns its uid. */
async function made(spec: object = { nodes: 3 }): Promise<string> {
  const { metadata } = await bitcoin.network(name, spec);
  await reconcile();
  return metadata.uid ?? '';
}
const container = async () => (await bitcoin.set(name)).spec?.template.spec?.containers[0];
/** Says of the StatefulSet what its controller would. */
async function report(replicas: number, readyReplicas: number): Promise<void> {
  const { metadata } = await bitcoin.set(name);
  const status = { observedGeneration: metadata?.generation ?? 0, replicas, readyReplicas };
  await system.patch(StatefulSet, set, { status }, 'status');
}

describe('BitcoinNetwork: workloads', () => {
  it('B1, B2, B32: has a headless Service and a StatefulSet as upstream, both its own, and an Event for each', async () => {
    const uid = await made({ nodes: 3, secret });
    const [its, theirs] = [await bitcoin.service(name), await bitcoin.set(name)];
    const { apiVersion, kind } = networks;
    const owner = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
    for (const { metadata } of [its, theirs]) expect(metadata?.ownerReferences).toEqual([owner]);
    expect(its.spec).toMatchObject({ clusterIP: 'None', selector: { app: name }, type: 'ClusterIP' });
    expect(its.spec).not.toHaveProperty('ports');
    expect(theirs.spec).toMatchObject({
      replicas: 3,
      serviceName: service,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } } },
    });
    const { containers, volumes } = theirs.spec?.template.spec ?? {};
    expect(volumes).toBeUndefined();
    expect(containers).toEqual([
      expect.objectContaining({
        name: 'my-network-sts-ctr',
        image: 'christianb93/bitcoind:v1.0',
        imagePullPolicy: 'IfNotPresent',
        readinessProbe: expect.objectContaining({
          exec: { command: ['/usr/local/bin/bitcoin-cli', '-regtest', '-conf=/bitcoin.conf', 'getnetworkinfo'] },
          initialDelaySeconds: 5,
          periodSeconds: 5,
        }),
        envFrom: [{ secretRef: { name: secret, optional: true } }],
      }),
    ]);
    expect(containers?.[0]).not.toHaveProperty('ports');
    expect(await system.events()).toEqual(
      ['headless service', 'stateful set'].map(
        (what) => `1 x Normal Created: Created ${what} for bitcoin network ${name}`,
      ),
    );
    expect((await system.read(networks, name)).status).toMatchObject({ observedGeneration: 1 });
  });

  it('B2, B3, B32: a secret that is named later is so on the nodes too, without an Event; without one, or with "", they have no variables', async () => {
    await made();
    expect(await container()).not.toHaveProperty('envFrom');
    for (const named of [secret, 'another']) {
      await made({ nodes: 3, secret: named });
      expect(await container()).toMatchObject({ envFrom: [{ secretRef: { name: named, optional: true } }] });
    }
    await made({ nodes: 3, secret: '' });
    expect(await container()).not.toHaveProperty('envFrom');
    expect(await system.events('Scaled')).toEqual([]);
  });

  it.each(children)('B4: where the %s alone is missing, it alone is made', async (_, kind, child) => {
    await made();
    const kept = children.filter(([, other]) => other !== kind);
    const before = await Promise.all(kept.map(async ([, other, one]) => await system.read(other, one)));
    await system.delete(kind, child);
    await expect.poll(async () => await system.get(kind, child)).toBeUndefined();
    await reconcile();
    expect(await system.get(kind, child)).toBeDefined();
    expect(await Promise.all(kept.map(async ([, other, one]) => await system.read(other, one)))).toEqual(before);
  });

  it('B6, V4: is Ready when all nodes are, by a report of the present spec and no other', async () => {
    await made();
    expect((await system.read(networks, name)).status).toMatchObject({ replicas: 0, readyNodes: 0 });
    expect(await bitcoin.condition(name, 'Ready')).toMatchObject({ status: 'False', reason: 'NotAllReady' });
    await report(3, 2);
    await reconcile();
    expect(await bitcoin.condition(name, 'NodesReady')).toMatchObject({
      status: 'False',
      message: `${set}: 2 of 3 replicas are ready`,
    });
    await report(3, 3);
    await reconcile();
    expect((await system.read(networks, name)).status).toMatchObject({ replicas: 3, readyNodes: 3 });
    expect(await bitcoin.condition(name, 'Ready')).toMatchObject({ status: 'True' });
    await made({ nodes: 3, secret });
    expect(await bitcoin.condition(name, 'Ready')).toMatchObject({ status: 'Unknown', reason: 'OutOfDate' });
  });

  it('B14, B15, B15a: the StatefulSet follows a scale up, down and to nothing, with one Event each', async () => {
    await made();
    const scales = [4, 2, 0];
    for (const nodes of scales) {
      await made({ nodes });
      await reconcile();
      expect((await bitcoin.set(name)).spec?.replicas).toBe(nodes);
    }
    const adjusted = scales.map((nodes) => `1 x Normal Scaled: Adjusting number of replicas to ${nodes}`);
    expect(await system.events('Scaled')).toEqual(adjusted.sort());
    expect(await system.events('Created')).toEqual([expect.stringMatching(/^1 x /), expect.stringMatching(/^1 x /)]);
  });

  it('B14: is scaled by its scale subresource, which shows how many pods there are', async () => {
    await made();
    await report(3, 1);
    await reconcile();
    const path = `${objectPath(networks, { name, namespace: system.namespace })}/scale`;
    const { body } = await system.client.request({ method: 'GET', path });
    expect(body).toMatchObject({ kind: 'Scale', spec: { replicas: 3 }, status: { replicas: 3 } });
    const contentType = 'application/merge-patch+json';
    await system.client.request({ method: 'PATCH', path, contentType, body: { spec: { replicas: 5 } } });
    await reconcile();
    expect((await bitcoin.set(name)).spec?.replicas).toBe(5);
  });

  it('B21: a Service of that name that is somebody else’s is reported, and the StatefulSet is made', async () => {
    const spec = { clusterIP: 'None', selector: { app: 'else' } };
    await system.put(Service, service, { spec });
    await made();
    expect(await bitcoin.condition(name, 'ServiceReady')).toMatchObject({ status: 'False', reason: 'NotOwned' });
    expect((await bitcoin.set(name)).spec?.replicas).toBe(3);
  });

  it('B32: what the API server refuses is one Warning however often it is tried', async () => {
    system.forbid(({ method, path }) => method === 'PATCH' && path.includes('/statefulsets/'));
    await made();
    await system.pass(120);
    expect(await system.events('ErrChildRefused')).toEqual([expect.stringMatching(/^1 x Warning/)]);
    expect(await bitcoin.condition(name, 'Ready')).toMatchObject({ status: 'False', reason: 'ChildRefused' });
    system.revive();
    await system.pass(600);
    expect(await system.get(StatefulSet, set)).toBeDefined();
  });
});
