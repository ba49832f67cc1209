// Only the bitcoin-cli in front of btcd where btcd's responses differ from bitcoind's, with recorded btcctl output. With
// real nodes: test/cluster/bitcoin-node.test.ts.
import { expect, it } from 'vitest';
import { createBitcoinCli } from '../../../tools/bitcoin-node/bitcoin-cli.ts';
import type { BtcctlResult } from '../../../tools/bitcoin-node/btcctl.ts';

/** The bitcoin-cli with a result of btcctl for each method. */
const cliWith = (results: Readonly<Record<string, BtcctlResult>>) => {
  const cli = createBitcoinCli(async ([method = '']) => results[method] ?? { type: 'unreachable' });
  return async (...args: readonly string[]) => await cli(args, new AbortController().signal);
};
const connectedNodes = (...ips: readonly string[]): BtcctlResult => ({
  type: 'ok',
  text: JSON.stringify(
    ips.map((ip) => ({
      addednode: `${ip}:18555`,
      connected: true,
      addresses: [{ address: ip, connected: 'outbound' }],
    })),
  ),
});

it('bitcoin-cli lists a node once when btcd has two connections to it', async () => {
  const run = cliWith({ getaddednodeinfo: connectedNodes('127.1.0.2', '127.1.0.2') });
  expect(JSON.parse((await run('getaddednodeinfo')).stdout)).toHaveLength(1);
});

it('bitcoin-cli addnode succeeds when btcd reports that nothing had to change', async () => {
  const addnode: BtcctlResult = { type: 'error', code: -8, message: 'peer not found' };
  expect(await cliWith({ getaddednodeinfo: connectedNodes(), addnode })('addnode', '127.1.0.2', 'add')).toMatchObject({
    exitCode: 0,
    stderr: '',
  });
});

it('bitcoin-cli exits with 28 while btcd does not listen', async () => {
  const run = cliWith({});
  for (const args of [['getnetworkinfo'], ['getaddednodeinfo'], ['addnode', '127.1.0.2', 'add']])
    expect(await run(...args)).toMatchObject({ exitCode: 28 });
});
