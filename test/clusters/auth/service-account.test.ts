// A pod's way to its own cluster: the files that a kubelet writes and replaces. Excluded: who may do what (test/cluster).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConnectionProblem } from '../../../src/clusters/connection-problem.ts';
import { loadServiceAccount } from '../../../src/clusters/auth/service-account.ts';
import { createClient } from '../../../src/kube/client/client.ts';
import { pem, sendJson, startWireServer, statusOf } from '../../kube/wire-server.ts';

const address = { host: '10.0.0.1', port: 443 };

/** A folder as a kubelet fills it. */
function mount(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'outrigger-account-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  replace(folder, { token: 'first', 'ca.crt': pem('server.pem'), ...files });
  return folder;
}

function replace(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

/** A clock that goes when it is told to. */
function clock() {
  let ms = 0;
  return {
    now: () => ms,
    pass: (seconds: number) => {
      ms += seconds * 1000;
    },
  };
}

describe('a service account', () => {
  it.each([
    ['10.0.0.1', 443, 'https://10.0.0.1/'],
    ['10.0.0.1', 6443, 'https://10.0.0.1:6443/'],
    ['fd00::1', 443, 'https://[fd00::1]/'],
  ])('at %s and port %d is asked for at %s', async (host, port, server) => {
    const connection = await loadServiceAccount({ host, port }, { folder: mount() });
    expect(connection.server.href).toBe(server);
    expect(connection.ca).toBe(pem('server.pem'));
  });

  it('has its token read again within two minutes, and not for every request', async () => {
    const folder = mount();
    const { now, pass } = clock();
    const connection = await loadServiceAccount(address, { folder, now });
    replace(folder, { token: 'second\n' });
    pass(30);
    expect(await connection.token?.()).toBe('first');
    pass(90);
    expect(await connection.token?.()).toBe('second');
  });

  it('whose token was replaced goes on after one 401', async () => {
    const folder = mount();
    const server = await startWireServer(
      ({ headers }, response) => {
        const accepted = headers.authorization === 'Bearer second';
        sendJson(response, accepted ? 200 : 401, accepted ? {} : statusOf(401, 'Unauthorized'));
      },
      { tls: true },
    );
    const { hostname: host, port } = server.url;
    const client = createClient(await loadServiceAccount({ host, port: Number(port) }, { folder, now: clock().now }));
    onTestFinished(() => client.close());
    replace(folder, { token: 'second' });
    expect((await client.request({ method: 'GET', path: '/api' })).status).toBe(200);
    expect(server.arrived.map(({ headers }) => headers.authorization)).toEqual(['Bearer first', 'Bearer second']);
  });

  it('whose cluster has a new authority trusts it without a restart, and no longer the old one', async () => {
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
  ])('whose %s is %j is a problem in one line', async (file, text, expected) => {
    const problem: unknown = await loadServiceAccount(address, { folder: mount({ [file]: text }) }).catch(
      (error: unknown) => error,
    );
    expect(problem).toBeInstanceOf(ConnectionProblem);
    expect(String(problem)).toMatch(expected);
    expect(String(problem)).not.toContain('\n');
  });

  it('that is not mounted says so, with what to do', async () => {
    await expect(loadServiceAccount(address, { folder: '/nowhere' })).rejects.toThrow(
      /^service account: \/nowhere\/(token|ca\.crt) cannot be read; mount .* or give KUBECONFIG$/,
    );
  });
});
