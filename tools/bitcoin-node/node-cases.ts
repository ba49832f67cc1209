// What a Bitcoin node says to bitcoin-cli, on whatever answers: the stand-in (test/local/worlds), and real btcd (test/cluster). So the
// stand-in is held to a real node, as far as real nodes of two makes agree.
import { expect, it } from 'vitest';
import type { Executed } from '../../src/local/api-server/exec/execute.ts';

/** Two nodes that can reach each other, started anew for each case. */
export interface BitcoinStage {
  start(): Promise<readonly [BitcoinPeer, BitcoinPeer]>;
}

/** One of them. */
export interface BitcoinPeer {
  readonly ip: string;
  /** Runs bitcoin-cli in its pod. */
  cli(...args: readonly string[]): Promise<Executed>;
}

const options = ['-regtest', '-conf=/bitcoin.conf'];
const patience = { timeout: 30_000, interval: 100 };
/** An address of loopback where nobody listens. */
const nobody = '127.15.255.254';

/** Declares the cases. */
export function bitcoinNodeCases({ start }: BitcoinStage): void {
  const list = async (node: BitcoinPeer): Promise<readonly { addednode: string; connected: boolean }[]> => {
    const { exitCode, stdout } = await node.cli(...options, 'getaddednodeinfo');
    expect(exitCode).toBe(0);
    return JSON.parse(stdout);
  };
  const addresses = async (node: BitcoinPeer) => (await list(node)).map(({ addednode }) => addednode).sort();
  const ok = { exitCode: 0, stdout: '', stderr: '' };

  it('a new node has added nobody', async () => {
    const [one] = await start();
    expect(await one.cli(...options, 'getaddednodeinfo')).toEqual({ ...ok, stdout: '[]\n' });
    expect(JSON.parse((await one.cli('getnetworkinfo')).stdout)).toMatchObject({ connections: 0 });
  });

  it('what was added is listed at once, and connected before long', async () => {
    const [one, other] = await start();
    expect(await one.cli(...options, 'addnode', other.ip, 'add')).toEqual(ok);
    expect(await addresses(one)).toEqual([other.ip]);
    expect(await addresses(other)).toEqual([]);
    await other.cli('getnetworkinfo');
    await expect.poll(() => list(one), patience).toMatchObject([{ addednode: other.ip, connected: true }]);
    const [entry] = JSON.parse((await one.cli('getaddednodeinfo', other.ip)).stdout);
    expect(entry.addresses).toEqual([{ address: expect.stringContaining(`${other.ip}:`), connected: 'outbound' }]);
    expect(await one.cli('addnode', other.ip, 'add')).toMatchObject({ exitCode: 23 });
    expect(await one.cli('addnode', other.ip, 'remove')).toEqual(ok);
    expect(await addresses(one)).toEqual([]);
  });

  it('each may add the other', async () => {
    const [one, other] = await start();
    for (const [node, peer] of [
      [one, other],
      [other, one],
    ] as const) {
      expect(await node.cli('addnode', peer.ip, 'add')).toEqual(ok);
      await node.cli('getnetworkinfo');
    }
    const connected = async () => [...(await list(one)), ...(await list(other))].map((entry) => entry.connected);
    await expect.poll(connected, patience).toEqual([true, true]);
    expect([await addresses(one), await addresses(other)]).toEqual([[other.ip], [one.ip]]);
  });

  it('B13: adding twice is 23, removing what is not there is 24', async () => {
    const [one] = await start();
    expect(await one.cli('addnode', nobody, 'remove')).toMatchObject({ exitCode: 24, stdout: '' });
    expect(await one.cli('addnode', nobody, 'add')).toEqual(ok);
    const again = await one.cli('addnode', nobody, 'add');
    expect(again).toEqual({
      ...{ exitCode: 23, stdout: '' },
      stderr: 'error code: -23\nerror message:\nError: Node already added\n',
    });
    expect(await list(one)).toEqual([{ addednode: nobody, connected: false, addresses: [] }]);
    expect(await one.cli('addnode', nobody, 'remove')).toEqual(ok);
    expect((await one.cli('addnode', nobody, 'remove')).stderr).toContain('error code: -24\n');
    expect(await addresses(one)).toEqual([]);
  });

  it('information about an address that was not added is 24', async () => {
    const [one] = await start();
    expect(await one.cli('getaddednodeinfo', nobody)).toMatchObject({ exitCode: 24, stdout: '' });
  });

  it('what makes no sense is 1, what is no method is 89', async () => {
    const [one] = await start();
    expect(await one.cli('addnode', nobody)).toMatchObject({ exitCode: 1, stdout: '' });
    expect(await one.cli('addnode', nobody, 'replace')).toMatchObject({ exitCode: 1, stdout: '' });
    expect(await one.cli('nothing')).toMatchObject({ exitCode: 89, stdout: '' });
  });
}
