// Commands in pods that run, from the client's side, on whoever serves them: the API server in memory (test/local/api-server), and a
// real kube-apiserver in front of the kubelet of tests (test/cluster). Excluded: what is refused whatever runs (test/conformance/exec.ts).
import { expect, it } from 'vitest';
import type { ConformanceServer } from '../../test/conformance/wire.ts';
import { createWire } from '../../test/conformance/wire.ts';
import { type ExecOptions, execOverWire } from '../../test/support/exec-wire.ts';
import type { ScriptedExecute } from '../../test/kubelet/scripted-execute.ts';

/** Where the cases take place. */
export interface ExecStage {
  readonly server: ConformanceServer;
  readonly script: ScriptedExecute;
  /** Makes a pod with these containers, resolves with its path as soon as it runs. */
  runPod(containers?: readonly string[]): Promise<string>;
}

/** Declares the cases. */
export function execSessionCases({ server, script, runPod }: ExecStage): void {
  const exec = async (command: readonly string[], options?: ExecOptions) =>
    execOverWire(server, await runPod(), command, options);

  it('a command that succeeds prints on its channels and ends with Success', async () => {
    expect(await exec(['echo', 'a b', '--c=&d'])).toEqual({
      protocol: 'v4.channel.k8s.io',
      stdout: 'a b --c=&d\n',
      stderr: 'said\n',
      ending: { metadata: {}, status: 'Success' },
    });
  });

  it('a command that fails says its exit status in a Status', async () => {
    const { ending, stderr } = await exec(['fail', '23']);
    expect(stderr).toBe('failed\n');
    expect(ending).toMatchObject({
      ...{ status: 'Failure', reason: 'NonZeroExitCode' },
      details: { causes: [{ reason: 'ExitCode', message: '23' }] },
    });
  });

  it('it runs in the container that was named, of the pod with that address', async () => {
    const path = await runPod(['first', 'second']);
    await execOverWire(server, path, ['echo'], { container: 'second' });
    const [, , , , namespace, , pod] = path.split('/');
    const { status } = (await createWire(server).get(path)).body;
    expect(script.requests().at(-1)).toMatchObject({
      ...{ namespace, pod, container: 'second', command: ['echo'], image: 'second:1' },
      ip: typeof status === 'object' ? status.podIP : '',
    });
  });

  it('only the streams that were asked for are sent', async () => {
    expect(await exec(['echo', 'a'], { streams: ['stdout'] })).toMatchObject({ stdout: 'a\n', stderr: '' });
    expect(await exec(['echo', 'a'], { streams: ['stderr'] })).toMatchObject({ stdout: '', stderr: 'said\n' });
  });

  it('without any stream it is refused, in plain words', async () => {
    const { refused } = await exec(['echo'], { streams: [] });
    expect(refused).toEqual({ status: 400, text: 'you must specify at least 1 of stdin, stdout, stderr' });
  });

  it('a container that the pod does not have is a 400', async () => {
    const { refused } = await exec(['echo'], { container: 'other' });
    expect(refused?.status).toBe(400);
  });

  it('much output comes whole, in many messages', async () => {
    const { stdout, ending } = await exec(['large', '300000']);
    expect(stdout.length).toBe(150_000);
    expect(stdout).toMatch(/^é+$/);
    expect(ending).toMatchObject({ status: 'Success' });
  });

  it('a connection that is cut ends without a Status', async () => {
    const outcome = await exec(['drop']).catch((error: unknown) => error);
    expect(outcome).not.toHaveProperty('ending');
  });

  it('a client that goes away ends the command', async () => {
    const path = await runPod();
    const before = script.requests().length;
    const going = new AbortController();
    const session = execOverWire(server, path, ['hang'], { signal: going.signal });
    await expect.poll(() => script.requests().length, { timeout: 20_000 }).toBe(before + 1);
    going.abort();
    await script.abandoned();
    expect(await session).not.toHaveProperty('ending');
  });

  it('a request that does not upgrade is a 400', async () => {
    const answer = await createWire(server).get(`${await runPod()}/exec`, { command: 'echo', stdout: 1 });
    expect(answer.body).toMatchObject({ code: 400, message: 'Upgrade request required' });
  });
}
