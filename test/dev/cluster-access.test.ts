// Only the access of the local system to a developer's cluster: the files that it writes for its parts, and its errors.
// The content of kubeconfigs is tested with src/clusters.
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { connectionOf } from '../../src/clusters/connection.ts';
import { loadKubeconfig } from '../../src/clusters/kubeconfig/load-kubeconfig.ts';
import { openCluster } from '../../src/dev/cluster-access.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { pem, sendJson, startWireServer } from '../kube/wire-server.ts';

const signal = new AbortController().signal;

async function folderFor(kubeconfig: unknown): Promise<{ folder: string; file: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-access-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'mine');
  if (kubeconfig !== undefined) await writeFile(file, JSON.stringify(kubeconfig));
  return { folder, file };
}
function kubeconfig(server: URL, { cluster = {}, user = {}, current = 'here' } = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': current,
    contexts: [
      { name: 'here', context: { cluster: 'c', user: 'u' } },
      { name: 'there', context: { cluster: 'c', user: 'u' } },
    ],
    clusters: [{ name: 'c', cluster: { server: server.href, ...cluster } }],
    users: [{ name: 'u', user }],
  };
}
const base64 = (text: string) => Buffer.from(text).toString('base64');

it('openCluster writes files with the server, the CA and the token, and without the plug-in', async () => {
  const server = await startWireServer((_, response) => sendJson(response, 200, {}), { tls: true });
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: ['-e', program],
    interactiveMode: 'Never',
  };
  const cluster = { 'certificate-authority-data': base64(pem('server.pem')) };
  const { folder, file } = await folderFor(kubeconfig(server.url, { cluster, user: { exec } }));
  const access = await openCluster(folder, { file, context: 'there', signal });
  onTestFinished(() => access.close());

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
  expect(JSON.parse(await readFile(access.kubeconfigFile, 'utf8'))['current-context']).toBe('there');
  for (const written of [access.clustersTableFile, access.watcherKubeconfigFile, access.kubeconfigFile]) {
    expect((await stat(written)).mode & 0o077).toBe(0);
  }
});
const program = `console.log(JSON.stringify({kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1', status: {token: 'from-the-plug-in'}}))`;

it('a renewed token leaves what an operator changed in the clusters table', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = await startWireServer((_, response) => sendJson(response, 200, {}));
  const { folder, file } = await folderFor(undefined);
  // A token that has expired is requested again each time, and each is another one.
  const status = `{token: require('fs').readFileSync('${path.join(folder, 'issued')}', 'utf8'), expirationTimestamp: '2020-01-01T00:00:00Z'}`;
  const args = ['-e', program.replace(/\{token:[^}]*\}/, status)];
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args,
    interactiveMode: 'Never',
  };
  await writeFile(path.join(folder, 'issued'), 'first');
  await writeFile(file, JSON.stringify(kubeconfig(server.url, { user: { exec } })));
  const access = await openCluster(folder, { file, signal });
  onTestFinished(() => access.close());
  const table = async () => JSON.parse(await readFile(access.clustersTableFile, 'utf8'));

  const { local } = await table();
  await writeFile(access.clustersTableFile, JSON.stringify({ local: { ...local, paused: true }, other: local }));
  await writeFile(path.join(folder, 'issued'), 'second');
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
  const { folder, file } = await folderFor(given);
  const opening = openCluster(folder, { file, signal });
  await expect(opening).rejects.toThrow(expected);
  await expect(opening).rejects.not.toThrow(/\n/);
});

it('openCluster with a rejected token names the user of the kubeconfig', async () => {
  const server = await startWireServer((_, response) =>
    sendJson(response, 401, { kind: 'Status', reason: 'Unauthorized' }),
  );
  const { folder, file } = await folderFor(kubeconfig(server.url, { user: { token: 'old' } }));
  const opening = openCluster(folder, { file, signal });
  await expect(opening).rejects.toThrow(/mine: user "u": http.* \(401\); the token may have expired, log in again/);
  await expect(opening).rejects.not.toThrow(/old/);
});

it('openCluster with a CA that did not sign the certificate names the cluster of the kubeconfig', async () => {
  const server = await startWireServer((_, response) => sendJson(response, 200, {}), { tls: true });
  const cluster = { 'certificate-authority-data': base64(pem('other.pem')) };
  const { folder, file } = await folderFor(kubeconfig(server.url, { cluster }));
  await expect(openCluster(folder, { file, signal })).rejects.toThrow(
    /mine: cluster "c": certificate-authority did not sign the certificate of https/,
  );
});

it('openCluster with insecure-skip-tls-verify gives its parts the address of a proxy with a secret path', async () => {
  const server = await startWireServer(
    ({ headers, path: asked }, response) => sendJson(response, 200, { asked, token: headers.authorization }),
    { tls: true },
  );
  const { folder, file } = await folderFor(
    kubeconfig(server.url, { cluster: { 'insecure-skip-tls-verify': true }, user: { token: 'mine' } }),
  );
  const access = await openCluster(folder, { file, signal });
  onTestFinished(() => access.close());
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
