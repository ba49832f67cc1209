// Only the thin bitcoin-cli in front of btcd, with what btcctl says written down: where btcd's answers differ from bitcoind's, and what
// becomes of them. With real nodes it is test/cluster/bitcoin-node.test.ts.
import { describe, expect, it } from 'vitest';
import { createBitcoinCli } from './bitcoin-cli.ts';
import { type BtcctlAnswer, refusal } from './btcctl.ts';

const { signal } = new AbortController();
/** A btcctl that answers by method; what it was asked is written down. */
function scripted(answers: Readonly<Record<string, () => BtcctlAnswer>>) {
  const asked: string[] = [];
  const cli = createBitcoinCli(async (args) => {
    asked.push(args.join(' '));
    return answers[args[0] ?? '']?.() ?? { type: 'unreachable' };
  });
  return { asked, run: (...args: readonly string[]) => cli(args, signal) };
}
const answered = (value: unknown): BtcctlAnswer => ({ type: 'answered', text: JSON.stringify(value) });
const reached = (...ips: readonly string[]) =>
  answered(
    ips.map((ip) => ({
      addednode: `${ip}:18555`,
      connected: true,
      addresses: [{ address: ip, connected: 'outbound' }],
    })),
  );
const done: BtcctlAnswer = { type: 'answered', text: '' };

describe('what btcctl says when it fails', () => {
  it.each([
    ['-8: peer already connected', { type: 'refused', code: -8, message: 'peer already connected' }],
    ['-1: Command unimplemented', { type: 'refused', code: -1, message: 'Command unimplemented' }],
    ['401 Unauthorized.', { type: 'unauthorized' }],
    ['open /x/rpc.cert: no such file or directory', { type: 'unreachable' }],
    ['Post "https://127.1.0.1:18556": dial tcp 127.1.0.1:18556: connect: connection refused', { type: 'unreachable' }],
  ])('%s is read', (said, expected) => expect(refusal(said)).toEqual(expected));
});

describe('bitcoin-cli', () => {
  it('lists addresses without the port that btcd adds', async () => {
    const { run } = scripted({ getaddednodeinfo: () => reached('127.1.0.2') });
    expect(JSON.parse((await run('getaddednodeinfo')).stdout)).toEqual([
      {
        ...{ addednode: '127.1.0.2', connected: true },
        addresses: [{ address: '127.1.0.2:18555', connected: 'outbound' }],
      },
    ]);
  });

  it('lists once what btcd reached twice', async () => {
    const { run } = scripted({ getaddednodeinfo: () => reached('127.1.0.2', '127.1.0.2') });
    expect(JSON.parse((await run('getaddednodeinfo')).stdout)).toHaveLength(1);
  });

  it('lists what btcd was told and has not reached, and tells it only once', async () => {
    const { run, asked } = scripted({ getaddednodeinfo: () => reached(), addnode: () => done });
    expect(await run('addnode', '127.1.0.2', 'add')).toMatchObject({ exitCode: 0 });
    expect(await run('addnode', '127.1.0.2', 'add')).toMatchObject({ exitCode: 23 });
    expect(JSON.parse((await run('getaddednodeinfo')).stdout)).toEqual([
      { addednode: '127.1.0.2', connected: false, addresses: [] },
    ]);
    expect(asked.filter((line) => line.startsWith('addnode'))).toEqual(['addnode 127.1.0.2 add']);
  });

  it.each(['add', 'remove'])('%s is done when btcd says that it was so already', async (what) => {
    const { run } = scripted({
      getaddednodeinfo: () => (what === 'add' ? reached() : reached('127.1.0.2')),
      addnode: () => ({ type: 'refused', code: -8, message: 'peer not found' }),
    });
    expect(await run('addnode', '127.1.0.2', what)).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('is still warming up while btcd does not listen', async () => {
    const { run } = scripted({});
    for (const method of ['getnetworkinfo', 'getaddednodeinfo'])
      expect(await run(method)).toMatchObject({ exitCode: 28 });
    expect(await run('addnode', '127.1.0.2', 'add')).toMatchObject({ exitCode: 28 });
  });

  it('says that it may not ask without a code, and every other refusal as -1', async () => {
    const refused = scripted({ getaddednodeinfo: () => ({ type: 'unauthorized' }) });
    expect(await refused.run('getaddednodeinfo')).toMatchObject({
      exitCode: 1,
      stderr: expect.not.stringContaining('code'),
    });
    const other = scripted({ getinfo: () => ({ type: 'refused', code: -5, message: 'no' }) });
    expect(await other.run('getnetworkinfo')).toMatchObject({
      exitCode: 1,
      stderr: 'error code: -1\nerror message:\nno\n',
    });
  });
});
