// Commands in running pods, from the client's side, on two servers: the API server in memory (test/apiserver), and a
// real kube-apiserver with the test kubelet (test/cluster). Excluded: requests that are rejected in any pod
// (test/conformance/exec.test.ts).
import { expect, it } from 'vitest';
import type { ConformanceServer } from '../../test/conformance/wire.ts';
import { createWire } from '../../test/conformance/wire.ts';
import { type ExecOptions, execOverWire } from '../../test/support/exec-wire.ts';
import type { ScriptedExecute } from './scripted-execute.ts';

/** The server of the cases. */
export type ExecFixture = {
  readonly server: ConformanceServer;
  readonly script: ScriptedExecute;
  /** Creates a pod with these containers; resolves with its path as soon as it runs. */
  runPod(containers?: readonly string[]): Promise<string>;
};

/** Declares the cases. */
export function execSessionCases({ server, script, runPod }: ExecFixture): void {
  const exec = async (command: readonly string[], options?: ExecOptions) =>
    execOverWire(server, await runPod(), command, options);

  it('exec of a successful command returns its output on two channels and the Status Success', async () => {
    expect(await exec(['echo', 'a b', '--c=&d'])).toEqual({
      protocol: 'v4.channel.k8s.io',
      stdout: 'a b --c=&d\n',
      stderr: 'to stderr\n',
      status: { metadata: {}, status: 'Success' },
    });
  });

  it('exec of a failed command returns its exit status in a Status', async () => {
    const { status: result, stderr } = await exec(['fail', '23']);
    expect(stderr).toBe('failed\n');
    expect(result).toMatchObject({
      status: 'Failure',
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: '23' }] },
    });
  });

  it('exec runs the command in the requested container of the pod', async () => {
    const path = await runPod(['first', 'second']);
    await execOverWire(server, path, ['echo'], { container: 'second' });
    const [, , , , namespace, , pod] = path.split('/');
    const { status } = (await createWire(server).get(path)).body;
    expect(script.requests().at(-1)).toMatchObject({
      namespace,
      pod,
      container: 'second',
      command: ['echo'],
      image: 'second:1',
      ip: typeof status === 'object' ? status.podIP : '',
    });
  });

  it('exec sends only the requested streams', async () => {
    expect(await exec(['echo', 'a'], { streams: ['stdout'] })).toMatchObject({ stdout: 'a\n', stderr: '' });
    expect(await exec(['echo', 'a'], { streams: ['stderr'] })).toMatchObject({ stdout: '', stderr: 'to stderr\n' });
  });

  it('exec without any stream is rejected with a plain text', async () => {
    const { rejected } = await exec(['echo'], { streams: [] });
    expect(rejected).toEqual({ status: 400, text: 'you must specify at least 1 of stdin, stdout, stderr' });
  });

  it('exec in an unknown container is rejected with 400', async () => {
    const { rejected } = await exec(['echo'], { container: 'other' });
    expect(rejected?.status).toBe(400);
  });

  it('exec returns large output completely, in many messages', async () => {
    const { stdout, status: result } = await exec(['large', '300000']);
    expect(stdout.length).toBe(150_000);
    expect(stdout).toMatch(/^é+$/);
    expect(result).toMatchObject({ status: 'Success' });
  });

  it('exec ends without a Status when the connection is cut', async () => {
    const outcome = await exec(['drop']).catch((error: unknown) => error);
    expect(outcome).not.toHaveProperty('status');
  });

  it('exec ends the command when the client disconnects', async () => {
    const path = await runPod();
    const before = script.requests().length;
    const aborter = new AbortController();
    const session = execOverWire(server, path, ['hang'], { signal: aborter.signal });
    await expect.poll(() => script.requests().length, { timeout: 20_000 }).toBe(before + 1);
    aborter.abort();
    await script.hangAborted();
    expect(await session).not.toHaveProperty('status');
  });

  it('exec without an upgrade is rejected with 400', async () => {
    const response = await createWire(server).get(`${await runPod()}/exec`, { command: 'echo', stdout: 1 });
    expect(response.body).toMatchObject({ code: 400, message: 'Upgrade request required' });
  });
}
