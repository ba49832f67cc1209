// The kubelet of tests on the real control plane: what it says of pods is enough for the real controllers, and a real kube-apiserver
// finds its way to `pods/exec`. Excluded: pods that run a program (bitcoin-node.test.ts).
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createClient } from '../../src/kube/client/client.ts';
import { createBitcoinNodes } from '../../src/simulators/bitcoin.ts';
import type { Body } from '../conformance/body.ts';
import { createWire } from '../conformance/wire.ts';
import '../../tools/control-plane/global-setup.ts';
import { execSessionCases } from '../../tools/kubelet/exec-cases.ts';
import { startKubelet } from '../../tools/kubelet/kubelet.ts';
import { scriptedExecute } from '../kubelet/scripted-execute.ts';
import { names, openTheatre, statusOf, type Theatre } from '../simulators/workloads/workloads-harness.ts';
import { execOverWire } from '../support/exec-wire.ts';

const { url, ca, adminToken, kubeconfig, kubectlPath } = inject('controlPlane');
const server = { url, ca, token: adminToken };
const wire = createWire(server);
const client = createClient({ server: new URL(url), ca, token: async () => adminToken });
const script = scriptedExecute();
const nodes = createBitcoinNodes();
const ours = new Set<string>();
const kubelet = await startKubelet(client, {
  nodeName: 'kubelet-test',
  takes: (namespace) => ours.has(namespace),
  execute: (request) => (request.image?.includes('bitcoind') ? nodes : script).execute(request),
});
afterAll(async () => {
  await kubelet.close();
  client.close();
});

let at: Theatre;
const namespaceOf = (theatre: Theatre): string => theatre.path('pods').split('/')[4] ?? '';
beforeEach(async () => {
  at = await openTheatre({ wire });
  ours.add(namespaceOf(at));
});

const labels = { app: 'one' };
const podSpec = (...containers: readonly string[]) => ({
  containers: containers.map((name) => ({ name, image: `${name}:1` })),
});
const template = { metadata: { labels }, spec: podSpec('main') };
const workload = (replicas: number) => ({
  metadata: { name: 'one' },
  spec: { replicas, selector: { matchLabels: labels }, template, serviceName: 'one' },
});
const deployment = (replicas: number) => {
  const { serviceName: _, ...spec } = workload(replicas).spec;
  return { metadata: { name: 'one' }, spec };
};
const isReady = (pod: Body | undefined) =>
  typeof pod?.status === 'object' &&
  pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
const keyOf = (name = 'one') => ({ namespace: namespaceOf(at), name });

describe('pods', () => {
  it('of a StatefulSet become Ready one after the other, each at an address of its own', async () => {
    await at.make('statefulsets', workload(3));
    await at.until('statefulsets', ([set]) => statusOf(set).readyReplicas === 3);
    const pods = await at.until('pods', (all) => all.length === 3);
    expect(names(pods)).toEqual(['one-0', 'one-1', 'one-2']);
    expect(new Set(pods.map((pod) => statusOf(pod).podIP)).size).toBe(3);
    expect(pods.map(({ spec }) => spec?.nodeName)).toEqual(Array(3).fill('kubelet-test'));
  });

  it('of a Deployment become available, and a Service finds them', async () => {
    await at.make('services', { metadata: { name: 'one' }, spec: { selector: labels, ports: [{ port: 80 }] } });
    await at.make('deployments', deployment(2));
    await at.until('deployments', ([one]) => statusOf(one).availableReplicas === 2);
    const ready = ([slice]: readonly Body[]) => (JSON.stringify(slice ?? {}).match(/"ready":true/g) ?? []).length;
    await at.until('endpointslices', (slices) => ready(slices) === 2);
  });

  it('that a test makes unready are unready until it makes them ready again', async () => {
    await at.make('deployments', deployment(2));
    await at.until('deployments', ([one]) => statusOf(one).availableReplicas === 2);
    const [pod = ''] = names(await at.until('pods', (all) => all.length === 2));
    await kubelet.setReady(keyOf(pod), false);
    await at.until('deployments', ([one]) => statusOf(one).availableReplicas === 1);
    await kubelet.setReady(keyOf(pod), true);
    await at.until('deployments', ([one]) => statusOf(one).availableReplicas === 2);
  });

  it.each([
    [false, 'the same address'],
    [true, 'another address'],
  ])('that restart (readdressed: %s) have %s and count it', async (readdressed, _what) => {
    await at.make('pods', { metadata: { name: 'one' }, spec: podSpec('main') });
    const [before] = await at.until('pods', ([one]) => isReady(one));
    await kubelet.restart(keyOf(), { readdressed });
    const [after] = await at.until('pods', () => true);
    expect(after?.metadata?.uid).toBe(before?.metadata?.uid);
    expect(statusOf(after).podIP === statusOf(before).podIP).toBe(!readdressed);
    expect(statusOf(after)).toMatchObject({ containerStatuses: [{ restartCount: 1, ready: true }] });
  });

  it('that are deleted with their grace period are gone, and another takes the place', async () => {
    await at.make('statefulsets', workload(1));
    const [before] = await at.until('pods', ([one]) => isReady(one));
    await wire.remove(`${at.path('pods')}/one-0`, { gracePeriodSeconds: 30 });
    await at.until('pods', ([one]) => isReady(one) && one?.metadata?.uid !== before?.metadata?.uid);
  });

  it('in namespaces of others are left alone', async () => {
    const elsewhere = await openTheatre({ wire });
    await elsewhere.make('pods', { metadata: { name: 'one' }, spec: podSpec('main') });
    await at.make('pods', { metadata: { name: 'one' }, spec: podSpec('main') });
    await at.until('pods', ([one]) => isReady(one));
    const [pod] = await elsewhere.until('pods', () => true);
    expect(pod?.spec?.nodeName).toBeUndefined();
  });

  it('whose probe is a command are Ready when it succeeds', async () => {
    const container = { name: 'net-sts-ctr', image: 'bitcoind:1' };
    const readinessProbe = { exec: { command: ['bitcoin-cli', 'getnetworkinfo'] } };
    nodes.fail(keyOf(), 'warming-up');
    await at.make('pods', { metadata: { name: 'one' }, spec: { containers: [{ ...container, readinessProbe }] } });
    const [before] = await at.until('pods', ([one]) => statusOf(one).phase === 'Running');
    expect(isReady(before)).toBe(false);
    nodes.fail(keyOf(), undefined);
    await at.until('pods', ([one]) => isReady(one));
  });
});

describe('commands', () => {
  execSessionCases({
    server,
    script,
    async runPod(containers = ['main']) {
      const made = await at.make('pods', { metadata: { generateName: 'pod-' }, spec: podSpec(...containers) });
      const name = made.metadata?.name ?? '';
      await at.until('pods', (all) => all.some((pod) => pod.metadata?.name === name && isReady(pod)));
      return `${at.path('pods')}/${name}`;
    },
  });

  it('kubectl runs them too', async () => {
    await at.make('pods', { metadata: { name: 'one' }, spec: podSpec('main') });
    await at.until('pods', ([one]) => isReady(one));
    const run = promisify(execFile);
    const args = ['--kubeconfig', kubeconfig, '--namespace', namespaceOf(at), 'exec', 'one', '--'];
    expect(await run(kubectlPath, [...args, 'echo', 'hello'])).toEqual({ stdout: 'hello\n', stderr: 'said\n' });
    await expect(run(kubectlPath, [...args, 'fail', '23'])).rejects.toMatchObject({ code: 23 });
  });
});

describe('the node', () => {
  it('is Ready while its kubelet runs, and gone with it; its pods cannot be reached then', async () => {
    const brief = await startKubelet(client, {
      nodeName: 'kubelet-brief',
      takes: (namespace) => namespace === 'kubelet-brief',
    });
    const { body } = await wire.get('/api/v1/nodes/kubelet-brief');
    expect(body.status).toMatchObject({ conditions: [{ type: 'Ready', status: 'True' }] });
    await wire.post('/api/v1/namespaces', { metadata: { name: 'kubelet-brief' } });
    const path = '/api/v1/namespaces/kubelet-brief/pods';
    await wire.post(path, { metadata: { name: 'one' }, spec: podSpec('main') });
    await expect.poll(async () => isReady((await wire.get(`${path}/one`)).body), { timeout: 20_000 }).toBe(true);
    await brief.close();
    expect((await wire.get('/api/v1/nodes/kubelet-brief')).status).toBe(404);
    expect((await execOverWire(server, `${path}/one`, ['echo'])).refused?.status).toBe(404);
  });
});
