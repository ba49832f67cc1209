// The nodes of BitcoinNetwork and the peers of each (B5, B6, B9 to B11, B13, B13a, B15, B21, B29, B31) on the in-memory API server:
// the test alone makes pods, and nodes are a list each. Nodes that fail are bitcoin-peers-failure.test.ts, nodes that run
// bitcoin-network-workload-cases.ts, single decisions test/controllers/bitcoin-network.

import { describe, expect, it } from 'vitest';
import { networkLabel } from '../../src/controllers/bitcoin-network/children.ts';
import { BitcoinNetwork as networks } from '../../src/controllers/bitcoin-network/kind.ts';
import { StatefulSet } from '../../src/kubernetes.ts';
import { a, b, c, name, peersFixture, set, three } from './bitcoin-peers-fixture.ts';

const { added, at, connected, commandsSent, made, pod, reconcile, tell, nodes } = await peersFixture();

describe('BitcoinNetwork: nodes', () => {
  it('B6: without pods there are none, and that is said', async () => {
    await made([]);
    expect((await at.system.read(networks, name)).status).toMatchObject({ nodes: [], observedGeneration: 1 });
    expect(await at.bitcoin.condition(name, 'Ready')).toMatchObject({ status: 'False' });
    expect(await connected()).toMatchObject({ status: 'Unknown', reason: 'NoReadyNodes' });
    expect(commandsSent()).toEqual([]);
  });

  it('B9: a pod with a node’s name and labels that our StatefulSet does not control is not listed and never asked', async () => {
    await made([]);
    const { metadata } = await at.system.apply(StatefulSet, 'other', {
      serviceName: 'other',
      selector: { matchLabels: { app: 'other' } },
      template: { metadata: { labels: { app: 'other' } }, spec: { containers: [{ name: 'c', image: 'other' }] } },
    });
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'other', uid: metadata.uid, controller: true };
    await at.bitcoin.pod(name, 0, { ip: a, owner });
    await at.bitcoin.pod(name, 1, { ip: b });
    await reconcile();
    expect(await at.bitcoin.nodes(name)).toMatchObject([{ ordinal: 1 }]);
    expect(commandsSent()).toEqual(['1: getaddednodeinfo']);
  });

  it('B9, B21: the pods of a StatefulSet that is not ours are no nodes of ours', async () => {
    const labels = { app: 'other', [networkLabel]: name };
    await at.system.apply(StatefulSet, set, {
      serviceName: 'other',
      selector: { matchLabels: { app: 'other' } },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'other' }] } },
    });
    await at.bitcoin.network(name);
    await at.bitcoin.pod(name, 0, { ip: a });
    await reconcile();
    expect(await at.bitcoin.nodes(name)).toEqual([]);
    expect(commandsSent()).toEqual([]);
  });
});

describe('BitcoinNetwork: peers', () => {
  it.each([1, 2, 3])('B10: of %i ready nodes each lists exactly the others', async (ready) => {
    const ips = three.slice(0, ready);
    await made(ips);
    for (const [ordinal, own] of ips.entries()) expect(added(ordinal)).toEqual(ips.filter((ip) => ip !== own));
    expect(await connected()).toMatchObject({ status: 'True', reason: 'AllAdded' });
  });

  it('B5, B29: in a steady world each ready node is read once and told nothing; nothing is written', async () => {
    await made();
    await reconcile();
    const before = await at.system.read(networks, name);
    at.system.requests.length = 0;
    commandsSent();
    await reconcile();
    expect(commandsSent()).toEqual(['0: getaddednodeinfo', '1: getaddednodeinfo', '2: getaddednodeinfo']);
    expect(at.bitcoin.writes()).toEqual([]);
    expect(await at.system.read(networks, name)).toEqual(before);
  });

  it('B11: a node that turns unready is dropped by the others, and itself left in peace', async () => {
    await made();
    commandsSent();
    await at.bitcoin.report(`${set}-2`, { ip: c, ready: false });
    await reconcile();
    expect(commandsSent()).toEqual([
      `0: addnode ${c} remove`,
      '0: getaddednodeinfo',
      `1: addnode ${c} remove`,
      '1: getaddednodeinfo',
    ]);
    expect([added(0), added(1)]).toEqual([[b], [a]]);
  });

  it('B13a: a list that was lost behind our back is made again by the next resync', async () => {
    await made();
    nodes.restart(pod(0));
    expect(added(0)).toEqual([]);
    await at.system.tick();
    await at.system.pass(600);
    expect(added(0)).toEqual([b, c]);
  });

  it('B13: what another function does at the same time counts as done (-23, -24)', async () => {
    await made([]);
    for (const [ordinal, ip] of three.entries()) await at.bitcoin.pod(name, ordinal, { ip });
    await tell(0, 'addnode', '192.0.2.1', 'add');
    await at.system.reconcileAtOnce(networks, name, 3);
    expect([added(0), added(1), added(2)]).toEqual([
      [b, c],
      [a, c],
      [a, b],
    ]);
    await reconcile();
    expect(await connected()).toMatchObject({ status: 'True' });
  });

  it('B15: a node that is not wanted any more is neither listed nor asked while its pod still ends', async () => {
    await made();
    await at.bitcoin.network(name, { nodes: 2 });
    commandsSent();
    await reconcile();
    expect(await at.bitcoin.nodes(name)).toMatchObject([{ ordinal: 0 }, { ordinal: 1 }]);
    expect([added(0), added(1)]).toEqual([[b], [a]]);
    expect(commandsSent().filter((call) => call.startsWith('2'))).toEqual([]);
  });

  it('B31: of more than nine nodes each lists all others; that they are connected is not said', async () => {
    const ten = Array.from({ length: 10 }, (_, ordinal) => `10.1.1.${ordinal + 1}`);
    await made(ten, { nodes: 10 });
    // Ninety commands: on a machine that is busy one run is not enough, and the next one goes on.
    const look = async () => {
      await reconcile();
      return (await connected())?.message;
    };
    await expect.poll(look, { timeout: 60_000 }).toBe('10 ready nodes have each other as added nodes');
    for (const [ordinal, own] of ten.entries()) expect(added(ordinal)).toEqual(ten.filter((ip) => ip !== own).sort());
  }, 90_000);
});

// A real API server refuses such an address.
it.each([
  'not an address',
  '10.1.0.3:18444',
  '-rpcconnect=203.0.113.1',
  '010.1.0.3',
])('pod.status.podIP %s: is never used: the condition reports it, and no command has it', async (ip) => {
  await made([a]);
  await at.bitcoin.pod(name, 1, { ip });
  commandsSent();
  await reconcile();
  expect(await connected()).toMatchObject({ status: 'False', reason: 'InvalidAddress' });
  expect((await connected())?.message).toContain(`${set}-1`);
  expect(commandsSent()).toEqual(['0: getaddednodeinfo']);
  await at.bitcoin.report(`${set}-1`, { ip: b });
  await reconcile();
  expect(await connected()).toMatchObject({ status: 'True' });
});
