// What becomes of BitcoinNetwork's peers when nodes fail or functions run twice (B13, B19a, B22 to B24, B26 to B28) on the in-memory
// API server. A pod whose address is none is bitcoin-peers.test.ts.
import { describe, expect, it } from 'vitest';
import { BitcoinNetwork as networks } from '../../src/controllers/bitcoin-network/kind.ts';
import { a, b, c, name, peersFixture, set, three } from './bitcoin-peers-fixture.ts';

const { added, at, connected, commandsSent, made, pod, reconcile, nodes } = await peersFixture();

// Without a response, the test waits for the controller's own time-out.
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
    await at.bitcoin.network(name, { nodes: 4 });
    await at.bitcoin.pod(name, 3, { ip: '10.1.0.4' });
    await reconcile();
    expect(await connected()).toMatchObject({ status: 'False', reason });
    expect((await connected())?.message).toContain(`${set}-1: `);
    expect((await connected())?.message).toContain(said);
    // Workloads, status and every other node.
    expect((await at.bitcoin.set(name)).spec?.replicas).toBe(4);
    expect(await at.bitcoin.nodes(name)).toHaveLength(4);
    expect([added(0), added(2), added(3)]).toEqual([
      [b, c, '10.1.0.4'],
      [a, b, '10.1.0.4'],
      [a, b, c],
    ]);
    // Nothing changes but the node itself.
    nodes.fail(pod(1), undefined);
    await at.system.pass(60);
    expect(added(1)).toEqual([a, c, '10.1.0.4']);
    expect(await connected()).toMatchObject({ status: 'True' });
    expect(at.system.waiting()).toEqual([]);
  });

  it('B13: a command without a response is not sent twice', async () => {
    await made([]);
    for (const [ordinal, ip] of [a, b].entries()) await at.bitcoin.pod(name, ordinal, { ip });
    nodes.fail(pod(0), 'drop-after');
    await reconcile();
    nodes.fail(pod(0), undefined);
    await at.system.pass(60);
    expect(added(0)).toEqual([b]);
    expect(commandsSent().filter((call) => call.startsWith('0: addnode'))).toHaveLength(1);
  });

  it('B13: a node that never responds ends in one dead letter, and the resync heals it', async () => {
    await made();
    nodes.fail('*', 'stopped');
    await at.bitcoin.network(name, { nodes: 2 });
    await reconcile();
    await at.system.pass(24 * 3600);
    expect(await at.system.deadLetters('bitcoin-peers')).toHaveLength(1);
    expect(await connected()).toMatchObject({ status: 'False' });
    nodes.fail('*', undefined);
    await at.system.tick();
    await at.system.pass(600);
    expect(await connected()).toMatchObject({ status: 'True' });
    expect([added(0), added(1)]).toEqual([[b], [a]]);
  });

  it('B28: a network whose nodes hang holds up no other, and is bounded itself', async () => {
    await made();
    await made([a, b], { nodes: 2 }, 'other');
    for (const ordinal of [0, 1, 2]) nodes.fail(pod(ordinal), 'hang');
    nodes.restart(pod(0, 'other'));
    await at.system.reconcile(networks, name, 'other');
    expect(await connected()).toMatchObject({ status: 'False', reason: 'RPCFailed' });
    expect(added(0, 'other')).toEqual([b]);
    expect(await connected('other')).toMatchObject({ status: 'True' });
  });
});

describe('BitcoinNetwork: functions and secrets', () => {
  it('B19a, B27: no command runs for a network that is being deleted or gone', async () => {
    await made();
    await at.system.patch(networks, name, { metadata: { finalizers: ['example.com/other'] } });
    await at.system.delete(networks, name);
    commandsSent();
    at.system.requests.length = 0;
    await reconcile();
    await at.system.patch(networks, name, { metadata: { finalizers: null } }).catch(() => undefined);
    await expect.poll(async () => await at.system.get(networks, name)).toBeUndefined();
    await reconcile();
    expect(commandsSent()).toEqual([]);
    expect(at.bitcoin.writes()).toEqual([]);
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
      ...at.system.lines,
      ...at.system.requests,
      ...at.system.waiting(),
      ...(await at.bitcoin.events()),
      JSON.stringify(await at.system.read(networks, name)),
    ].join('\n');
    expect(at.system.requests.filter((request) => request.includes('/secrets'))).toEqual([]);
    for (const printed of ['rpcuser', 'rpcpassword', 'Could not connect', 'Loading block index', 'BC_RPC']) {
      expect(shown).not.toContain(printed);
    }
  });
});
