// What is asked of BitcoinNetwork's nodes and peers (B5 to B15a, B21 to B29), as cases for an API server where the test alone makes
// pods, and whose exec leads to the given nodes. A pod whose address is none is bitcoin-peers.test.ts: a real API server takes none such.
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { networkLabel, statefulSetKind as sets } from '../../src/controllers/bitcoin-network/children.ts';
import { bitcoinNetworkKind as networks } from '../../src/controllers/bitcoin-network/kind.ts';
import type { Connection } from '../../src/kube/connection.ts';
import type { BitcoinNodes } from '../../src/local/worlds/bitcoin.ts';
import { createBitcoin } from './bitcoin.ts';
import { install, type System, startSystem } from './harness.ts';

const name = 'my-network';
const set = 'my-network-sts';
const [a, b, c] = ['10.1.0.1', '10.1.0.2', '10.1.0.3'];
const three = [a, b, c];

/** Declares the statements. `nodeName`: whose kubelet answers, where it is not the API server itself. */
export function bitcoinPeersCases(
  connect: () => Connection,
  nodes: BitcoinNodes,
  { nodeName }: { readonly nodeName?: string } = {},
): void {
  let system: System;
  let bitcoin: ReturnType<typeof createBitcoin>;
  let from = 0;
  beforeAll(() => install(connect()));
  beforeEach(async () => {
    system = await startSystem(connect());
    bitcoin = createBitcoin(system, { nodeName });
    heard();
  });
  afterEach(async ({ task }) => {
    nodes.fail('*', undefined);
    for (const ordinal of [0, 1, 2]) nodes.fail(pod(ordinal), undefined);
    await system.end({ failed: task.result?.state === 'fail' });
  });

  const reconcile = async () => await system.reconcile(networks, name);
  const pod = (ordinal: number, of = name) => ({ namespace: system.namespace, name: `${of}-sts-${ordinal}` });
  const added = (ordinal: number, of = name) => [...nodes.added(pod(ordinal, of))].sort();
  const connected = async (of = name) => await bitcoin.condition(of, 'PeersConnected');
  /** Commands since the last call of this, as `ordinal: method ...`. */
  function heard(): readonly string[] {
    const calls = nodes.calls().slice(from);
    from += calls.length;
    return calls
      .filter(({ namespace }) => namespace === system.namespace)
      .map(({ pod: at, args }) => `${at.slice(-1)}: ${args.slice(2).join(' ')}`)
      .sort();
  }
  /** What somebody else tells a node. */
  async function tell(ordinal: number, ...args: readonly string[]): Promise<void> {
    const command = ['bitcoin-cli', ...args];
    const { namespace, name: at } = pod(ordinal);
    const signal = new AbortController().signal;
    await nodes.execute({ namespace, pod: at, container: 'c', command, signal });
    from += 1;
  }
  /** A network whose first pods are there. */
  async function made(ips: readonly string[] = three, spec: object = { nodes: 3 }, of = name): Promise<void> {
    await bitcoin.network(of, spec);
    await system.reconcile(networks, of);
    for (const [ordinal, ip] of ips.entries()) await bitcoin.pod(of, ordinal, { ip });
    await system.reconcile(networks, of);
  }

  describe('BitcoinNetwork: nodes', () => {
    it('B6: without pods there are none, and that is said', async () => {
      await made([]);
      expect((await system.read(networks, name)).status).toMatchObject({ nodes: [], observedGeneration: 1 });
      expect(await bitcoin.condition(name, 'Ready')).toMatchObject({ status: 'False' });
      expect(await connected()).toMatchObject({ status: 'Unknown', reason: 'NoReadyNodes' });
      expect(heard()).toEqual([]);
    });

    it('B7: three pods are three nodes, in the order of their ordinals, ready or not, with an address or none', async () => {
      await made([]);
      await bitcoin.pod(name, 2, { ready: false });
      await bitcoin.pod(name, 1, { ip: b });
      await bitcoin.pod(name, 0, { ip: a });
      await reconcile();
      const node = (ordinal: number, ready: boolean, ip: string) => ({
        ordinal,
        ready,
        ip,
        nodeName: `${set}-${ordinal}`,
        dnsName: `${set}-${ordinal}.my-network-svc`,
      });
      expect(await bitcoin.nodes(name)).toEqual([node(0, true, a), node(1, true, b), node(2, false, '')]);
    });

    it('B8: a pod that turns ready is so in the status after the next reconcile', async () => {
      await made([a]);
      await bitcoin.pod(name, 1, { ip: b, ready: false });
      await reconcile();
      expect(await bitcoin.nodes(name)).toMatchObject([{ ready: true }, { ready: false }]);
      await bitcoin.report(`${set}-1`, { ip: b });
      await reconcile();
      expect(await bitcoin.nodes(name)).toMatchObject([{ ready: true }, { ready: true }]);
    });

    it('B9: a pod with a node’s name and labels that our StatefulSet does not control is not listed and never asked', async () => {
      await made([]);
      const { metadata } = await system.apply(sets, 'other', {
        serviceName: 'other',
        selector: { matchLabels: { app: 'other' } },
        template: { metadata: { labels: { app: 'other' } }, spec: { containers: [{ name: 'c', image: 'other' }] } },
      });
      const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'other', uid: metadata.uid, controller: true };
      await bitcoin.pod(name, 0, { ip: a, owner });
      await bitcoin.pod(name, 1, { ip: b });
      await reconcile();
      expect(await bitcoin.nodes(name)).toMatchObject([{ ordinal: 1 }]);
      expect(heard()).toEqual(['1: getaddednodeinfo']);
    });

    it('B9, B21: the pods of a StatefulSet that is not ours are no nodes of ours', async () => {
      const labels = { app: 'other', [networkLabel]: name };
      await system.apply(sets, set, {
        serviceName: 'other',
        selector: { matchLabels: { app: 'other' } },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'other' }] } },
      });
      await bitcoin.network(name);
      await bitcoin.pod(name, 0, { ip: a });
      await reconcile();
      expect(await bitcoin.nodes(name)).toEqual([]);
      expect(heard()).toEqual([]);
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
      const before = await system.read(networks, name);
      system.requests.length = 0;
      heard();
      await reconcile();
      expect(heard()).toEqual(['0: getaddednodeinfo', '1: getaddednodeinfo', '2: getaddednodeinfo']);
      expect(bitcoin.writes()).toEqual([]);
      expect(await system.read(networks, name)).toEqual(before);
    });

    it('B11: a node that turns unready is dropped by the others, and itself left in peace', async () => {
      await made();
      heard();
      await bitcoin.report(`${set}-2`, { ip: c, ready: false });
      await reconcile();
      expect(heard()).toEqual([
        `0: addnode ${c} remove`,
        '0: getaddednodeinfo',
        `1: addnode ${c} remove`,
        '1: getaddednodeinfo',
      ]);
      expect([added(0), added(1)]).toEqual([[b], [a]]);
    });

    it('B11: a node that disappears is dropped by the others', async () => {
      await made();
      await bitcoin.removePod(`${set}-1`);
      await reconcile();
      expect([added(0), added(2)]).toEqual([[c], [a]]);
      expect(await bitcoin.nodes(name)).toMatchObject([{ ordinal: 0 }, { ordinal: 2 }]);
    });

    it('B12: a pod that comes back with another address is known by that one, and knows the others', async () => {
      await made();
      await bitcoin.removePod(`${set}-1`);
      await bitcoin.pod(name, 1, { ip: '10.1.0.9' });
      heard();
      await reconcile();
      expect([added(0), added(1), added(2)]).toEqual([
        [c, '10.1.0.9'],
        [a, c],
        [a, '10.1.0.9'],
      ]);
      expect(heard()).toContain(`0: addnode ${b} remove`);
    });

    it('B13a: a list that was lost behind our back is made again by the next resync', async () => {
      await made();
      nodes.restart(pod(0));
      expect(added(0)).toEqual([]);
      await system.tick();
      await system.pass(600);
      expect(added(0)).toEqual([b, c]);
    });

    it('B13b: what else is on a list, added by hand or left over, is taken off: the list is the controller’s', async () => {
      await made();
      await tell(0, 'addnode', '192.0.2.1', 'add');
      await tell(0, 'addnode', 'seed.example.com', 'add');
      await reconcile();
      expect(added(0)).toEqual([b, c]);
    });

    it('B13: what another function does at the same time counts as done (-23, -24)', async () => {
      await made([]);
      for (const [ordinal, ip] of three.entries()) await bitcoin.pod(name, ordinal, { ip });
      await tell(0, 'addnode', '192.0.2.1', 'add');
      await system.reconcileAtOnce(networks, name, 3);
      expect([added(0), added(1), added(2)]).toEqual([
        [b, c],
        [a, c],
        [a, b],
      ]);
      await reconcile();
      expect(await connected()).toMatchObject({ status: 'True' });
      expect(system.waiting().filter((body) => body.includes('retry'))).toEqual([]);
    });

    it('B14: a fourth node knows the other three, and they know it', async () => {
      await made();
      await bitcoin.network(name, { nodes: 4 });
      await reconcile();
      await bitcoin.pod(name, 3, { ip: '10.1.0.4' });
      await reconcile();
      expect([added(0), added(3)]).toEqual([
        [b, c, '10.1.0.4'],
        [a, b, c],
      ]);
    });

    it('B15: a node that is not wanted any more is neither listed nor asked while its pod still ends', async () => {
      await made();
      await bitcoin.network(name, { nodes: 2 });
      heard();
      await reconcile();
      expect(await bitcoin.nodes(name)).toMatchObject([{ ordinal: 0 }, { ordinal: 1 }]);
      expect([added(0), added(1)]).toEqual([[b], [a]]);
      expect(heard().filter((call) => call.startsWith('2'))).toEqual([]);
    });

    it('B15a: scaled to nothing it has no nodes, and nobody is asked', async () => {
      await made();
      await bitcoin.network(name, { nodes: 0 });
      heard();
      await reconcile();
      expect((await bitcoin.set(name)).spec?.replicas).toBe(0);
      expect(await bitcoin.nodes(name)).toEqual([]);
      expect(heard()).toEqual([]);
    });

    it('B31: of more than nine nodes each lists all others; that they are connected is not said', async () => {
      const twelve = Array.from({ length: 12 }, (_, ordinal) => `10.1.1.${ordinal + 1}`);
      await made(twelve, { nodes: 12 });
      for (const [ordinal, own] of twelve.entries()) {
        expect(nodes.added(pod(ordinal))).toHaveLength(11);
        expect(nodes.added(pod(ordinal))).not.toContain(own);
      }
      expect(await connected()).toMatchObject({ message: '12 ready nodes have each other as added nodes' });
    });
  });

  // Where nothing is heard, the controller's own time-out is waited for.
  describe('BitcoinNetwork: nodes that fail', { timeout: 60_000 }, () => {
    it.each([
      ['warming-up', 'RPCFailed', 'exit status 28 (still starting)'],
      ['unauthorized', 'AuthFailed', 'credentials refused'],
      ['stopped', 'RPCFailed', 'exit status 1'],
      ['drop', 'RPCFailed', ''],
      ['hang', 'RPCFailed', ''],
    ] as const)('B13: a node’s %s is PeersConnected=False with its name and %s; the rest is done, and it is tried again', async (fault, reason, said) => {
      await made(three, { nodes: 3 });
      nodes.restart(pod(0));
      nodes.fail(pod(1), fault);
      await bitcoin.network(name, { nodes: 4 });
      await bitcoin.pod(name, 3, { ip: '10.1.0.4' });
      await reconcile();
      expect(await connected()).toMatchObject({ status: 'False', reason });
      expect((await connected())?.message).toContain(`${set}-1: `);
      expect((await connected())?.message).toContain(said);
      // Workloads, status and every other node.
      expect((await bitcoin.set(name)).spec?.replicas).toBe(4);
      expect(await bitcoin.nodes(name)).toHaveLength(4);
      expect([added(0), added(2), added(3)]).toEqual([
        [b, c, '10.1.0.4'],
        [a, b, '10.1.0.4'],
        [a, b, c],
      ]);
      // Nothing changes but the node itself.
      nodes.fail(pod(1), undefined);
      await system.pass(60);
      expect(added(1)).toEqual([a, c, '10.1.0.4']);
      expect(await connected()).toMatchObject({ status: 'True' });
      expect(system.waiting()).toEqual([]);
    });

    it('B13: a command whose end is not heard is not given twice', async () => {
      await made([]);
      for (const [ordinal, ip] of [a, b].entries()) await bitcoin.pod(name, ordinal, { ip });
      nodes.fail(pod(0), 'drop-after');
      await reconcile();
      nodes.fail(pod(0), undefined);
      await system.pass(60);
      expect(added(0)).toEqual([b]);
      expect(heard().filter((call) => call.startsWith('0: addnode'))).toHaveLength(1);
    });

    it('B13: a node that never answers is given up with one dead letter, and the resync heals it', async () => {
      await made();
      nodes.fail('*', 'stopped');
      await bitcoin.network(name, { nodes: 2 });
      await reconcile();
      await system.pass(24 * 3600);
      expect(await system.deadLetters('bitcoin-peers')).toHaveLength(1);
      expect(await connected()).toMatchObject({ status: 'False' });
      nodes.fail('*', undefined);
      await system.tick();
      await system.pass(600);
      expect(await connected()).toMatchObject({ status: 'True' });
      expect([added(0), added(1)]).toEqual([[b], [a]]);
    });

    it('B28: a network whose nodes hang holds up no other, and is bounded itself', async () => {
      await made();
      await made([a, b], { nodes: 2 }, 'other');
      for (const ordinal of [0, 1, 2]) nodes.fail(pod(ordinal), 'hang');
      nodes.restart(pod(0, 'other'));
      await system.reconcile(networks, name, 'other');
      expect(await connected()).toMatchObject({ status: 'False', reason: 'RPCFailed' });
      expect(added(0, 'other')).toEqual([b]);
      expect(await connected('other')).toMatchObject({ status: 'True' });
    });
  });

  describe('BitcoinNetwork: functions and secrets', () => {
    it('B26: ten messages, and two functions at once, end where one does', async () => {
      await made([]);
      for (const [ordinal, ip] of three.entries()) await bitcoin.pod(name, ordinal, { ip });
      await system.reconcileAtOnce(networks, name, 2);
      await system.reconcile(networks, ...Array.from({ length: 10 }, () => name));
      await system.pass(60);
      expect([added(0), added(1), added(2)]).toEqual([
        [b, c],
        [a, c],
        [a, b],
      ]);
      expect(await system.deadLetters('bitcoin-peers')).toEqual([]);
    });

    it('B19a, B27: of a network that is being deleted, or gone, nobody is asked anything', async () => {
      await made();
      await system.patch(networks, name, { metadata: { finalizers: ['example.com/other'] } });
      await system.delete(networks, name);
      heard();
      system.requests.length = 0;
      await reconcile();
      await system.patch(networks, name, { metadata: { finalizers: null } }).catch(() => undefined);
      await expect.poll(async () => await system.get(networks, name)).toBeUndefined();
      await reconcile();
      expect(heard()).toEqual([]);
      expect(bitcoin.writes()).toEqual([]);
    });

    it('B22, B23, B24: no Secret is read, and nothing that a node prints, credentials least, is shown anywhere', async () => {
      const secret = 'bitcoin-default-secret';
      await made(three, { nodes: 3, secret });
      for (const fault of ['unauthorized', 'stopped', 'warming-up'] as const) {
        nodes.fail('*', fault);
        await reconcile();
      }
      nodes.fail('*', undefined);
      const shown = [
        ...system.lines,
        ...system.requests,
        ...system.waiting(),
        ...(await bitcoin.events()),
        JSON.stringify(await system.read(networks, name)),
      ].join('\n');
      expect(system.requests.filter((request) => request.includes('/secrets'))).toEqual([]);
      for (const printed of ['rpcuser', 'rpcpassword', 'Could not connect', 'Loading block index', 'BC_RPC']) {
        expect(shown).not.toContain(printed);
      }
    });
  });
}
