// The test kubelet on the real control plane: its pod statuses are sufficient for the real controllers, and a real
// kube-apiserver reaches it for `pods/exec`. Excluded: pods with a program, their restarts, addresses and ends
// (bitcoin-node.test.ts).
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createBitcoinNodes } from '@outrigger/cli/simulators/bitcoin';
import { describe, expect, inject, it } from 'vitest';
import { execSessionCases } from '../../tools/kubelet/exec-cases.ts';
import { startKubelet } from '../../tools/kubelet/kubelet.ts';
import { scriptedExecute } from '../../tools/kubelet/scripted-execute.ts';
import type { Body } from '../conformance/body.ts';
import { isReady, names, openNamespaceFixture, statusOf } from '../simulators/workloads/workloads-harness.ts';
import { execOverWire } from '../support/exec-wire.ts';
import { useKubelet } from './kubelet-fixture.ts';

const { kubeconfig, kubectlPath } = inject('controlPlane');
const script = scriptedExecute();
const nodes = createBitcoinNodes();
const { server, wire, client, kubelet, fixture } = await useKubelet({
  nodeName: 'kubelet-test',
  execute: (request) => (request.image?.includes('bitcoind') ? nodes : script).execute(request),
});

const labels = { app: 'one' };
const podSpec = (...containers: readonly string[]) => ({
  containers: containers.map((name) => ({ name, image: `${name}:1` })),
});
const template = { metadata: { labels }, spec: podSpec('main') };
const metadata = { name: 'one' };
const selector = { matchLabels: labels };
const keyOf = (name = 'one') => ({ namespace: fixture().namespace, name });

describe('pods of the test kubelet', () => {
  it('pods of a Deployment are available and endpoints of a Service, except while Kubelet.setReady makes one not ready', async () => {
    await fixture().make('services', { metadata: { name: 'one' }, spec: { selector: labels, ports: [{ port: 80 }] } });
    await fixture().make('deployments', { metadata, spec: { replicas: 2, selector, template } });
    const ready = ([slice]: readonly Body[]) => (JSON.stringify(slice ?? {}).match(/"ready":true/g) ?? []).length;
    const untilReady = async (count: number) => {
      await fixture().until('deployments', ([one]) => statusOf(one).availableReplicas === count);
      await fixture().until('endpointslices', (slices) => ready(slices) === count);
    };
    await untilReady(2);
    const [pod = ''] = names(await fixture().until('pods', (all) => all.length === 2));
    await kubelet.setReady(keyOf(pod), false);
    await untilReady(1);
    await kubelet.setReady(keyOf(pod), true);
    await untilReady(2);
  });

  it('pods in other namespaces are not touched', async () => {
    const elsewhere = await openNamespaceFixture({ wire });
    await elsewhere.make('pods', { metadata: { name: 'one' }, spec: podSpec('main') });
    await fixture().make('pods', { metadata: { name: 'one' }, spec: podSpec('main') });
    await fixture().until('pods', ([one]) => isReady(one));
    const [pod] = await elsewhere.until('pods', () => true);
    expect(pod?.spec?.nodeName).toBeUndefined();
  });

  it('a pod with an exec probe is Ready when the command succeeds', async () => {
    const container = { name: 'net-sts-ctr', image: 'bitcoind:1' };
    const readinessProbe = { exec: { command: ['bitcoin-cli', 'getnetworkinfo'] } };
    nodes.fail(keyOf(), 'warming-up');
    await fixture().make('pods', {
      metadata: { name: 'one' },
      spec: { containers: [{ ...container, readinessProbe }] },
    });
    const [before] = await fixture().until('pods', ([one]) => statusOf(one).phase === 'Running');
    expect(isReady(before)).toBe(false);
    nodes.fail(keyOf(), undefined);
    await fixture().until('pods', ([one]) => isReady(one));
  });
});

describe('exec through the test kubelet', () => {
  execSessionCases({
    server,
    script,
    async runPod(containers = ['main']) {
      const made = await fixture().make('pods', { metadata: { generateName: 'pod-' }, spec: podSpec(...containers) });
      const name = made.metadata?.name ?? '';
      await fixture().until('pods', (all) => all.some((pod) => pod.metadata?.name === name && isReady(pod)));
      return `${fixture().path('pods')}/${name}`;
    },
  });

  it('kubectl exec runs a command in a pod', async () => {
    await fixture().make('pods', { metadata: { name: 'one' }, spec: podSpec('main') });
    await fixture().until('pods', ([one]) => isReady(one));
    const run = promisify(execFile);
    const args = ['--kubeconfig', kubeconfig, '--namespace', fixture().namespace, 'exec', 'one', '--'];
    expect(await run(kubectlPath, [...args, 'echo', 'hello'])).toEqual({ stdout: 'hello\n', stderr: 'to stderr\n' });
    await expect(run(kubectlPath, [...args, 'fail', '23'])).rejects.toMatchObject({ code: 23 });
  });
});

describe('the node of the test kubelet', () => {
  it('the node is Ready while its kubelet runs, and is removed with it; exec in its pods then fails', async () => {
    const brief = await startKubelet(client, {
      nodeName: 'kubelet-brief',
      acceptsNamespace: (namespace) => namespace === 'kubelet-brief',
    });
    const { body } = await wire.get('/api/v1/nodes/kubelet-brief');
    expect(body.status).toMatchObject({ conditions: [{ type: 'Ready', status: 'True' }] });
    await wire.post('/api/v1/namespaces', { metadata: { name: 'kubelet-brief' } });
    const path = '/api/v1/namespaces/kubelet-brief/pods';
    await wire.post(path, { metadata: { name: 'one' }, spec: podSpec('main') });
    await expect.poll(async () => isReady((await wire.get(`${path}/one`)).body), { timeout: 20_000 }).toBe(true);
    await brief.close();
    expect((await wire.get('/api/v1/nodes/kubelet-brief')).status).toBe(404);
    expect((await execOverWire(server, `${path}/one`, ['echo'])).rejected?.status).toBe(404);
  });
});
