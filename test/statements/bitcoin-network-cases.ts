// What is asked of BitcoinNetwork's workloads (B1 to B6, B14 to B16, B19a to B21, B26, B27, B32), as cases for any API server where the
// test alone says how a StatefulSet fares. Who wakes whom is bitcoin-network-wake-cases.ts, what goes with a network
// bitcoin-network-cascade-cases.ts, nodes and peers bitcoin-peers-cases.ts.
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serviceKind as services, statefulSetKind as sets } from '../../src/controllers/bitcoin-network/children.ts';
import { bitcoinNetworkKind as networks } from '../../src/controllers/bitcoin-network/kind.ts';
import type { Kind } from '../../src/core/kind.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { objectPath } from '../../src/kube/path.ts';
import { createBitcoin } from './bitcoin.ts';
import { install, type System, startSystem } from './harness.ts';

const name = 'my-network';
const service = 'my-network-svc';
const set = 'my-network-sts';
const secret = 'bitcoin-default-secret';
const createdService = `1 x Normal Created: Created headless service for bitcoin network ${name}`;
const createdSet = `1 x Normal Created: Created stateful set for bitcoin network ${name}`;
const both: readonly (readonly [string, Kind, string, string])[] = [
  ['Service', services, service, 'ServiceReady'],
  ['StatefulSet', sets, set, 'NodesReady'],
];
/** Somebody else's of that name. */
const strangers: Readonly<Record<string, object>> = {
  Service: { clusterIP: 'None', selector: { app: 'other' } },
  StatefulSet: {
    replicas: 1,
    serviceName: 'other',
    selector: { matchLabels: { app: 'other' } },
    template: { metadata: { labels: { app: 'other' } }, spec: { containers: [{ name: 'c', image: 'other' }] } },
  },
};

/** Declares the statements. */
export function bitcoinNetworkCases(connect: () => Connection): void {
  let system: System;
  let bitcoin: ReturnType<typeof createBitcoin>;
  beforeAll(() => install(connect()));
  beforeEach(async () => {
    system = await startSystem(connect());
    bitcoin = createBitcoin(system);
  });
  afterEach(async ({ task }) => await system.end({ failed: task.result?.state === 'fail' }));

  const reconcile = async () => await system.reconcile(networks, name);
  const container = async () => (await bitcoin.set(name)).spec?.template.spec?.containers[0];
  const world = async () => [
    await system.read(networks, name),
    await system.read(services, service),
    await system.read(sets, set),
    ...(await bitcoin.events()),
  ];
  async function made(spec: object = { nodes: 3 }): Promise<string> {
    const { metadata } = await bitcoin.network(name, spec);
    await reconcile();
    return metadata.uid ?? '';
  }
  /** Says of the StatefulSet what its controller would. */
  async function report(replicas: number, readyReplicas: number): Promise<void> {
    const { metadata } = await bitcoin.set(name);
    const status = { observedGeneration: metadata?.generation ?? 0, replicas, readyReplicas };
    await system.patch(sets, set, { status }, 'status');
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
            exec: {
              command: ['/usr/local/bin/bitcoin-cli', '-regtest', '-conf=/bitcoin.conf', 'getnetworkinfo'],
            },
            initialDelaySeconds: 5,
            periodSeconds: 5,
          }),
          envFrom: [{ secretRef: { name: secret, optional: true } }],
        }),
      ]);
      for (const absent of ['ports', 'volumeMounts', 'securityContext', 'env']) {
        expect(containers?.[0]).not.toHaveProperty(absent);
      }
      expect(await bitcoin.events()).toEqual([createdService, createdSet]);
      expect((await system.read(networks, name)).status).toMatchObject({ observedGeneration: 1 });
    });

    it.each([
      ['absent', { nodes: 1 }],
      ['""', { nodes: 1, secret: '' }],
    ])('B3: with a secret that is %s the nodes have no variables at all', async (_, spec) => {
      await made(spec);
      expect(await container()).not.toHaveProperty('envFrom');
    });

    it('B2, B3: a secret that is named later, or no longer, is so on the nodes too', async () => {
      await made();
      await made({ nodes: 3, secret });
      expect(await container()).toMatchObject({ envFrom: [{ secretRef: { name: secret, optional: true } }] });
      await made();
      expect(await container()).not.toHaveProperty('envFrom');
    });

    it.each(both)('B4: where the %s alone is missing, it alone is made', async (_, kind, child) => {
      await made();
      const kept = both.filter(([, other]) => other !== kind);
      const before = await Promise.all(kept.map(async ([, other, one]) => await system.read(other, one)));
      await system.delete(kind, child);
      await expect.poll(async () => await system.get(kind, child)).toBeUndefined();
      await reconcile();
      expect(await system.get(kind, child)).toBeDefined();
      expect(await Promise.all(kept.map(async ([, other, one]) => await system.read(other, one)))).toEqual(before);
    });

    it.each([
      1, 2, 3, 4, 5, 6, 7,
    ])('B4: a function that dies after %i requests is finished by the next', async (lives) => {
      await bitcoin.network(name);
      let asked = 0;
      system.dieAt(() => {
        asked += 1;
        return asked > lives;
      });
      await reconcile();
      system.revive();
      await reconcile();
      expect((await bitcoin.service(name)).spec?.clusterIP).toBe('None');
      expect((await bitcoin.set(name)).metadata?.generation).toBe(1);
    });

    it('B5: when there is nothing to do, nothing is written and nothing is said', async () => {
      await made();
      await report(3, 3);
      await reconcile();
      const before = await world();
      system.requests.length = 0;
      await reconcile();
      expect(bitcoin.writes()).toEqual([]);
      expect(await world()).toEqual(before);
    });

    it('B6: without pods it is observed and not Ready', async () => {
      await made();
      const { status } = await system.read(networks, name);
      expect(status).toMatchObject({ observedGeneration: 1, replicas: 0, readyNodes: 0 });
      expect(await bitcoin.condition(name, 'Ready')).toMatchObject({ status: 'False', reason: 'NodesNotReady' });
    });

    it('B6, V4: is Ready when all nodes are, by a report of the present spec and no other', async () => {
      await made();
      await report(3, 2);
      await reconcile();
      expect(await bitcoin.condition(name, 'NodesReady')).toMatchObject({
        status: 'False',
        message: `${set}: 2 of 3 nodes are ready`,
      });
      await report(3, 3);
      await reconcile();
      expect((await system.read(networks, name)).status).toMatchObject({ replicas: 3, readyNodes: 3 });
      expect(await bitcoin.condition(name, 'Ready')).toMatchObject({ status: 'True' });
      await made({ nodes: 3, secret });
      expect(await bitcoin.condition(name, 'Ready')).toMatchObject({ status: 'Unknown', reason: 'OutOfDate' });
    });

    it.each([
      ['B14', 4],
      ['B15', 2],
      ['B15a', 0],
    ])('%s: scaled to %i, the StatefulSet follows, with one Event', async (_, nodes) => {
      await made();
      await made({ nodes });
      await reconcile();
      expect((await bitcoin.set(name)).spec?.replicas).toBe(nodes);
      expect(await bitcoin.events('Scaled')).toEqual([`1 x Normal Scaled: Adjusting number of replicas to ${nodes}`]);
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

    it('B16: replicas that somebody changed are changed back, with an Event', async () => {
      await made();
      await system.patch(sets, set, { spec: { replicas: 5 } });
      await reconcile();
      expect((await bitcoin.set(name)).spec?.replicas).toBe(3);
      expect(await bitcoin.events('Scaled')).toEqual(['1 x Normal Scaled: Adjusting number of replicas to 3']);
    });

    it('B16: image, labels and probe that somebody edited are put right', async () => {
      await made();
      const { template } = (await bitcoin.set(name)).spec ?? {};
      const [node] = template?.spec?.containers ?? [];
      const edited = { ...node, image: 'other', readinessProbe: { exec: { command: ['true'] }, periodSeconds: 60 } };
      const labels = { 'bitcoin.example.com/network': 'other' };
      await system.patch(sets, set, { spec: { template: { metadata: { labels }, spec: { containers: [edited] } } } });
      await reconcile();
      expect((await bitcoin.set(name)).spec?.template).toEqual(template);
    });

    it('B16: what somebody edited on the Service is put right', async () => {
      await made();
      await system.patch(services, service, { spec: { selector: { app: 'other' } } });
      await reconcile();
      expect((await bitcoin.service(name)).spec?.selector).toEqual({ app: name });
    });
  });

  describe('BitcoinNetwork: life and death', () => {
    it('B19a: while it is being deleted nothing is written, and a child that has gone is not made again', async () => {
      await made();
      await system.patch(networks, name, { metadata: { finalizers: ['example.com/other'] } });
      await system.delete(networks, name);
      await system.delete(sets, set);
      system.requests.length = 0;
      await reconcile();
      expect(bitcoin.writes()).toEqual([]);
      await expect.poll(async () => await system.get(sets, set)).toBeUndefined();
    });

    it('B20: made again under its name, it does not adopt what is left, and has its own when that is gone', async () => {
      await made();
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' };
      for (const [, kind, child] of both)
        await system.patch(kind, child, { metadata: { finalizers: ['example.com/hold'] } });
      const path = objectPath(networks, { name, namespace: system.namespace });
      await system.client.request({ method: 'DELETE', path, body });
      await expect.poll(async () => await system.get(networks, name)).toBeUndefined();
      const uid = await made({ nodes: 5 });
      expect((await bitcoin.set(name)).spec?.replicas).toBe(3);
      expect((await bitcoin.set(name)).metadata?.ownerReferences).not.toMatchObject([{ uid }]);
      expect(await bitcoin.condition(name, 'Ready')).toMatchObject({ status: 'False', reason: 'NotOwned' });
      for (const [, kind, child] of both) {
        await system.patch(kind, child, { metadata: { finalizers: null } }).catch(() => undefined);
        // What garbage collection does, where there is none.
        await system.delete(kind, child).catch(() => undefined);
        await expect.poll(async () => await system.get(kind, child)).toBeUndefined();
      }
      await system.pass(60);
      expect((await bitcoin.set(name)).spec?.replicas).toBe(5);
      for (const { metadata } of [await bitcoin.set(name), await bitcoin.service(name)]) {
        expect(metadata?.ownerReferences).toMatchObject([{ uid }]);
      }
    });

    it.each(
      both,
    )('B21: a %s of our name that is not ours is left alone: NotOwned, with one Warning', async (named, kind, child, type) => {
      const stranger = await system.apply(kind, child, strangers[named] ?? {});
      await made();
      await reconcile();
      await system.pass(60);
      expect(await system.read(kind, child)).toEqual(stranger);
      expect(await bitcoin.condition(name, type)).toMatchObject({ status: 'False', reason: 'NotOwned' });
      expect(await bitcoin.condition(name, 'Ready')).toMatchObject({ status: 'False', reason: 'NotOwned' });
      expect(await bitcoin.events('ErrResourceExists')).toEqual([expect.stringMatching(/^1 x Warning/)]);
      for (const [, other, one] of both) if (other !== kind) expect(await system.get(other, one)).toBeDefined();
    });

    it('B21: another network’s children of that name are not ours either', async () => {
      // a-sts is the StatefulSet of `a`; a controller of another uid holds it.
      const { metadata } = await bitcoin.network('other');
      const { apiVersion, kind } = networks;
      const ownerReferences = [{ apiVersion, kind, name: 'other', uid: metadata.uid, controller: true }];
      const taken = await system.apply(sets, set, strangers.StatefulSet ?? {}, { ownerReferences });
      await made();
      expect(await system.read(sets, set)).toEqual(taken);
      expect(await bitcoin.condition(name, 'Ready')).toMatchObject({ status: 'False', reason: 'NotOwned' });
    });

    it('B26: ten messages, and two functions at once, make one of each and lose no change', async () => {
      await bitcoin.network(name);
      await system.reconcileAtOnce(networks, name, 2);
      await bitcoin.network(name, { nodes: 4 });
      await system.reconcileAtOnce(networks, name, 2);
      await system.reconcile(networks, ...Array.from({ length: 10 }, () => name));
      expect((await system.list(sets)).map(({ metadata }) => metadata.name)).toEqual([set]);
      expect((await system.list(services)).map(({ metadata }) => metadata.name)).toEqual([service]);
      expect((await bitcoin.set(name)).spec?.replicas).toBe(4);
      await system.pass(60);
      expect(await system.deadLetters('bitcoin-network')).toEqual([]);
    });

    it('B27: a message for a network that is gone is done with: one read, no write', async () => {
      await reconcile();
      expect(system.requests.filter((request) => !request.endsWith(`/bitcoinnetworks/${name}`))).toEqual([]);
      expect(system.waiting()).toEqual([]);
      expect(await system.deadLetters('bitcoin-network')).toEqual([]);
    });

    it('B32: what is made again is counted on its Event, and reasons are words', async () => {
      await made();
      await system.delete(services, service);
      await expect.poll(async () => await system.get(services, service)).toBeUndefined();
      await reconcile();
      expect(await bitcoin.events()).toEqual([createdSet, createdService.replace('1 x', '2 x')]);
    });

    it('B32: what the API server refuses is one Warning however often it is tried', async () => {
      system.forbid(({ method, path }) => method === 'PATCH' && path.includes('/statefulsets/'));
      await made();
      await system.pass(120);
      expect(await bitcoin.events('ErrChildRefused')).toEqual([expect.stringMatching(/^1 x Warning/)]);
      expect(await bitcoin.condition(name, 'Ready')).toMatchObject({ status: 'False', reason: 'ChildRefused' });
      system.revive();
      await system.pass(600);
      expect(await system.get(sets, set)).toBeDefined();
    });
  });
}
