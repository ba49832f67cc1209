// The results of bitcoin-cli on any node: on the simulator (test/simulators), and on a real btcd (test/cluster). They
// verify the simulator against a real node, as far as the two implementations agree.

import type { ExecOutcome } from '@outrigger/apiserver/exec/execute';
import { expect, it } from 'vitest';

/** Creates two nodes that can reach each other, new ones for each case. */
export type BitcoinFixture = {
  start(): Promise<readonly [BitcoinPeer, BitcoinPeer]>;
};

/** One of the nodes. */
export type BitcoinPeer = {
  readonly ip: string;
  /** Runs bitcoin-cli in its pod. */
  cli(...args: readonly string[]): Promise<ExecOutcome>;
};

const options = ['-regtest', '-conf=/bitcoin.conf'];
const pollOptions = { timeout: 30_000, interval: 100 };
/** A loopback address without a listener. */
const unreachable = '127.15.255.254';

/** Declares the cases. */
export function bitcoinNodeCases({ start }: BitcoinFixture): void {
  const list = async (node: BitcoinPeer): Promise<readonly { addednode: string; connected: boolean }[]> => {
    const { exitCode, stdout } = await node.cli(...options, 'getaddednodeinfo');
    expect(exitCode).toBe(0);
    return JSON.parse(stdout);
  };
  const addresses = async (node: BitcoinPeer) => (await list(node)).map(({ addednode }) => addednode).sort();
  const ok = { exitCode: 0, stdout: '', stderr: '' };

  it('a new Bitcoin node has no added nodes', async () => {
    const [one] = await start();
    expect(await one.cli(...options, 'getaddednodeinfo')).toEqual({ ...ok, stdout: '[]\n' });
    expect(JSON.parse((await one.cli('getnetworkinfo')).stdout)).toMatchObject({ connections: 0 });
  });

  it('bitcoin-cli lists an added node at once, and its connection soon after', async () => {
    const [one, other] = await start();
    expect(await one.cli(...options, 'addnode', other.ip, 'add')).toEqual(ok);
    expect(await addresses(one)).toEqual([other.ip]);
    expect(await addresses(other)).toEqual([]);
    await other.cli('getnetworkinfo');
    await expect.poll(() => list(one), pollOptions).toMatchObject([{ addednode: other.ip, connected: true }]);
    const [entry] = JSON.parse((await one.cli('getaddednodeinfo', other.ip)).stdout);
    expect(entry.addresses).toEqual([{ address: expect.stringContaining(`${other.ip}:`), connected: 'outbound' }]);
    expect(await one.cli('addnode', other.ip, 'add')).toMatchObject({ exitCode: 23 });
    expect(await one.cli('addnode', other.ip, 'remove')).toEqual(ok);
    expect(await addresses(one)).toEqual([]);
  });

  it('two Bitcoin nodes may add each other', async () => {
    const [one, other] = await start();
    for (const [node, peer] of [
      [one, other],
      [other, one],
    ] as const) {
      expect(await node.cli('addnode', peer.ip, 'add')).toEqual(ok);
      await node.cli('getnetworkinfo');
    }
    const connected = async () => [...(await list(one)), ...(await list(other))].map((entry) => entry.connected);
    await expect.poll(connected, pollOptions).toEqual([true, true]);
    expect([await addresses(one), await addresses(other)]).toEqual([[other.ip], [one.ip]]);
  });

  it('B13: bitcoin-cli exits with 23 for a repeated add, and with 24 for the removal of an unknown node', async () => {
    const [one] = await start();
    expect(await one.cli('addnode', unreachable, 'remove')).toMatchObject({ exitCode: 24, stdout: '' });
    expect(await one.cli('addnode', unreachable, 'add')).toEqual(ok);
    const repeated = await one.cli('addnode', unreachable, 'add');
    expect(repeated).toEqual({
      exitCode: 23,
      stdout: '',
      stderr: 'error code: -23\nerror message:\nError: Node already added\n',
    });
    expect(await list(one)).toEqual([{ addednode: unreachable, connected: false, addresses: [] }]);
    expect(await one.cli('addnode', unreachable, 'remove')).toEqual(ok);
    expect((await one.cli('addnode', unreachable, 'remove')).stderr).toContain('error code: -24\n');
    expect(await addresses(one)).toEqual([]);
  });

  it('bitcoin-cli getaddednodeinfo exits with 24 for an address that was not added', async () => {
    const [one] = await start();
    expect(await one.cli('getaddednodeinfo', unreachable)).toMatchObject({ exitCode: 24, stdout: '' });
  });

  it('bitcoin-cli exits with 1 for wrong parameters, and with 89 for an unknown method', async () => {
    const [one] = await start();
    expect(await one.cli('addnode', unreachable)).toMatchObject({ exitCode: 1, stdout: '' });
    expect(await one.cli('addnode', unreachable, 'replace')).toMatchObject({ exitCode: 1, stdout: '' });
    expect(await one.cli('nothing')).toMatchObject({ exitCode: 89, stdout: '' });
  });
}
