// The reconciler of a network's nodes, called by hand over objects in memory and nodes that are a list each. Which pods are nodes
// is nodes.test.ts, what is done to a list added-nodes.test.ts.
import { describe, expect, it } from 'vitest';
import type { Exec } from '../../src/api/exec.ts';
import { BitcoinNetwork } from '../../src/controllers/bitcoin-network/kind.ts';
import { bitcoinPeers } from '../../src/controllers/bitcoin-peers.ts';
import { createBitcoinNodes } from '../../src/simulators/bitcoin.ts';
import { testContext } from '../../src/testing/test-context.ts';

const three = BitcoinNetwork.object('a', { nodes: 3 });
const controlledBy = (uid: string) => [{ apiVersion: 'v1', kind: 'X', name: 'x', uid, controller: true }];
const set = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'a-sts', namespace: 'default', uid: 'set', ownerReferences: controlledBy(three.metadata.uid) },
};
const ips = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
const pod = (ordinal: number, { ip = ips[ordinal] ?? '', ready = true } = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: `a-sts-${ordinal}`,
    namespace: 'default',
    labels: { 'bitcoin.example.com/network': 'a' },
    ownerReferences: controlledBy('set'),
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
  it('B10: tells every ready node of every other, in its own container, with five seconds for each command', async () => {
    const { context, asked, added } = world([set, pod(0), pod(1), pod(2, { ready: false })]);
    const { status, conditions } = await bitcoinPeers.reconcile(three, context);
    expect([added(0), added(1), added(2)]).toEqual([['10.0.0.2'], ['10.0.0.1'], []]);
    expect(status.nodes).toMatchObject([{ ready: true }, { ready: true }, { ready: false }]);
    expect(conditions.PeersConnected).toMatchObject({ status: 'True' });
    const cli = '/usr/local/bin/bitcoin-cli -regtest -conf=/bitcoin.conf';
    expect(asked).toHaveLength(4);
    expect(asked).toContainEqual(['a-sts-0', 'a-sts-ctr', `${cli} getaddednodeinfo within 5 s`]);
    expect(asked).toContainEqual(['a-sts-0', 'a-sts-ctr', `${cli} addnode 10.0.0.2 add within 5 s`]);
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
