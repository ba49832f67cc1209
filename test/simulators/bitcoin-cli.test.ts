// Only one simulated node as bitcoin-cli shows it: a table of commands, their outputs and the list of added nodes.

import { type BitcoinNode, runBitcoinCli, unauthorized, warmingUp } from '@outrigger/cli/simulators/bitcoin-cli';
import { expect, it } from 'vitest';

const options = ['-regtest', '-conf=/bitcoin.conf'];
const everywhere = () => true;
const run = (added: readonly string[], ...args: readonly string[]) => {
  const { node, result } = runBitcoinCli({ added }, [...options, ...args], everywhere);
  return { added: node.added, ...result };
};
const error = (code: number, message: string) => `error code: ${code}\nerror message:\n${message}\n`;

it.each([
  ['add', [], ['a'], 0, ''],
  ['add', ['b'], ['b', 'a'], 0, ''],
  ['add', ['a', 'b'], ['a', 'b'], 23, error(-23, 'Error: Node already added')],
  ['remove', ['a', 'b'], ['b'], 0, ''],
  ['remove', ['b'], ['b'], 24, error(-24, 'Error: Node has not been added.')],
  ['onetry', ['b'], ['b'], 0, ''],
  ['replace', ['b'], ['b'], 1, error(-1, 'addnode "node" "add|remove|onetry"')],
])('bitcoin-cli addnode a %s on the list %j leaves %j and exits with status %i', (action, before, after, exitCode, stderr) => {
  expect(run(before, 'addnode', 'a', action)).toEqual({ added: after, exitCode, stdout: '', stderr });
});

it.each([
  [[]],
  [['a']],
  [['a', 'add', 'more']],
])('bitcoin-cli addnode with the parameters %j prints its usage', (parameters) => {
  expect(run([], 'addnode', ...parameters)).toMatchObject({ added: [], exitCode: 1 });
});

it('bitcoin-cli addnode adds an address exactly as given, port included', () => {
  expect(run(['127.0.0.1'], 'addnode', '127.0.0.1:18444', 'add').added).toEqual(['127.0.0.1', '127.0.0.1:18444']);
});

it('bitcoin-cli getaddednodeinfo lists added nodes in order, with the addresses of connected ones', () => {
  const { result } = runBitcoinCli({ added: ['b', 'a'] }, ['getaddednodeinfo'], (address) => address === 'a');
  expect(result).toMatchObject({ exitCode: 0, stderr: '' });
  expect(JSON.parse(result.stdout)).toEqual([
    { addednode: 'b', connected: false, addresses: [] },
    { addednode: 'a', connected: true, addresses: [{ address: 'a:18444', connected: 'outbound' }] },
  ]);
});

it('bitcoin-cli getaddednodeinfo of one address prints that node, or exits with 24 when it was not added', () => {
  expect(JSON.parse(run(['a', 'b'], 'getaddednodeinfo', 'b').stdout)).toMatchObject([{ addednode: 'b' }]);
  expect(run(['a'], 'getaddednodeinfo', 'b').exitCode).toBe(24);
});

it('B31: bitcoin-cli getaddednodeinfo also lists nodes beyond the limit of connections', () => {
  const added = Array.from({ length: 11 }, (_, index) => `127.1.0.${index}`);
  const listed: readonly { readonly connected: boolean }[] = JSON.parse(run(added, 'getaddednodeinfo').stdout);
  expect(listed).toHaveLength(11);
  expect(listed.filter(({ connected }) => connected)).toHaveLength(8);
});

it('bitcoin-cli getnetworkinfo counts the connections', () => {
  expect(JSON.parse(run(['a', 'b'], 'getnetworkinfo').stdout)).toMatchObject({ connections: 2, networkactive: true });
});

it('bitcoin-cli with an unknown method exits with an error and changes nothing', () => {
  expect(run(['a'], 'stopp')).toMatchObject({
    added: ['a'],
    exitCode: 89,
    stderr: error(-32601, 'Method not found'),
  });
});

it('bitcoin-cli with options only exits with status 1', () =>
  expect(run([])).toMatchObject({ exitCode: 1, stdout: '' }));

it('bitcoin-cli exits with 28 while the node starts, and prints no code when credentials are rejected', () => {
  expect(warmingUp()).toMatchObject({ exitCode: 28, stderr: error(-28, 'Loading block index...') });
  expect(unauthorized()).toMatchObject({ exitCode: 1, stdout: '' });
  expect(unauthorized().stderr).not.toContain('code');
});

it('runBitcoinCli does not modify the node that it is given', () => {
  const node: BitcoinNode = Object.freeze({ added: Object.freeze(['a']) });
  for (const action of ['add', 'remove']) runBitcoinCli(node, ['addnode', 'a', action], everywhere);
  expect(node.added).toEqual(['a']);
});
