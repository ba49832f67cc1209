// Only the access of the local system to a developer's cluster: the files that it writes for its parts, and its errors.
// The content of kubeconfigs is tested with src/clusters.
import { readFile, stat, writeFile } from 'node:fs/promises';
import { type ClusterAccess, openCluster } from '@outrigger/cli/dev/cluster-access';
import { expect, it, onTestFinished, vi } from 'vitest';
import { connectionOf } from '../../src/clusters/connection.ts';
import { loadKubeconfig } from '../../src/clusters/kubeconfig/load-kubeconfig.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { base64, type KubeconfigFields, kubeconfig as kubeconfigOf } from '../clusters/kubeconfigs.ts';
import { pem, sendJson, startWireServer } from '../kube/wire-server.ts';
import { useFolder } from '../support/folder.ts';

const signal = new AbortController().signal;

const folder = useFolder();

/** Opens the cluster of a kubeconfig, which is the file `mine`. */
async function open(
  kubeconfig: string | undefined,
  context: { readonly context?: string } = {},
): Promise<ClusterAccess> {
  if (kubeconfig !== undefined) await folder.write('mine', kubeconfig);
  const access = await openCluster(folder.path, { file: folder.at('mine'), ...context, signal });
  onTestFinished(() => access.close());
  return access;
}
/** A kubeconfig for a server, without a CA unless one is given. */
const kubeconfig = (server: URL, { cluster = {}, ...fields }: KubeconfigFields = {}) =>
  kubeconfigOf({ cluster: { 'certificate-authority-data': undefined, ...cluster, server: server.href }, ...fields });

/** A plug-in whose token has expired when it is issued, so that it is requested again each time. */
function plugIn(token: string) {
  const apiVersion = 'client.authentication.k8s.io/v1';
  const status = `{token: ${token}, expirationTimestamp: '2020-01-01T00:00:00Z'}`;
  const program = `console.log(JSON.stringify({kind: 'ExecCredential', apiVersion: '${apiVersion}', status: ${status}}))`;
  return { apiVersion, command: process.execPath, args: ['-e', program], interactiveMode: 'Never' };
}

it('openCluster writes files with the server, the CA and the token, and without the plug-in', async () => {
  const server = await startWireServer((_, response) => sendJson(response, 200, {}), { tls: true });
  const cluster = { 'certificate-authority-data': base64(pem('server.pem')) };
  const user = { exec: plugIn("'from-the-plug-in'") };
  const file = kubeconfig(server.url, { current: 'elsewhere', cluster, user });
  const access = await open(file, { context: 'here' });
  expect(server.arrived[0]?.headers.authorization).toBe('Bearer from-the-plug-in');
  const table = JSON.parse(await readFile(access.clustersTableFile, 'utf8'));
  expect(table.local).toEqual({
    server: server.url.href,
    ca: pem('server.pem'),
    access: { type: 'token', token: 'from-the-plug-in' },
  });
  const watcher = await loadKubeconfig({ file: access.watcherKubeconfigFile });
  expect(await watcher.token?.()).toBe('from-the-plug-in');
  expect(await readFile(access.watcherKubeconfigFile, 'utf8')).not.toContain('exec');
  expect(JSON.parse(await readFile(access.kubeconfigFile, 'utf8'))['current-context']).toBe('here');
  for (const written of [access.clustersTableFile, access.watcherKubeconfigFile, access.kubeconfigFile]) {
    expect((await stat(written)).mode & 0o077).toBe(0);
  }
});

it('a renewed token leaves what an operator changed in the clusters table', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = await startWireServer((_, response) => sendJson(response, 200, {}));
  await folder.write('issued', 'first');
  const exec = plugIn(`require('fs').readFileSync('${folder.at('issued')}', 'utf8')`);
  const access = await open(kubeconfig(server.url, { user: { exec } }));
  const table = async () => JSON.parse(await readFile(access.clustersTableFile, 'utf8'));

  const { local } = await table();
  await writeFile(access.clustersTableFile, JSON.stringify({ local: { ...local, paused: true }, other: local }));
  await folder.write('issued', 'second');
  vi.advanceTimersByTime(30_000);
  await vi.waitUntil(async () => (await table()).local.access.token === 'second', { timeout: 10_000 });
  expect(await table()).toEqual({
    local: { ...local, access: { type: 'token', token: 'second' }, paused: true },
    other: local,
  });
});

it.each([
  ['a missing file', undefined, /mine: no such file; give/],
  [
    'no current context',
    kubeconfig(new URL('http://127.0.0.1:1'), { current: '' }),
    /mine: current-context is not set; run kubectl config use-context/,
  ],
  [
    'a server that is down',
    kubeconfig(new URL('http://127.0.0.1:1')),
    /mine: cluster "c": server http:\/\/127\.0\.0\.1:1 does not respond \(ECONNREFUSED\); check/,
  ],
])('openCluster with %s throws one line with the file, the field and the fix', async (_, given, expected) => {
  const opening = open(given);
  await expect(opening).rejects.toThrow(expected);
  await expect(opening).rejects.not.toThrow(/\n/);
});

it('openCluster with a rejected token names the user of the kubeconfig', async () => {
  const server = await startWireServer((_, response) =>
    sendJson(response, 401, { kind: 'Status', reason: 'Unauthorized' }),
  );
  const opening = open(kubeconfig(server.url, { user: { token: 'old' } }));
  await expect(opening).rejects.toThrow(/mine: user "u": http.* \(401\); the token may have expired, log in again/);
  await expect(opening).rejects.not.toThrow(/old/);
});

it('openCluster with a CA that did not sign the certificate names the cluster of the kubeconfig', async () => {
  const server = await startWireServer((_, response) => sendJson(response, 200, {}), { tls: true });
  const cluster = { 'certificate-authority-data': base64(pem('other.pem')) };
  await expect(open(kubeconfig(server.url, { cluster }))).rejects.toThrow(
    /mine: cluster "c": certificate-authority did not sign the certificate of https/,
  );
});

it('openCluster with insecure-skip-tls-verify gives its parts the address of a proxy with a secret path', async () => {
  const server = await startWireServer(
    ({ headers, path: asked }, response) => sendJson(response, 200, { asked, token: headers.authorization }),
    { tls: true },
  );
  const cluster = { 'insecure-skip-tls-verify': true };
  const access = await open(kubeconfig(server.url, { cluster, user: { token: 'mine' } }));
  expect(access.verified).toBe(false);
  expect(access.server.href).toBe(server.url.href);
  const { local } = JSON.parse(await readFile(access.clustersTableFile, 'utf8'));
  expect(local.server).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/./);
  const client = createClient(
    await connectionOf('local', local, { now: () => new Date(), credentials: () => expect.unreachable() }),
  );
  onTestFinished(() => client.close());
  const { body } = await client.request({ method: 'GET', path: '/api/v1/things' });
  expect(body).toEqual({ asked: '/api/v1/things', token: 'Bearer mine' });
  const { origin } = new URL(local.server);
  expect((await fetch(`${origin}/api/v1/things`)).status).toBe(404);
});
