// Only the bitcoin-cli in front of btcd, with recorded btcctl output: where btcd's responses differ from bitcoind's,
// and how they are translated. With real nodes: test/cluster/bitcoin-node.test.ts.
import { describe, expect, it } from 'vitest';
import { createBitcoinCli } from '../../../tools/bitcoin-node/bitcoin-cli.ts';
import { type BtcctlResult, parseBtcctlError } from '../../../tools/bitcoin-node/btcctl.ts';

const { signal } = new AbortController();
/** A btcctl with a result for each method; it records its calls. */
function scripted(results: Readonly<Record<string, () => BtcctlResult>>) {
  const calls: string[] = [];
  const cli = createBitcoinCli(async (args) => {
    calls.push(args.join(' '));
    return results[args[0] ?? '']?.() ?? { type: 'unreachable' };
  });
  return { calls, run: (...args: readonly string[]) => cli(args, signal) };
}
const resultOf = (value: unknown): BtcctlResult => ({ type: 'ok', text: JSON.stringify(value) });
const connectedNodes = (...ips: readonly string[]) =>
  resultOf(
    ips.map((ip) => ({
      addednode: `${ip}:18555`,
      connected: true,
      addresses: [{ address: ip, connected: 'outbound' }],
    })),
  );
const done: BtcctlResult = { type: 'ok', text: '' };

describe('parseBtcctlError', () => {
  it.each([
    ['-8: peer already connected', { type: 'error', code: -8, message: 'peer already connected' }],
    ['-1: Command unimplemented', { type: 'error', code: -1, message: 'Command unimplemented' }],
    ['401 Unauthorized.', { type: 'unauthorized' }],
    ['open /x/rpc.cert: no such file or directory', { type: 'unreachable' }],
    ['Post "https://127.1.0.1:18556": dial tcp 127.1.0.1:18556: connect: connection refused', { type: 'unreachable' }],
  ])('parseBtcctlError parses %s', (text, expected) => expect(parseBtcctlError(text)).toEqual(expected));
});

describe('bitcoin-cli in front of btcd', () => {
  it('bitcoin-cli lists addresses without the port that btcd adds', async () => {
    const { run } = scripted({ getaddednodeinfo: () => connectedNodes('127.1.0.2') });
    expect(JSON.parse((await run('getaddednodeinfo')).stdout)).toEqual([
      {
        ...{ addednode: '127.1.0.2', connected: true },
        addresses: [{ address: '127.1.0.2:18555', connected: 'outbound' }],
      },
    ]);
  });

  it('bitcoin-cli lists a node once when btcd has two connections to it', async () => {
    const { run } = scripted({ getaddednodeinfo: () => connectedNodes('127.1.0.2', '127.1.0.2') });
    expect(JSON.parse((await run('getaddednodeinfo')).stdout)).toHaveLength(1);
  });

  it('bitcoin-cli lists added nodes without a connection, and adds each to btcd once', async () => {
    const { run, calls } = scripted({ getaddednodeinfo: () => connectedNodes(), addnode: () => done });
    expect(await run('addnode', '127.1.0.2', 'add')).toMatchObject({ exitCode: 0 });
    expect(await run('addnode', '127.1.0.2', 'add')).toMatchObject({ exitCode: 23 });
    expect(JSON.parse((await run('getaddednodeinfo')).stdout)).toEqual([
      { addednode: '127.1.0.2', connected: false, addresses: [] },
    ]);
    expect(calls.filter((line) => line.startsWith('addnode'))).toEqual(['addnode 127.1.0.2 add']);
  });

  it.each([
    'add',
    'remove',
  ])('bitcoin-cli addnode %s succeeds when btcd reports that nothing had to change', async (action) => {
    const { run } = scripted({
      getaddednodeinfo: () => (action === 'add' ? connectedNodes() : connectedNodes('127.1.0.2')),
      addnode: () => ({ type: 'error', code: -8, message: 'peer not found' }),
    });
    expect(await run('addnode', '127.1.0.2', action)).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('bitcoin-cli exits with 28 while btcd does not listen', async () => {
    const { run } = scripted({});
    for (const method of ['getnetworkinfo', 'getaddednodeinfo'])
      expect(await run(method)).toMatchObject({ exitCode: 28 });
    expect(await run('addnode', '127.1.0.2', 'add')).toMatchObject({ exitCode: 28 });
  });

  it('bitcoin-cli reports rejected credentials without a code, and every other error as -1', async () => {
    const unauthorized = scripted({ getaddednodeinfo: () => ({ type: 'unauthorized' }) });
    expect(await unauthorized.run('getaddednodeinfo')).toMatchObject({
      exitCode: 1,
      stderr: expect.not.stringContaining('code'),
    });
    const other = scripted({ getinfo: () => ({ type: 'error', code: -5, message: 'no' }) });
    expect(await other.run('getnetworkinfo')).toMatchObject({
      exitCode: 1,
      stderr: 'error code: -1\nerror message:\nno\n',
    });
  });
});
