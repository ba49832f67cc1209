// What becomes of BitcoinNetwork's workloads when they are deleted, taken, refused or asked for twice (B19a to B21, B26, B27, B32), as
// cases for any API server that only the test writes to. What is deleted with a network is bitcoin-network-cascade.test.ts.

import { describe, expect, it } from 'vitest';
import { BitcoinNetwork as networks } from '../../src/controllers/bitcoin-network/kind.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { Service, StatefulSet } from '../../src/kubernetes.ts';
import { useApiServer } from '../harness/api-server.ts';
import { both, createdService, createdSet, name, networkFixture, service, set } from './bitcoin-network-fixture.ts';

/** A foreign object of that name. */
const strangers: Readonly<Record<string, object>> = {
  Service: { clusterIP: 'None', selector: { app: 'other' } },
  StatefulSet: {
    replicas: 1,
    serviceName: 'other',
    selector: { matchLabels: { app: 'other' } },
    template: { metadata: { labels: { app: 'other' } }, spec: { containers: [{ name: 'c', image: 'other' }] } },
  },
};

const { connect } = await useApiServer({ controllers: 'none' });
const { at, made, reconcile } = networkFixture(connect);

describe('BitcoinNetwork: life and death', () => {
  it('B19a: while it is being deleted nothing is written, and a child that has gone is not made again', async () => {
    await made();
    await at.system.patch(networks, name, { metadata: { finalizers: ['example.com/other'] } });
    await at.system.delete(networks, name);
    await at.system.delete(StatefulSet, set);
    at.system.requests.length = 0;
    await reconcile();
    expect(at.bitcoin.writes()).toEqual([]);
    await expect.poll(async () => await at.system.get(StatefulSet, set)).toBeUndefined();
  });

  it('B20: made again under its name, it does not adopt what is left, and has its own when that is gone', async () => {
    await made();
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' };
    for (const [, kind, child] of both)
      await at.system.patch(kind, child, { metadata: { finalizers: ['example.com/hold'] } });
    const path = objectPath(networks, { name, namespace: at.system.namespace });
    await at.system.client.request({ method: 'DELETE', path, body });
    await expect.poll(async () => await at.system.get(networks, name)).toBeUndefined();
    const uid = await made({ nodes: 5 });
    expect((await at.bitcoin.set(name)).spec?.replicas).toBe(3);
    expect((await at.bitcoin.set(name)).metadata?.ownerReferences).not.toMatchObject([{ uid }]);
    expect(await at.bitcoin.condition(name, 'Ready')).toMatchObject({ status: 'False', reason: 'NotOwned' });
    for (const [, kind, child] of both) {
      await at.system.patch(kind, child, { metadata: { finalizers: null } }).catch(() => undefined);
      // What garbage collection does, where there is none.
      await at.system.delete(kind, child).catch(() => undefined);
      await expect.poll(async () => await at.system.get(kind, child)).toBeUndefined();
    }
    await at.system.pass(60);
    expect((await at.bitcoin.set(name)).spec?.replicas).toBe(5);
    for (const { metadata } of [await at.bitcoin.set(name), await at.bitcoin.service(name)]) {
      expect(metadata?.ownerReferences).toMatchObject([{ uid }]);
    }
  });

  it.each(
    both,
  )('B21: a %s of our name that is not ours is left alone: NotOwned, with one Warning', async (named, kind, child, type) => {
    const stranger = await at.system.apply(kind, child, strangers[named] ?? {});
    await made();
    await reconcile();
    await at.system.pass(60);
    expect(await at.system.read(kind, child)).toEqual(stranger);
    expect(await at.bitcoin.condition(name, type)).toMatchObject({ status: 'False', reason: 'NotOwned' });
    expect(await at.bitcoin.condition(name, 'Ready')).toMatchObject({ status: 'False', reason: 'NotOwned' });
    expect(await at.bitcoin.events('ErrResourceExists')).toEqual([expect.stringMatching(/^1 x Warning/)]);
    for (const [, other, one] of both) if (other !== kind) expect(await at.system.get(other, one)).toBeDefined();
  });

  it('B21: another network’s children of that name are not ours either', async () => {
    // a-sts is the StatefulSet of `a`; a controller of another uid holds it.
    const { metadata } = await at.bitcoin.network('other');
    const { apiVersion, kind } = networks;
    const ownerReferences = [{ apiVersion, kind, name: 'other', uid: metadata.uid, controller: true }];
    const taken = await at.system.apply(StatefulSet, set, strangers.StatefulSet ?? {}, { ownerReferences });
    await made();
    expect(await at.system.read(StatefulSet, set)).toEqual(taken);
    expect(await at.bitcoin.condition(name, 'Ready')).toMatchObject({ status: 'False', reason: 'NotOwned' });
  });

  it('B26: ten messages, and two functions at once, make one of each and lose no change', async () => {
    await at.bitcoin.network(name);
    await at.system.reconcileAtOnce(networks, name, 2);
    await at.bitcoin.network(name, { nodes: 4 });
    await at.system.reconcileAtOnce(networks, name, 2);
    await at.system.reconcile(networks, ...Array.from({ length: 10 }, () => name));
    expect((await at.system.list(StatefulSet)).map(({ metadata }) => metadata.name)).toEqual([set]);
    expect((await at.system.list(Service)).map(({ metadata }) => metadata.name)).toEqual([service]);
    expect((await at.bitcoin.set(name)).spec?.replicas).toBe(4);
    await at.system.pass(60);
    expect(await at.system.deadLetters('bitcoin-network')).toEqual([]);
  });

  it('B27: a message for a network that is gone is done with: one read, no write', async () => {
    await reconcile();
    expect(at.system.requests.filter((request) => !request.endsWith(`/bitcoinnetworks/${name}`))).toEqual([]);
    expect(at.system.waiting()).toEqual([]);
    expect(await at.system.deadLetters('bitcoin-network')).toEqual([]);
  });

  it('B32: what is made again is counted on its Event, and reasons are words', async () => {
    await made();
    await at.system.delete(Service, service);
    await expect.poll(async () => await at.system.get(Service, service)).toBeUndefined();
    await reconcile();
    expect(await at.bitcoin.events()).toEqual([createdSet, createdService.replace('1 x', '2 x')]);
  });

  it('B32: what the API server refuses is one Warning however often it is tried', async () => {
    at.system.forbid(({ method, path }) => method === 'PATCH' && path.includes('/statefulsets/'));
    await made();
    await at.system.pass(120);
    expect(await at.bitcoin.events('ErrChildRefused')).toEqual([expect.stringMatching(/^1 x Warning/)]);
    expect(await at.bitcoin.condition(name, 'Ready')).toMatchObject({ status: 'False', reason: 'ChildRefused' });
    at.system.revive();
    await at.system.pass(600);
    expect(await at.system.get(StatefulSet, set)).toBeDefined();
  });
});
