// Only one stand-in node as bitcoin-cli shows it: a table of commands on a list, and what bitcoind says to each.
import { describe, expect, it } from 'vitest';
import { type BitcoinNode, runBitcoinCli, unauthorized, warmingUp } from '../../src/local/worlds/bitcoin-cli.ts';

const options = ['-regtest', '-conf=/bitcoin.conf'];
const everywhere = () => true;
const run = (added: readonly string[], ...args: readonly string[]) => {
  const { node, executed } = runBitcoinCli({ added }, [...options, ...args], everywhere);
  return { added: node.added, ...executed };
};
const error = (code: number, message: string) => `error code: ${code}\nerror message:\n${message}\n`;

describe('addnode', () => {
  it.each([
    ['add', [], ['a'], 0, ''],
    ['add', ['b'], ['b', 'a'], 0, ''],
    ['add', ['a', 'b'], ['a', 'b'], 23, error(-23, 'Error: Node already added')],
    ['remove', ['a', 'b'], ['b'], 0, ''],
    ['remove', ['b'], ['b'], 24, error(-24, 'Error: Node has not been added.')],
    ['onetry', ['b'], ['b'], 0, ''],
    ['replace', ['b'], ['b'], 1, error(-1, 'addnode "node" "add|remove|onetry"')],
  ])('addnode a %s on %j leaves %j and ends with status %i', (what, before, after, exitCode, stderr) => {
    expect(run(before, 'addnode', 'a', what)).toEqual({ added: after, exitCode, stdout: '', stderr });
  });

  it.each([[[]], [['a']], [['a', 'add', 'more']]])('with %j it says how it is used', (parameters) => {
    expect(run([], 'addnode', ...parameters)).toMatchObject({ added: [], exitCode: 1 });
  });

  it('takes an address as the text it is given', () => {
    expect(run(['127.0.0.1'], 'addnode', '127.0.0.1:18444', 'add').added).toEqual(['127.0.0.1', '127.0.0.1:18444']);
  });
});

describe('getaddednodeinfo', () => {
  it('lists what was added, in that order, with the addresses of those it reached', () => {
    const { executed } = runBitcoinCli({ added: ['b', 'a'] }, ['getaddednodeinfo'], (address) => address === 'a');
    expect(executed).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(executed.stdout)).toEqual([
      { addednode: 'b', connected: false, addresses: [] },
      { addednode: 'a', connected: true, addresses: [{ address: 'a:18444', connected: 'outbound' }] },
    ]);
  });

  it('lists nothing as an empty array', () => expect(run([], 'getaddednodeinfo').stdout).toBe('[]\n'));

  it('of one address gives that one, or 24', () => {
    expect(JSON.parse(run(['a', 'b'], 'getaddednodeinfo', 'b').stdout)).toMatchObject([{ addednode: 'b' }]);
    expect(run(['a'], 'getaddednodeinfo', 'b').exitCode).toBe(24);
  });

  it('B31: more nodes than bitcoind connects to are listed all the same', () => {
    const added = Array.from({ length: 11 }, (_, index) => `127.1.0.${index}`);
    const listed: readonly { readonly connected: boolean }[] = JSON.parse(run(added, 'getaddednodeinfo').stdout);
    expect(listed).toHaveLength(11);
    expect(listed.filter(({ connected }) => connected)).toHaveLength(8);
  });
});

describe('other commands', () => {
  it('getnetworkinfo counts the connections', () => {
    expect(JSON.parse(run(['a', 'b'], 'getnetworkinfo').stdout)).toMatchObject({ connections: 2, networkactive: true });
  });

  it('a method that bitcoind does not have changes nothing', () => {
    expect(run(['a'], 'stopp')).toMatchObject({
      added: ['a'],
      exitCode: 89,
      stderr: error(-32601, 'Method not found'),
    });
  });

  it('options alone are too few parameters', () => expect(run([])).toMatchObject({ exitCode: 1, stdout: '' }));

  it('a node that starts says 28, and one that refuses its credentials says no code at all', () => {
    expect(warmingUp()).toMatchObject({ exitCode: 28, stderr: error(-28, 'Loading block index...') });
    expect(unauthorized()).toMatchObject({ exitCode: 1, stdout: '' });
    expect(unauthorized().stderr).not.toContain('code');
  });

  it('no command changes the list that it was given', () => {
    const node: BitcoinNode = Object.freeze({ added: Object.freeze(['a']) });
    for (const what of ['add', 'remove']) runBitcoinCli(node, ['addnode', 'a', what], everywhere);
    expect(node.added).toEqual(['a']);
  });
});
