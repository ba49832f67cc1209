// Only WebSockets through the dev process's proxy. Requests and streams are in cluster-access.test.ts.

import { startUnverifiedProxy } from '@outrigger/cli/dev/unverified-proxy';
import { expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../src/kube/client/client.ts';
import { exec } from '../../src/kube/client/exec.ts';
import { respond, type Script, startExecServer } from '../kube/client/exec-server.ts';
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

it('an exec through the proxy reaches a server with an unverified certificate, and returns its exit code', async () => {
  const { server, client } = await start(({ send, end }) => {
    send(1, 'x'.repeat(200_000));
    end(23);
  });
  const { exitCode, stdout } = await exec(client(), pod, command);
  expect([exitCode, stdout.length]).toEqual([23, 200_000]);
  expect(server.requests).toMatchObject([
    { path: '/prefix/api/v1/namespaces/shop/pods/a/exec', headers: { authorization: 'Bearer theirs' } },
  ]);
});

it('an exec through the proxy returns the 403 of the server', async () => {
  const { client } = await start(() => undefined, {
    refuse: (socket) => respond(socket, 403, statusOf(403, 'Forbidden')),
  });
  expect(await failure(exec(client(), pod, command))).toMatchObject({ status: 403, reason: 'Forbidden' });
});

it('an exec through the proxy fails if the server closes the connection', async () => {
  const { client } = await start(({ drop }) => drop());
  expect(await failure(exec(client(), pod, command))).toMatchObject({ name: 'ResponseError' });
});

it('an exec through the proxy fails when the proxy is closed', async () => {
  const { proxy, client } = await start(() => void proxy.close());
  expect(String(await failure(exec(client(), pod, command)))).toMatch(/^(Response|Connect)Error/);
});

it('the proxy responds with 404 to an exec without its secret path, and does not forward it', async () => {
  const { server, proxy, client } = await start(({ end }) => end(0));
  expect(await failure(exec(client(new URL('/', proxy.url)), pod, command))).toMatchObject({ status: 404 });
  expect(server.requests).toEqual([]);
});
