// Only WebSockets by way of the dev process's proxy; requests and streams are in cluster-access.test.ts.
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../src/kube/client/client.ts';
import { exec } from '../../src/kube/exec.ts';
import { startUnverifiedProxy } from '../../src/dev/unverified-proxy.ts';
import { answer, type Script, startExecServer } from '../kube/client/exec-server.ts';
import { failure, statusOf } from '../kube/wire-server.ts';

const command = { container: 'c', command: ['cli', 'list'] };
const pod = { namespace: 'shop', name: 'a' };

async function start(script: Script, options: Parameters<typeof startExecServer>[1] = {}) {
  const server = await startExecServer(script, { ...options, tls: true });
  const proxy = await startUnverifiedProxy({ server: new URL('/prefix/', server.url) });
  onTestFinished(() => proxy.close());
  const client = (url = proxy.url) => createClient({ server: url, token: async () => 'theirs' });
  return { server, proxy, client };
}

describe('a command through the proxy', () => {
  it('goes to the server whose certificate nobody looks at, and its end comes back', async () => {
    const { server, client } = await start(({ say, end }) => {
      say(1, 'x'.repeat(200_000));
      end(23);
    });
    const { exitCode, stdout } = await exec(client(), pod, command);
    expect([exitCode, stdout.length]).toEqual([23, 200_000]);
    expect(server.asked).toMatchObject([
      { path: '/prefix/api/v1/namespaces/shop/pods/a/exec', headers: { authorization: 'Bearer theirs' } },
    ]);
  });

  it('is refused as the server refuses it', async () => {
    const { client } = await start(() => undefined, {
      refuse: (socket) => answer(socket, 403, statusOf(403, 'Forbidden')),
    });
    expect(await failure(exec(client(), pod, command))).toMatchObject({ status: 403, reason: 'Forbidden' });
  });

  it('drops where the server drops it', async () => {
    const { client } = await start(({ drop }) => drop());
    expect(await failure(exec(client(), pod, command))).toMatchObject({ name: 'AnswerError' });
  });

  it('ends with the proxy', async () => {
    const { proxy, client } = await start(() => void proxy.close());
    expect(String(await failure(exec(client(), pod, command)))).toMatch(/^(Answer|Connect)Error/);
  });

  it('is not passed on for whoever does not know the proxy’s path', async () => {
    const { server, proxy, client } = await start(({ end }) => end(0));
    expect(await failure(exec(client(new URL('/', proxy.url)), pod, command))).toMatchObject({ status: 404 });
    expect(server.asked).toEqual([]);
  });
});
