// What must be done to nodes' lists, and what the answers of bitcoin-cli mean. Which nodes there are is nodes.test.ts.

import { emptyNode, runBitcoinCli } from '@outrigger/cli/simulators/bitcoin-cli';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BitcoinCli, RpcError, setAddedNodes } from '../../../src/controllers/bitcoin-network/added-nodes.ts';

const [a, b] = ['10.0.0.1', '10.0.0.2'];

/** A node with a list; its commands are recorded. */
function nodeWith(...added: readonly string[]) {
  let node = { ...emptyNode, added };
  const told: string[] = [];
  const cli: BitcoinCli = async (...args) => {
    told.push(args.join(' '));
    const turn = runBitcoinCli(node, args, () => true);
    node = turn.node;
    return turn.result;
  };
  return { cli, told, added: () => node.added };
}

describe('setAddedNodes', () => {
  const address = fc.integer({ min: 1, max: 12 }).map((last) => `10.0.0.${last}`);
  const addresses = fc.uniqueArray(fc.oneof(address, fc.constantFrom('seed.example.com', '10.0.0.2:18444')));
  /** Any world: ready nodes, each with any list, foreign entries included. */
  const worlds = fc
    .uniqueArray(address, { minLength: 1 })
    .chain((ready) =>
      fc.tuple(fc.constant(ready), fc.array(addresses, { minLength: ready.length, maxLength: ready.length })),
    );

  it('B10, B11, B12, B13b: afterwards each ready node lists exactly the other ready ones, and never itself', async () => {
    await fc.assert(
      fc.asyncProperty(worlds, async ([ready, lists]) => {
        for (const [index, own] of ready.entries()) {
          const node = nodeWith(...(lists[index] ?? []));
          await setAddedNodes(node.cli, own, ready);
          expect([...node.added()].sort()).toEqual(ready.filter((ip) => ip !== own).sort());
        }
      }),
    );
  });

  it('B5, B29: where the list is right there is one read, and no command', async () => {
    await fc.assert(
      fc.asyncProperty(worlds, async ([ready]) => {
        const [own = ''] = ready;
        const node = nodeWith(...ready.slice(1));
        await setAddedNodes(node.cli, own, ready);
        expect(node.told).toEqual(['getaddednodeinfo']);
      }),
    );
  });

  it('B13, B13b: sends one command for each difference', async () => {
    await fc.assert(
      fc.asyncProperty(worlds, async ([ready, [listed = []]]) => {
        const [own = ''] = ready;
        const node = nodeWith(...listed);
        await setAddedNodes(node.cli, own, ready);
        const wanted = ready.filter((ip) => ip !== own);
        const surplus = listed.filter((one) => !wanted.includes(one));
        const missing = wanted.filter((one) => !listed.includes(one));
        expect(node.told).toHaveLength(1 + surplus.length + missing.length);
      }),
    );
  });

  it.each([
    ['add', 23, []],
    ['remove', 24, [{ addednode: b }]],
  ])('B13: an %s that ends with %i was already done by another client', async (what, exitCode, listed) => {
    const told: string[] = [];
    const cli: BitcoinCli = async (...args) => {
      told.push(args.join(' '));
      return args.at(-1) === what
        ? { exitCode, stdout: '', stderr: 'error code' }
        : { exitCode: 0, stdout: JSON.stringify(listed), stderr: '' };
    };
    await setAddedNodes(cli, a, what === 'add' ? [a, b] : [a]);
    expect(told).toEqual(['getaddednodeinfo', `addnode ${b} ${what}`]);
  });

  const refusal = 'error: Authorization failed: Incorrect rpcuser or rpcpassword';
  const oldRefusal = 'error: incorrect rpcuser or rpcpassword (authorization failed)';
  const loading = 'error code: -28\nerror message:\nLoading block index...';
  it.each([
    ['credentials refused', { exitCode: 1, stderr: refusal }, 'AuthFailed', 'credentials refused'],
    ['credentials refused by 0.15', { exitCode: 1, stderr: oldRefusal }, 'AuthFailed', 'credentials refused'],
    ['still starting', { exitCode: 28, stderr: loading }, 'RPCFailed', 'exit status 28 (still starting)'],
    ['already added, which is no answer to a read,', { exitCode: 23 }, 'RPCFailed', 'exit status 23'],
    ['no program of that name', { exitCode: 127 }, 'RPCFailed', 'exit status 127'],
    ['no JSON', { stdout: '<html>' }, 'RPCFailed', 'the answer cannot be read'],
    ['no list', { stdout: '{"addednode": "x"}' }, 'RPCFailed', 'the answer cannot be read'],
    ['a list of something else', { stdout: '[{"addednode": 5}]' }, 'RPCFailed', 'the answer cannot be read'],
  ])('B13: an answer with %s is an RpcError with the reason', async (_, answer, reason, message) => {
    const making = setAddedNodes(async () => ({ exitCode: 0, stdout: '', stderr: '', ...answer }), a, [a, b]);
    const thrown: unknown = await making.catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(RpcError);
    expect(thrown).toMatchObject({ reason, message: `getaddednodeinfo: ${message}` });
  });

  it('B24: shows nothing that a command printed', async () => {
    const said = { stdout: '[{"addednode": "user:hunter2"', stderr: 'rpcpassword=hunter2' };
    for (const exitCode of [0, 1, 23, 28]) {
      const thrown: unknown = await setAddedNodes(async () => ({ exitCode, ...said }), a, [a]).catch(String);
      expect(thrown).toContain('getaddednodeinfo');
      expect(thrown).not.toContain('hunter2');
    }
  });
});
