// Real Bitcoin nodes in pods of the real control plane: a btcd for each pod, reached only by `pods/exec`. The
// controllers are tested elsewhere.

import { isRunning } from '@outrigger/cli/dev/folder-lock';
import { afterEach, describe, expect, it } from 'vitest';
import { bitcoinPrograms } from '../../tools/bitcoin-node/bitcoin-programs.ts';
import { type BitcoinPeer, bitcoinNodeCases } from '../../tools/bitcoin-node/node-cases.ts';
import type { Body } from '../conformance/body.ts';
import { isReady, statusOf } from '../simulators/workloads/workloads-harness.ts';
import { execOverWire } from '../support/exec-wire.ts';
import { useKubelet } from './kubelet-fixture.ts';

const programs = await bitcoinPrograms();
const { server, wire, kubelet, close, fixture } = await useKubelet({ nodeName: 'bitcoin-node-test', programs });
// Nodes of a finished case would only slow down the next one.
afterEach(() => wire.remove(`/api/v1/namespaces/${fixture().namespace}`));

const labels = { app: 'net' };
const cli = ['/usr/local/bin/bitcoin-cli', '-regtest', '-conf=/bitcoin.conf'];
const container = {
  name: 'net-sts-ctr',
  image: 'christianb93/bitcoind:v1.0',
  readinessProbe: { exec: { command: [...cli, 'getnetworkinfo'] } },
};
const ipOf = (pod: Body | undefined): string => String(statusOf(pod).podIP);

/** Creates a StatefulSet of nodes and waits until they are Ready. */
async function network(replicas: number): Promise<readonly Body[]> {
  const template = { metadata: { labels }, spec: { containers: [container] } };
  const spec = { replicas, serviceName: 'net', selector: { matchLabels: labels }, template };
  const all = { ...spec, podManagementPolicy: 'Parallel' };
  await fixture().make('statefulsets', { metadata: { name: 'net-sts' }, spec: all });
  return fixture().until('pods', (all) => all.length === replicas && all.every(isReady));
}

function peer(pod: Body | undefined): BitcoinPeer {
  const path = `${fixture().path('pods')}/${pod?.metadata?.name}`;
  return {
    ip: ipOf(pod),
    async cli(...args) {
      const { stdout, stderr, status } = await execOverWire(server, path, ['/usr/local/bin/bitcoin-cli', ...args]);
      expect(status).toBeDefined();
      const statusText = JSON.stringify(status);
      return { stdout, stderr, exitCode: Number(/"ExitCode","message":"(\d+)"/.exec(statusText)?.[1] ?? 0) };
    },
  };
}

const pidOf = (pod: Body | undefined): number => {
  const pid = programs.pid(ipOf(pod));
  if (pid === undefined) throw new Error(`no btcd runs at ${ipOf(pod)}`);
  return pid;
};

const restarted = (pod: Body | undefined) => JSON.stringify(statusOf(pod)).includes('"restartCount":1');

describe('a real Bitcoin node', () => {
  bitcoinNodeCases({
    async start() {
      const [one, other] = await network(2);
      return [peer(one), peer(other)];
    },
  });

  it('B13a: a killed Bitcoin node becomes Ready again at its address, with an empty list', async () => {
    const [one, other] = await network(2);
    const [a, b] = [peer(one), peer(other)];
    expect(await a.cli('addnode', b.ip, 'add')).toMatchObject({ exitCode: 0 });
    const before = pidOf(one);
    process.kill(before, 'SIGKILL');
    const [after] = await fixture().until('pods', ([pod]) => restarted(pod) && isReady(pod));
    expect(ipOf(after)).toBe(a.ip);
    expect(pidOf(after)).not.toBe(before);
    expect(await a.cli('getaddednodeinfo')).toMatchObject({ exitCode: 0, stdout: '[]\n' });
  });

  it('B12: a Bitcoin node that restarts with another address responds there', async () => {
    const [one] = await network(1);
    const key = { namespace: fixture().namespace, name: one?.metadata?.name ?? '' };
    await kubelet.restart(key, { readdressed: true });
    const [after] = await fixture().until('pods', ([pod]) => isReady(pod));
    expect(ipOf(after)).not.toBe(ipOf(one));
    expect(after?.metadata?.uid).toBe(one?.metadata?.uid);
    expect(restarted(after)).toBe(true);
    expect(await peer(after).cli('getaddednodeinfo')).toMatchObject({ exitCode: 0, stdout: '[]\n' });
    expect(programs.pid(ipOf(one))).toBeUndefined();
  });

  it('a Bitcoin node is stopped with its pod', async () => {
    const [one] = await network(1);
    const pid = pidOf(one);
    await wire.remove(`${fixture().path('statefulsets')}/net-sts`);
    await fixture().until('pods', (all) => all.length === 0);
    expect(isRunning(pid)).toBe(false);
  });

  it('a Bitcoin node is stopped with the kubelet', async () => {
    const pids = (await network(2)).map(pidOf);
    expect(pids.map(isRunning)).toEqual([true, true]);
    await close();
    expect(pids.map(isRunning)).toEqual([false, false]);
  });
});
