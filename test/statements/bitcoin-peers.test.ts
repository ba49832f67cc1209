// The nodes of BitcoinNetwork and the peers of each (B5, B13, B19a, B22 to B24, B26 to B29) on the in-memory API server: the test alone
// makes pods, and nodes are a list each. Nodes that run are bitcoin-network-workload-cases.ts, single decisions
// test/controllers/bitcoin-peers.test.ts and test/controllers/bitcoin-network.

import { startApiServer } from '@outrigger/apiserver';
import { createBitcoinNodes } from '@outrigger/cli/simulators/bitcoin';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BitcoinNetwork as networks } from '../../src/controllers/bitcoin-network/kind.ts';
import { createBitcoin, name, set } from './bitcoin.ts';
import { useSystem } from './harness.ts';

const [a, b, c] = ['10.1.0.1', '10.1.0.2', '10.1.0.3'];
const three = [a, b, c];

const nodes = createBitcoinNodes();
const server = await startApiServer({ execute: nodes.execute });
afterAll(() => server.close());
const system = useSystem(() => ({ server: new URL(server.url) }));
const bitcoin = createBitcoin(system);
let from = 0;
beforeEach(() => void commandsSent());
afterEach(() => {
  nodes.fail('*', undefined);
  for (const ordinal of [0, 1, 2]) nodes.fail(pod(ordinal), undefined);
});

const pod = (ordinal: number, of = name) => ({ namespace: system.namespace, name: `${of}-sts-${ordinal}` });
/** Commands since the last call of this, as `ordinal: method ...`, sorted. */
function commandsSent(): readonly string[] {
  const calls = nodes.calls().slice(from);
  from += calls.length;
  return calls
    .filter(({ namespace }) => namespace === system.namespace)
    .map(({ pod: named, args }) => `${named.slice(-1)}: ${args.slice(2).join(' ')}`)
    .sort();
}
const reconcile = async () => await system.reconcile(networks, name);
/** What a pod's node lists. */
const added = (ordinal: number, of = name) => [...nodes.added(pod(ordinal, of))].sort();
const connected = async (of = name) => await bitcoin.condition(of, 'PeersConnected');
/** Makes a network whose first pods are there, and reconciles it. */
async function made(ips: readonly string[] = three, spec: object = { nodes: 3 }, of = name): Promise<void> {
  await bitcoin.network(of, spec);
  await system.reconcile(networks, of);
  for (const [ordinal, ip] of ips.entries()) await bitcoin.pod(of, ordinal, { ip });
  await system.reconcile(networks, of);
}

describe('BitcoinNetwork: peers', () => {
  it('B5, B29: in a steady world each ready node is read once and told nothing; nothing is written', async () => {
    await made();
    await reconcile();
    const before = await system.read(networks, name);
    system.requests.length = 0;
    commandsSent();
    await reconcile();
    expect(commandsSent()).toEqual(['0: getaddednodeinfo', '1: getaddednodeinfo', '2: getaddednodeinfo']);
    expect(system.writes()).toEqual([]);
    expect(await system.read(networks, name)).toEqual(before);
  });

  it('B13: what another function does at the same time counts as done (-23, -24)', async () => {
    await made([]);
    for (const [ordinal, ip] of three.entries()) await bitcoin.pod(name, ordinal, { ip });
    // A client that is none of ours has added another node to the first one.
    const command = ['bitcoin-cli', 'addnode', '192.0.2.1', 'add'];
    const { namespace, name: first } = pod(0);
    await nodes.execute({ namespace, pod: first, container: 'c', command, signal: AbortSignal.timeout(5_000) });
    await system.reconcileAtOnce(networks, name, 3);
    expect([added(0), added(1), added(2)]).toEqual([
      [b, c],
      [a, c],
      [a, b],
    ]);
    await reconcile();
    expect(await connected()).toMatchObject({ status: 'True' });
  });
});

describe('BitcoinNetwork: nodes that fail', { timeout: 60_000 }, () => {
  it.each([
    ['warming-up', 'RPCFailed', 'exit status 28 (still starting)'],
    ['unauthorized', 'AuthFailed', 'credentials refused'],
    ['stopped', 'RPCFailed', 'exit status 1'],
    ['drop', 'RPCFailed', ''],
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

  it('B13: a command without a response is not sent twice', async () => {
    await made([]);
    for (const [ordinal, ip] of [a, b].entries()) await bitcoin.pod(name, ordinal, { ip });
    nodes.fail(pod(0), 'drop-after');
    await reconcile();
    nodes.fail(pod(0), undefined);
    await system.pass(60);
    expect(added(0)).toEqual([b]);
    expect(commandsSent().filter((call) => call.startsWith('0: addnode'))).toHaveLength(1);
  });

  it('B13, B28: nodes that hang hold up no other node and no other network, are named, and get their peers when they respond', async () => {
    await made();
    await made([a, b], { nodes: 2 }, 'other');
    nodes.restart(pod(0));
    for (const ordinal of [1, 2]) nodes.fail(pod(ordinal), 'hang');
    nodes.restart(pod(0, 'other'));
    // The test waits for the controller's own time-out.
    await system.reconcile(networks, name, 'other');
    expect(await connected()).toMatchObject({ status: 'False', reason: 'RPCFailed' });
    for (const ordinal of [1, 2]) expect((await connected())?.message).toContain(`${set}-${ordinal}: `);
    expect([added(0), added(0, 'other')]).toEqual([[b, c], [b]]);
    expect(await connected('other')).toMatchObject({ status: 'True' });
    for (const ordinal of [1, 2]) {
      nodes.fail(pod(ordinal), undefined);
      nodes.restart(pod(ordinal));
    }
    await system.pass(60);
    expect([added(1), added(2)]).toEqual([
      [a, c],
      [a, b],
    ]);
    expect(await connected()).toMatchObject({ status: 'True' });
    expect(system.waiting()).toEqual([]);
  });
});

describe('BitcoinNetwork: functions and secrets', () => {
  it('B19a, B27: no command and no write is made for a network that is being deleted or gone, which costs one read', async () => {
    await made();
    await system.patch(networks, name, { metadata: { finalizers: ['example.com/other'] } });
    await system.delete(networks, name);
    commandsSent();
    system.requests.length = 0;
    await reconcile();
    await system.patch(networks, name, { metadata: { finalizers: null } }).catch(() => undefined);
    await expect.poll(async () => await system.get(networks, name)).toBeUndefined();
    expect(system.writes()).toEqual([]);
    system.requests.length = 0;
    await reconcile();
    expect(commandsSent()).toEqual([]);
    // One read for each of the two controllers.
    expect(system.requests.map((request) => request.split('/').at(-1))).toEqual([name, name]);
    expect([...system.writes(), ...system.waiting()]).toEqual([]);
    for (const one of ['bitcoin-network', 'bitcoin-peers']) expect(await system.deadLetters(one)).toEqual([]);
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
      ...(await system.events()),
      JSON.stringify(await system.read(networks, name)),
    ].join('\n');
    expect(system.requests.filter((request) => request.includes('/secrets'))).toEqual([]);
    for (const printed of ['rpcuser', 'rpcpassword', 'Could not connect', 'Loading block index', 'BC_RPC']) {
      expect(shown).not.toContain(printed);
    }
  });
});
