// Only the simulated nodes together: the node of each pod, and the faults. The results of one node's commands are in
// bitcoin-cli.test.ts.

import type { ExecRequest } from '@outrigger/apiserver/exec/execute';
import { createBitcoinNodes } from '@outrigger/cli/simulators/bitcoin';
import { describe, expect, it } from 'vitest';
import { bitcoinNodeCases } from '../../tools/bitcoin-node/node-cases.ts';

const cli = ['/usr/local/bin/bitcoin-cli', '-regtest', '-conf=/bitcoin.conf'];
const pod = { namespace: 'n', name: 'net-sts-0' };
const request = (args: readonly string[], rest: Partial<ExecRequest> = {}): ExecRequest => ({
  namespace: 'n',
  pod: pod.name,
  container: 'net-sts-ctr',
  image: 'christianb93/bitcoind:v1.0',
  ip: '127.1.0.1',
  command: [...cli, ...args],
  signal: new AbortController().signal,
  ...rest,
});
const add = (ip: string, rest?: Partial<ExecRequest>) => request(['addnode', ip, 'add'], rest);

describe('simulated Bitcoin nodes', () => {
  it('each pod has a node of its own', async () => {
    const nodes = createBitcoinNodes();
    await nodes.execute(add('127.1.0.2'));
    await nodes.execute(add('127.1.0.1', { pod: 'net-sts-1', ip: '127.1.0.2' }));
    expect(nodes.added(pod)).toEqual(['127.1.0.2']);
    expect(nodes.added({ ...pod, name: 'net-sts-1' })).toEqual(['127.1.0.1']);
    expect(nodes.added({ namespace: 'elsewhere', name: pod.name })).toEqual([]);
  });

  it('B12: a pod with another address gets a new node with an empty list', async () => {
    const nodes = createBitcoinNodes();
    await nodes.execute(add('127.1.0.2'));
    expect((await nodes.execute(request(['getaddednodeinfo'], { ip: '127.1.0.9' }))).stdout).toBe('[]\n');
    expect(nodes.added(pod)).toEqual([]);
  });

  it('B13a: a restart of a node empties its list and keeps its address', async () => {
    const nodes = createBitcoinNodes();
    await nodes.execute(add('127.1.0.2'));
    nodes.restart(pod);
    expect(nodes.added(pod)).toEqual([]);
    expect(await nodes.execute(add('127.1.0.2'))).toMatchObject({ exitCode: 0 });
  });

  it('a node is connected to an added address once a node exists there', async () => {
    const nodes = createBitcoinNodes();
    await nodes.execute(add('127.1.0.2'));
    const connected = async () => JSON.parse((await nodes.execute(request(['getaddednodeinfo']))).stdout)[0].connected;
    expect(await connected()).toBe(false);
    await nodes.execute(request(['getnetworkinfo'], { pod: 'net-sts-1', ip: '127.1.0.2' }));
    expect(await connected()).toBe(true);
  });

  it('BitcoinNodes.calls lists every command, including failed ones', async () => {
    const nodes = createBitcoinNodes();
    nodes.fail('*', 'drop');
    await expect(nodes.execute(add('127.1.0.2'))).rejects.toThrow();
    const args = ['-regtest', '-conf=/bitcoin.conf', 'addnode', '127.1.0.2', 'add'];
    expect(nodes.calls()).toEqual([{ namespace: 'n', pod: pod.name, args }]);
  });

  it.each([
    ['another program', { command: ['sh', '-c', 'true'] }],
    ['a pod of something else', { image: 'memcached:1.6' }],
  ])('a command of %s exits with 127 and is not in BitcoinNodes.calls', async (_what, rest) => {
    const nodes = createBitcoinNodes();
    expect(await nodes.execute(request(['getaddednodeinfo'], rest))).toMatchObject({ exitCode: 127 });
    expect(nodes.calls()).toEqual([]);
  });
});

it.each([
  ['warming-up', 28, 'error code: -28'],
  ['unauthorized', 1, 'Authorization failed'],
  ['stopped', 1, 'Could not connect'],
] as const)('the fault %s exits with status %i and changes nothing until it is removed', async (fault, exitCode, message) => {
  const nodes = createBitcoinNodes();
  nodes.fail(pod, fault);
  expect(await nodes.execute(add('127.1.0.2'))).toMatchObject({ exitCode, stderr: expect.stringContaining(message) });
  expect(nodes.added(pod)).toEqual([]);
  expect(await nodes.execute(add('127.1.0.1', { pod: 'net-sts-1' }))).toMatchObject({ exitCode: 0 });
  nodes.fail(pod, undefined);
  expect(await nodes.execute(add('127.1.0.2'))).toMatchObject({ exitCode: 0 });
});

it.each([
  ['drop', []],
  ['drop-after', ['127.1.0.2']],
] as const)('the fault %s rejects the command and leaves %j', async (fault, added) => {
  const nodes = createBitcoinNodes();
  nodes.fail('*', fault);
  await expect(nodes.execute(add('127.1.0.2'))).rejects.toThrow('cut');
  expect(nodes.added(pod)).toEqual(added);
});

it('the fault hang ends only when the exec request is aborted', async () => {
  const nodes = createBitcoinNodes();
  nodes.fail(pod, 'hang');
  const aborter = new AbortController();
  const hanging = nodes.execute(add('127.1.0.2', { signal: aborter.signal }));
  aborter.abort();
  await expect(hanging).rejects.toThrow('aborted');
  expect(nodes.added(pod)).toEqual([]);
});

describe('simulated Bitcoin node, as a real one', () => {
  bitcoinNodeCases({
    async start() {
      const nodes = createBitcoinNodes();
      const peer = (name: string, ip: string) => ({
        ip,
        cli: (...args: readonly string[]) =>
          nodes.execute(request([], { pod: name, ip, command: ['bitcoin-cli', ...args] })),
      });
      return [peer('one', '127.1.0.1'), peer('other', '127.1.0.2')];
    },
  });
});
