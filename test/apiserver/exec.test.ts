// Commands in pods on the in-memory API server, with a program that a test can foretell. That a real server with a kubelet answers
// the same is test/cluster/kubelet.test.ts.
import { afterAll, describe, expect, it } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { createWire } from '../conformance/wire.ts';
import { execSessionCases } from '../../tools/kubelet/exec-cases.ts';
import { scriptedExecute } from '../kubelet/scripted-execute.ts';
import { execOverWire } from '../support/exec-wire.ts';

const script = scriptedExecute();
const server = await startApiServer({ execute: script.execute });
afterAll(() => server.close());
const wire = createWire(server);

let made = 0;
async function runPod(containers: readonly string[] = ['main'], status: object = {}): Promise<string> {
  made += 1;
  const path = `/api/v1/namespaces/default/pods/pod-${made}`;
  const spec = { containers: containers.map((name) => ({ name, image: `${name}:1` })) };
  await wire.post('/api/v1/namespaces/default/pods', { metadata: { name: `pod-${made}` }, spec });
  await wire.mergePatch(`${path}/status`, { status: { phase: 'Running', podIP: `127.1.0.${made}`, ...status } });
  return path;
}

describe('a command in a pod', () => {
  execSessionCases({ server, script, runPod });

  it.each([
    ['is pending', { phase: 'Pending' }],
    ['has ended', { phase: 'Succeeded' }],
    ['waits', { containerStatuses: [{ name: 'main', state: { waiting: { reason: 'CrashLoopBackOff' } } }] }],
  ])('is refused as a kubelet does while the container %s', async (_what, status) => {
    const { refused } = await execOverWire(server, await runPod(['main'], status), ['echo']);
    expect(refused).toEqual({ status: 500, text: 'container not found ("main")' });
  });

  it.each([
    [['v5.channel.k8s.io'], 'v5.channel.k8s.io'],
    [['v4.channel.k8s.io', 'v5.channel.k8s.io'], 'v5.channel.k8s.io'],
    [['channel.k8s.io', 'v4.channel.k8s.io'], 'v4.channel.k8s.io'],
  ])('a client that offers %j gets %s', async (protocols, chosen) => {
    const outcome = await execOverWire(server, await runPod(), ['echo', 'a'], { protocols });
    expect(outcome).toMatchObject({ protocol: chosen, stdout: 'a\n', ending: { status: 'Success' } });
  });

  it.each([[[]], [['base64.channel.k8s.io']]])('a client that offers %j is refused', async (protocols) => {
    const { refused } = await execOverWire(server, await runPod(), ['echo'], { protocols });
    expect(refused?.status).toBe(403);
  });

  it('is counted among the requests, as what it became', async () => {
    const path = await runPod();
    await execOverWire(server, path, ['echo', 'a']);
    const query = { command: 'a', stdout: '1', stderr: '1' };
    expect(server.requests().at(-1)).toMatchObject({ method: 'GET', path: `${path}/exec`, status: 101, query });
  });

  it('that still runs is cut when the server ends', async () => {
    const brief = await startApiServer({ execute: script.execute });
    const briefWire = createWire(brief);
    const spec = { containers: [{ name: 'main', image: 'main:1' }] };
    const path = '/api/v1/namespaces/default/pods';
    await briefWire.post(path, { metadata: { name: 'one' }, spec });
    await briefWire.mergePatch(`${path}/one/status`, { status: { phase: 'Running', podIP: '127.1.0.1' } });
    const before = script.requests().length;
    const session = execOverWire(brief, `${path}/one`, ['hang']);
    await expect.poll(() => script.requests().length, { timeout: 20_000 }).toBe(before + 1);
    await brief.close();
    expect(await session).not.toHaveProperty('ending');
  });

  it('is not there on a server that nobody gave programs to', async () => {
    const bare = await startApiServer();
    const bareWire = createWire(bare);
    const path = '/api/v1/namespaces/default/pods';
    const spec = { containers: [{ name: 'main', image: 'main:1' }] };
    await bareWire.post(path, { metadata: { name: 'one' }, spec });
    await bareWire.mergePatch(`${path}/one/status`, { status: { phase: 'Running', podIP: '127.1.0.1' } });
    const { ending } = await execOverWire(bare, `${path}/one`, ['echo']);
    expect(ending).toMatchObject({ details: { causes: [{ reason: 'ExitCode', message: '127' }] } });
    await bare.close();
  });
});
