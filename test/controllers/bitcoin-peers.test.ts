// The reconciler of a network's nodes, called by hand over objects in memory and nodes that are a list each. Which pods are nodes
// is nodes.test.ts, what is done to a list added-nodes.test.ts.

import { createBitcoinNodes } from '@outrigger/cli/simulators/bitcoin';
import { describe, expect, it } from 'vitest';
import type { Exec } from '../../src/api/exec.ts';
import { BitcoinNetwork } from '../../src/controllers/bitcoin-network/kind.ts';
import { bitcoinPeers } from '../../src/controllers/bitcoin-peers.ts';
import { testContext } from '../../src/testing/test-context.ts';

const three = BitcoinNetwork.object('a', { nodes: 3 });
const controlledBy = (uid: string) => [{ apiVersion: 'v1', kind: 'X', name: 'x', uid, controller: true }];
const set = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'a-sts', namespace: 'default', uid: 'set', ownerReferences: controlledBy(three.metadata.uid) },
};
const ips = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
const pod = (ordinal: number, { ip = ips[ordinal] ?? '10.0.0.99', ready = true, owner = 'set' } = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: `a-sts-${ordinal}`,
    namespace: 'default',
    labels: { 'bitcoin.example.com/network': 'a' },
    ownerReferences: controlledBy(owner),
  },
  status: { podIP: ip, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});
const key = (ordinal: number) => ({ namespace: 'default', name: `a-sts-${ordinal}` });

function world(objects: readonly object[], more: { readonly exec?: Exec; readonly now?: () => Date } = {}) {
  const nodes = createBitcoinNodes();
  const asked: (readonly [string, string, string])[] = [];
  const { signal } = new AbortController();
  const exec: Exec = async ({ namespace = '', name }, container, command, options) => {
    asked.push([name, container, `${command.join(' ')} within ${options?.timeoutSeconds} s`]);
    return await nodes.execute({ namespace, pod: name, container, command, signal });
  };
  const context = testContext(bitcoinPeers, { owner: three, objects, exec, ...more });
  return { nodes, asked, context, added: (ordinal: number) => nodes.added(key(ordinal)) };
}

describe('the reconciler', () => {
  it('B9, B10, B11, B15: tells every ready node of every other, in its own container and within five seconds, and calls no other pod', async () => {
    const four = BitcoinNetwork.object('a', { nodes: 4 });
    const [unready, foreign, surplus] = [pod(2, { ready: false }), pod(3, { owner: 'another set' }), pod(4)];
    const { context, asked, added } = world([set, pod(0), pod(1), unready, foreign, surplus]);
    const { status, conditions } = await bitcoinPeers.reconcile(four, context);
    expect([added(0), added(1)]).toEqual([['10.0.0.2'], ['10.0.0.1']]);
    expect(status.nodes?.map(({ ordinal, ready }) => [ordinal, ready])).toEqual([
      [0, true],
      [1, true],
      [2, false],
    ]);
    expect(conditions.PeersConnected).toMatchObject({ status: 'True', reason: 'AllAdded' });
    const cli = '/usr/local/bin/bitcoin-cli -regtest -conf=/bitcoin.conf';
    const told = (own: number, other: string) => [
      [`a-sts-${own}`, 'a-sts-ctr', `${cli} getaddednodeinfo within 5 s`],
      [`a-sts-${own}`, 'a-sts-ctr', `${cli} addnode ${other} add within 5 s`],
    ];
    expect([...asked].sort()).toEqual([...told(0, '10.0.0.2'), ...told(1, '10.0.0.1')].sort());
  });

  it('B6: without pods lists no node and calls none', async () => {
    const { context, asked } = world([set]);
    const { status, conditions } = await bitcoinPeers.reconcile(three, context);
    expect(status.nodes).toEqual([]);
    expect(conditions.PeersConnected).toMatchObject({ status: 'Unknown', reason: 'NoReadyNodes' });
    expect(asked).toEqual([]);
  });

  it('B31: tells each of more than nine nodes of all others, and does not say that they are connected', async () => {
    const addresses = Array.from({ length: 10 }, (_, ordinal) => `10.0.1.${ordinal + 1}`);
    const { context, added } = world([set, ...addresses.map((ip, ordinal) => pod(ordinal, { ip }))]);
    const { conditions } = await bitcoinPeers.reconcile(BitcoinNetwork.object('a', { nodes: 10 }), context);
    expect(conditions.PeersConnected).toMatchObject({
      status: 'True',
      message: '10 ready nodes have each other as added nodes',
    });
    for (const [ordinal, own] of addresses.entries()) {
      expect([...added(ordinal)].sort()).toEqual(addresses.filter((ip) => ip !== own).sort());
    }
  });

  it('bad input: a pod whose address is none is reported, and no command has it', async () => {
    const { context, asked } = world([set, pod(0), pod(1, { ip: '-rpcconnect=203.0.113.1' })]);
    const { conditions } = await bitcoinPeers.reconcile(three, context);
    expect(conditions.PeersConnected).toMatchObject({ status: 'False', reason: 'InvalidAddress' });
    expect(conditions.PeersConnected.message).toContain('a-sts-1');
    expect(asked.map(([name, , command]) => [name, command.includes('addnode')])).toEqual([['a-sts-0', false]]);
  });

  it('B28: speaks to eight nodes at a time, and begins nothing more when its time is over', async () => {
    const many = Array.from({ length: 20 }, (_, ordinal) => pod(ordinal, { ip: `10.0.0.${ordinal + 1}` }));
    let time = 0;
    const waiting: (() => void)[] = [];
    let asked = 0;
    const exec: Exec = async () => {
      asked += 1;
      // All that may be under way at once hang until their time is over.
      const over = new Promise<void>((resolve) => waiting.push(resolve));
      if (waiting.length % 8 === 0) {
        time += 5_000;
        for (const end of waiting) end();
      }
      await over;
      throw new Error('no answer within 5 s');
    };
    const { context } = world([set, ...many], { exec, now: () => new Date(time) });
    const network = BitcoinNetwork.object('a', { nodes: 20 });
    const result = await bitcoinPeers.reconcile(network, context);
    expect(asked).toBe(16);
    expect(time).toBe(10_000);
    expect(result.status.nodes).toHaveLength(20);
    expect(result.conditions.PeersConnected.message).toContain('a-sts-19: not done within 8 s');
    expect(result).toHaveProperty('error', expect.any(Error));
  });
});
