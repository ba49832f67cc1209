// The connection of a pod to its own cluster, from files that the kubelet writes and replaces. Excluded: RBAC
// (test/cluster).

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { loadServiceAccount } from '../../../src/clusters/auth/service-account.ts';
import { UserError } from '../../../src/core/errors.ts';
import { createClient } from '../../../src/kube/client/client.ts';
import { pem, sendJson, startTokenServer, startWireServer } from '../../kube/wire-server.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { movedClock } from '../../support/moved-clock.ts';

const address = { host: '10.0.0.1', port: 443 };

/** Creates a folder with the files of the kubelet. */
function mount(files: Readonly<Record<string, string>> = {}): string {
  const folder = temporaryFolder();
  replace(folder, { token: 'first', 'ca.crt': pem('server.pem'), ...files });
  return folder;
}

function replace(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

/** A clock of milliseconds that only the test moves. */
function clock() {
  const { now, later } = movedClock();
  return { now: () => now().getTime(), pass: later };
}

it.each([
  ['10.0.0.1', 443, 'https://10.0.0.1/'],
  ['10.0.0.1', 6443, 'https://10.0.0.1:6443/'],
  ['fd00::1', 443, 'https://[fd00::1]/'],
])('loadServiceAccount for host %s and port %d uses the server %s', async (host, port, server) => {
  const connection = await loadServiceAccount({ host, port }, { folder: mount() });
  expect(connection.server.href).toBe(server);
  expect(connection.ca).toBe(pem('server.pem'));
});

it('loadServiceAccount reads the token again within two minutes, and not for every request', async () => {
  const folder = mount();
  const { now, pass } = clock();
  const connection = await loadServiceAccount(address, { folder, now });
  replace(folder, { token: 'second\n' });
  pass(30);
  expect(await connection.token?.()).toBe('first');
  pass(90);
  expect(await connection.token?.()).toBe('second');
});

it('loadServiceAccount reads a replaced token after one 401', async () => {
  const folder = mount();
  const server = await startTokenServer('second');
  const { hostname: host, port } = server.url;
  const client = createClient(await loadServiceAccount({ host, port: Number(port) }, { folder, now: clock().now }));
  onTestFinished(() => client.close());
  replace(folder, { token: 'second' });
  expect((await client.request({ method: 'GET', path: '/api' })).status).toBe(200);
  expect(server.arrived.map(({ headers }) => headers.authorization)).toEqual(['Bearer first', 'Bearer second']);
});

it('loadServiceAccount trusts a rotated authority without a restart, and no longer the old one', async () => {
  const folder = mount({ 'ca.crt': pem('other.pem') });
  const server = await startWireServer((_, response) => sendJson(response, 200, {}), { tls: true });
  const { now, pass } = clock();
  const { hostname: host, port } = server.url;
  const client = createClient(await loadServiceAccount({ host, port: Number(port) }, { folder, now }));
  onTestFinished(() => client.close());
  const ask = async () => (await client.request({ method: 'GET', path: '/api' })).status;
  await expect(ask()).rejects.toThrow(/certificate|self.signed/i);
  replace(folder, { 'ca.crt': pem('server.pem') });
  pass(61);
  expect(await ask()).toBe(200);
  replace(folder, { 'ca.crt': pem('other.pem') });
  pass(61);
  await expect(ask()).rejects.toThrow(/certificate|self.signed/i);
});

it.each([
  ['token', '', /token is empty/],
  ['ca.crt', 'nothing', /ca\.crt: no PEM certificate in it/],
])('loadServiceAccount throws a one-line UserError if %s is %j', async (file, text, expected) => {
  const problem: unknown = await loadServiceAccount(address, { folder: mount({ [file]: text }) }).catch(
    (error: unknown) => error,
  );
  expect(problem).toBeInstanceOf(UserError);
  expect(String(problem)).toMatch(expected);
  expect(String(problem)).not.toContain('\n');
});

it('loadServiceAccount throws a UserError with advice if no service account is mounted', async () => {
  await expect(loadServiceAccount(address, { folder: '/nowhere' })).rejects.toThrow(
    /^service account: \/nowhere\/(token|ca\.crt) cannot be read; mount .* or give KUBECONFIG$/,
  );
});
