// What wakes a BitcoinNetwork (B8, B9, B11, B12), and a pod that no watcher saw (B25; generation.test.ts has the rest), as
// cases for any API server where the test alone says how a StatefulSet fares.

import { describe, expect, it } from 'vitest';
import type { NetworkNode } from '../../src/controllers/bitcoin-network/kind.ts';
import { BitcoinNetwork as networks } from '../../src/controllers/bitcoin-network/kind.ts';
import { Pod, StatefulSet } from '../../src/kubernetes.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import { useApiServer } from '../harness/api-server.ts';
import { createBitcoin, name, set } from './bitcoin.ts';
import { useWatchedSystem } from './watch.ts';

/** Tells whether there is one node, and it is so. */
function isNode(nodes: readonly NetworkNode[] | undefined, like: Partial<NetworkNode>): boolean {
  return nodes?.length === 1 && expect.objectContaining(like).asymmetricMatch(nodes[0]);
}

const { connect } = await useApiServer({ controllers: 'none' });
const { system, until, seen, watch } = useWatchedSystem(connect);
const bitcoin = createBitcoin(system);

describe('the watcher and a network’s Pod', () => {
  it('B8, B11, B12: a pod that comes, turns ready, moves or goes is so in the status by that event alone', async () => {
    await bitcoin.network(name);
    await until(async () => (await system.get(StatefulSet, set)) !== undefined);
    await bitcoin.pod(name, 0, { ready: false });
    await until(async () => isNode(await bitcoin.nodes(name), { ready: false, ip: '' }));
    await bitcoin.report(`${set}-0`, { ip: '10.1.0.1' });
    await until(async () => isNode(await bitcoin.nodes(name), { ready: true, ip: '10.1.0.1' }));
    await bitcoin.report(`${set}-0`, { ip: '10.1.0.2' });
    await until(async () => isNode(await bitcoin.nodes(name), { ready: true, ip: '10.1.0.2' }));
    await seen(Pod, `${set}-0`);
    await bitcoin.removePod(`${set}-0`);
    await until(async () => (await bitcoin.nodes(name))?.length === 0);
    expect((await system.read(networks, name)).metadata.generation).toBe(1);
  });

  it('B11: a pod that loses the label of its network wakes it once more, and is no node any more', async () => {
    await bitcoin.network(name);
    await until(async () => (await system.get(StatefulSet, set)) !== undefined);
    await bitcoin.pod(name, 0, { ready: false });
    await until(async () => (await bitcoin.nodes(name))?.length === 1);
    await seen(Pod, `${set}-0`);
    await system.patch(Pod, `${set}-0`, { metadata: { labels: { 'bitcoin.example.com/network': null } } });
    await until(async () => (await bitcoin.nodes(name))?.length === 0);
  });

  it('B9: a pod without the network’s label, or with that of another, wakes no network here', async () => {
    await bitcoin.network(name);
    await bitcoin.network('other');
    await until(async () => (await system.get(StatefulSet, 'other-sts')) !== undefined);
    const from = watch().forwarded.length;
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    await system.apply(Pod, 'plain', spec, { labels: { app: name } });
    await system.apply(Pod, 'stranger', spec, { labels: { 'bitcoin.example.com/network': 'other' } });
    const peers = () =>
      watch()
        .forwarded.slice(from)
        .map((body) => parseMessage(body))
        .filter(({ controller }) => controller === 'bitcoin-peers');
    await until(async () => peers().length > 0);
    expect(new Set(peers().map((message) => message.name))).toEqual(new Set(['other']));
  });
});

it('B25: a pod that turned ready while no watcher ran is so in the status', async () => {
  await bitcoin.network(name);
  await system.reconcile(networks, name);
  await bitcoin.pod(name, 0, { ip: '10.1.0.1', ready: false });
  await system.reconcile(networks, name);
  await bitcoin.report(`${set}-0`, { ip: '10.1.0.1' });
  await system.deliver();
  expect(isNode(await bitcoin.nodes(name), { ready: false })).toBe(true);
  // One whole period: every object has been reconciled once.
  await system.tick();
  await system.pass(600);
  expect(isNode(await bitcoin.nodes(name), { ready: true })).toBe(true);
});
