// Commands in pods on the in-memory API server, with a scripted program. test/cluster/kubelet.test.ts shows that a real
// server with a kubelet behaves the same.
import { afterAll, describe, expect, it } from 'vitest';
import { createWire, type Wire } from '../../../test/conformance/wire.ts';
import { execOverWire } from '../../../test/support/exec-wire.ts';
import { execSessionCases } from '../../../tools/kubelet/exec-cases.ts';
import { scriptedExecute } from '../../../tools/kubelet/scripted-execute.ts';
import { startApiServer } from '../src/server.ts';

const script = scriptedExecute();
const server = await startApiServer({ execute: script.execute });
afterAll(() => server.close());
const wire = createWire(server);

let podCount = 0;
async function runPodOn(wire: Wire, containers: readonly string[] = ['main'], status: object = {}): Promise<string> {
  podCount += 1;
  const pods = '/api/v1/namespaces/default/pods';
  const spec = { containers: containers.map((name) => ({ name, image: `${name}:1` })) };
  await wire.post(pods, { metadata: { name: `pod-${podCount}` }, spec });
  const running = { phase: 'Running', podIP: `127.1.0.${podCount}`, ...status };
  await wire.mergePatch(`${pods}/pod-${podCount}/status`, { status: running });
  return `${pods}/pod-${podCount}`;
}
const runPod = (containers?: readonly string[], status?: object) => runPodOn(wire, containers, status);

describe('commands in pods', () => {
  execSessionCases({ server, script, runPod });

  it.each([
    ['is pending', { phase: 'Pending' }],
    ['has ended', { phase: 'Succeeded' }],
    ['is waiting', { containerStatuses: [{ name: 'main', state: { waiting: { reason: 'CrashLoopBackOff' } } }] }],
  ])('a command is rejected with the error of a kubelet while the container %s', async (_what, status) => {
    const { rejected } = await execOverWire(server, await runPod(['main'], status), ['echo']);
    expect(rejected).toEqual({ status: 500, text: 'container not found ("main")' });
  });

  it.each([
    [['v5.channel.k8s.io'], 'v5.channel.k8s.io'],
    [['v4.channel.k8s.io', 'v5.channel.k8s.io'], 'v5.channel.k8s.io'],
    [['channel.k8s.io', 'v4.channel.k8s.io'], 'v4.channel.k8s.io'],
  ])('a client that offers the protocols %j gets %s', async (protocols, chosen) => {
    const outcome = await execOverWire(server, await runPod(), ['echo', 'a'], { protocols });
    expect(outcome).toMatchObject({ protocol: chosen, stdout: 'a\n', status: { status: 'Success' } });
  });

  it.each([
    [[]],
    [['base64.channel.k8s.io']],
  ])('a client that offers the protocols %j is rejected', async (protocols) => {
    const { rejected } = await execOverWire(server, await runPod(), ['echo'], { protocols });
    expect(rejected?.status).toBe(403);
  });

  it('a command is recorded as a request with status 101', async () => {
    const path = await runPod();
    await execOverWire(server, path, ['echo', 'a']);
    const query = { command: 'a', stdout: '1', stderr: '1' };
    expect(server.requests().at(-1)).toMatchObject({ method: 'GET', path: `${path}/exec`, status: 101, query });
  });

  it('a running command is ended without a result when the server closes', async () => {
    const brief = await startApiServer({ execute: script.execute });
    const pod = await runPodOn(createWire(brief));
    const before = script.requests().length;
    const session = execOverWire(brief, pod, ['hang']);
    await expect.poll(() => script.requests().length, { timeout: 20_000 }).toBe(before + 1);
    await brief.close();
    expect(await session).not.toHaveProperty('status');
  });

  it('a command on a server without an execute option exits with 127', async () => {
    const bare = await startApiServer();
    const { status: result } = await execOverWire(bare, await runPodOn(createWire(bare)), ['echo']);
    expect(result).toMatchObject({ details: { causes: [{ reason: 'ExitCode', message: '127' }] } });
    await bare.close();
  });
});
