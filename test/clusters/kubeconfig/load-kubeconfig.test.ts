// loadKubeconfig, with which the CLI and the watcher read files on disk. Excluded: a pod's service account
// (service-account.test.ts).

import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { loadKubeconfig } from '../../../src/clusters/kubeconfig/load-kubeconfig.ts';
import { UserError } from '../../../src/core/errors.ts';
import { createClient } from '../../../src/kube/client/client.ts';
import { failure, pem, sendJson, startWireServer } from '../../kube/wire-server.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { base64, inlineCertificate, type KubeconfigFields, kubeconfig } from '../kubeconfigs.ts';

const now = () => new Date('2026-06-01T00:00:00Z');

function write(text: string, at = temporaryFolder()): string {
  const file = join(at, 'config');
  writeFileSync(file, text);
  return file;
}

async function problem(parts: KubeconfigFields | string): Promise<string> {
  const file = write(typeof parts === 'string' ? parts : kubeconfig(parts));
  const error = await failure(loadKubeconfig({ file, now }));
  expect(error).toBeInstanceOf(UserError);
  const message = error instanceof Error ? error.message : '';
  expect(message.startsWith(`${file}: `)).toBe(true);
  expect(message).not.toContain('\n');
  return message;
}

/** A plug-in that prints the token from a file in its folder, in the format of `aws eks get-token`. */
function plugIn(at: string): object {
  const script =
    'const t=require("fs").readFileSync(process.argv[1],"utf8");console.log(JSON.stringify({kind:"ExecCredential",status:{token:t}}))';
  return {
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: ['-e', script, join(at, 'token')],
      interactiveMode: 'Never',
    },
  };
}

describe('loadKubeconfig', () => {
  it('loadKubeconfig returns a connection for an inline token', async () => {
    const connection = await loadKubeconfig({ file: write(kubeconfig()), now });
    expect(connection).toMatchObject({ server: new URL('https://127.0.0.1:6443'), ca: pem('server.pem') });
    expect(await connection.token?.()).toBe('secret');
  });

  it('loadKubeconfig returns a connection whose error names file and field after the certificate changed', async () => {
    const server = await startWireServer((_, response) => sendJson(response, 200, {}), { tls: true });
    const cluster = { server: server.url.href, 'certificate-authority-data': base64(pem('other.pem')) };
    const file = write(kubeconfig({ cluster }));
    const client = createClient(await loadKubeconfig({ file, now }));
    onTestFinished(() => client.close());
    expect(String(await failure(client.request({ method: 'GET', path: '/api' })))).toBe(
      `ConnectError: GET /api: self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT); ${file}: cluster "c": if its certificate has changed, put the CA certificate that it has now into certificate-authority-data`,
    );
  });

  it('a client of a kubeconfig trusts the CA that was written into the file after the certificate changed', async () => {
    const server = await startWireServer((_, response) => sendJson(response, 200, {}), { tls: true });
    const withAuthority = (ca: string) =>
      kubeconfig({ cluster: { server: server.url.href, 'certificate-authority-data': base64(pem(ca)) } });
    const file = write(withAuthority('other.pem'));
    const client = createClient(await loadKubeconfig({ file, now }));
    onTestFinished(() => client.close());
    writeFileSync(file, withAuthority('server.pem'));
    expect((await client.request({ method: 'GET', path: '/api' })).status).toBe(200);
  });

  it('loadKubeconfig returns a connection for certificates in files', async () => {
    const at = temporaryFolder();
    for (const file of ['server.pem', 'server.key']) writeFileSync(join(at, file), pem(file));
    const cluster = { 'certificate-authority-data': undefined, 'certificate-authority': 'server.pem' };
    const user = { 'client-certificate': 'server.pem', 'client-key': 'server.key' };
    const connection = await loadKubeconfig({ file: write(kubeconfig({ cluster, user }), at), now });
    expect(connection).toMatchObject({
      ca: pem('server.pem'),
      clientCertificate: { cert: pem('server.pem'), key: pem('server.key') },
    });
  });

  it('loadKubeconfig runs a plug-in, and runs it again after a 401', async () => {
    const at = temporaryFolder();
    writeFileSync(join(at, 'token'), 'first');
    const connection = await loadKubeconfig({ file: write(kubeconfig({ user: plugIn(at) }), at), now });
    writeFileSync(join(at, 'token'), 'second');
    expect(await connection.token?.()).toBe('first');
    await connection.refresh?.();
    expect(await connection.token?.()).toBe('second');
  });

  it('loadKubeconfig reads the kubeconfig again after a 401', async () => {
    const file = write(kubeconfig());
    const connection = await loadKubeconfig({ file, now });
    writeFileSync(file, kubeconfig({ user: { token: 'fresh' } }));
    await connection.refresh?.();
    expect(await connection.token?.()).toBe('fresh');
  });

  it('loadKubeconfig reads a renewed client certificate and CA again after a 401', async () => {
    const file = write(kubeconfig({ user: inlineCertificate('server', 'server') }));
    const connection = await loadKubeconfig({ file, now });
    const cluster = { 'certificate-authority-data': base64(pem('other.pem')) };
    writeFileSync(file, kubeconfig({ cluster, user: inlineCertificate('other', 'other') }));
    await connection.refresh?.();
    const clientCertificate = { cert: pem('other.pem'), key: pem('other.key') };
    expect(connection).toMatchObject({ ca: pem('other.pem'), clientCertificate });
  });

  type Context = readonly [url: string | undefined, token: string];
  const elsewhere: Context = ['https://127.0.0.1:6443', 'production'];
  it.each<[string, { readonly here?: Context; readonly other?: Context }, string]>([
    ['whose current context is another one now', { other: elsewhere }, 'secret'],
    ['whose context names another server now', { here: elsewhere }, 'secret'],
    [
      'whose current context is another user of the server',
      { here: [undefined, 'renewed'], other: [undefined, 'production'] },
      'renewed',
    ],
    // Control T129.
  ])('a server that answers 401 gets only a token of its own context from a kubeconfig %s', async (_, changed, token) => {
    const received: unknown[] = [];
    const server = await startWireServer(({ headers }, response) => {
      received.push(headers.authorization);
      sendJson(response, 401, { kind: 'Status' });
    });
    const written = (contexts: Readonly<Record<string, readonly [url: string, token: string]>>, current: string) => {
      const all = Object.entries(contexts);
      return JSON.stringify({
        'current-context': current,
        contexts: all.map(([name]) => ({ name, context: { cluster: name, user: name } })),
        clusters: all.map(([name, [url]]) => ({ name, cluster: { server: url } })),
        users: all.map(([name, [, token]]) => ({ name, user: { token } })),
      });
    };
    const here = [server.url.href, 'secret'] as const;
    const file = write(written({ here }, 'here'));
    const client = createClient(await loadKubeconfig({ file, now }));
    onTestFinished(() => client.close());
    const after = Object.entries(changed).map(([name, [url = server.url.href, value]]) => [name, [url, value]]);
    writeFileSync(file, written({ here, ...Object.fromEntries(after) }, 'other' in changed ? 'other' : 'here'));
    await failure(client.request({ method: 'GET', path: '/api' }));
    expect(received).toEqual(['Bearer secret', `Bearer ${token}`]);
  });

  // Control T88.
  it('loadKubeconfig accepts insecure-skip-tls-verify only if it is allowed', async () => {
    const cluster = { 'insecure-skip-tls-verify': true, 'certificate-authority-data': undefined };
    expect(await problem({ cluster })).toContain('insecure-skip-tls-verify is not allowed');
    const file = write(kubeconfig({ cluster }));
    expect(await loadKubeconfig({ file, now, allowInsecure: true })).toMatchObject({ insecureSkipTlsVerify: true });
  });

  it.each<[string, KubeconfigFields | string, string]>([
    ['invalid YAML', 'a: [ secret', 'not a kubeconfig'],
    ['no current context', { current: '' }, 'current-context is not set'],
    ['an unknown context', { current: 'x' }, 'current-context "x" is not among contexts'],
    ['an unknown cluster', { context: { cluster: 'x' } }, 'cluster "x", which does not exist'],
    ['an unknown user', { context: { user: 'x' } }, 'user "x", which does not exist'],
    [
      'an authority that cannot be read',
      { cluster: { 'certificate-authority-data': undefined, 'certificate-authority': '/nowhere/ca' } },
      'certificate-authority /nowhere/ca cannot be read',
    ],
    [
      'an expired client certificate',
      { user: inlineCertificate('expired', 'expired') },
      'client-certificate: the client certificate expired on 2021-01-01',
    ],
    ['a password', { user: { username: 'u', password: 'secret' } }, 'user "u": username is not accepted'],
    ['a proxy', { cluster: { 'proxy-url': 'http://proxy' } }, 'cluster "c": proxy-url is not supported'],
    ['a user to act as', { user: { token: 'secret', as: 'guest' } }, 'user "u": as is not supported'],
    [
      'a missing plug-in',
      { user: { exec: { command: '/nowhere/plug-in' } } },
      'user "u": no credentials: spawn /nowhere/plug-in ENOENT',
    ],
    [
      'a plug-in that answers nonsense',
      { user: { exec: { command: process.execPath, args: ['-e', 'console.log("secret")'] } } },
      'its plug-in did not return an ExecCredential',
    ],
    [
      'a plug-in that fails and prints a password',
      { user: { exec: { command: process.execPath, args: ['-e', 'console.error("secret"); process.exit(1)'] } } },
      'its plug-in failed, or took longer than 60 s; run it by hand',
    ],
    // Control T128.
  ])('loadKubeconfig throws a one-line UserError that names the field for %s', async (_, parts, expected) => {
    const message = await problem(parts);
    expect(message).toContain(expected);
    expect(message).not.toContain('secret');
  });

  // Control T127.
  it('loadKubeconfig kills a plug-in that does not end, whose own child keeps its output open', async () => {
    const script = 'require("child_process").spawn("sleep", ["30"], { stdio: "inherit" }); setInterval(() => {}, 1000)';
    const user = { exec: { command: process.execPath, args: ['-e', script] } };
    await expect(loadKubeconfig({ file: write(kubeconfig({ user })), now, plugInSeconds: 0.3 })).rejects.toThrow(
      'took longer than 0.3 s',
    );
  });

  it('loadKubeconfig throws a UserError for a missing file and for an unknown context', async () => {
    await expect(loadKubeconfig({ file: '/nowhere/config' })).rejects.toThrow('/nowhere/config: no such file');
    await expect(loadKubeconfig({ file: write(kubeconfig()), context: 'x' })).rejects.toThrow(
      'context "x" does not exist; it has here',
    );
  });
});

describe('K10: KUBECONFIG', () => {
  /** A folder with a file that has a server, a token and the user `u`. */
  const written = (name: string, { server = 'https://127.0.0.1:6443', user = { token: name } as object } = {}) => {
    const folder = temporaryFolder();
    return { folder, file: write(kubeconfig({ cluster: { server }, user }), folder) };
  };
  const tokenOf = async (...files: readonly string[]) => {
    const connection = await loadKubeconfig({ paths: files.join(delimiter), now });
    return [connection.server.host, await connection.token?.()];
  };

  it('of two files with the same names the first wins, whatever the later ones are', async () => {
    const [a, b] = [written('a'), written('b', { server: 'https://127.0.0.2:6443' })];
    expect(await tokenOf(a.file, b.file)).toEqual(['127.0.0.1:6443', 'a']);
    expect(await tokenOf(b.file, a.file, a.file)).toEqual(['127.0.0.2:6443', 'b']);
  });

  it('a context of one file names the cluster and the user of another', async () => {
    const only = (fields: object) => write(JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...fields }));
    const { clusters, users, contexts, ...rest } = parse(kubeconfig());
    expect(await tokenOf(only({ ...rest, contexts }), only({ users }), only({ clusters }))).toEqual([
      '127.0.0.1:6443',
      'secret',
    ]);
  });

  it('files that do not exist and empty names are ignored, and if none exists the error says so', async () => {
    const { folder, file } = written('a');
    const missing = join(folder, 'missing');
    expect(await tokenOf(missing, '', file, missing)).toEqual(['127.0.0.1:6443', 'a']);
    const error = await failure(loadKubeconfig({ paths: [missing, missing].join(delimiter), now }));
    expect(String(error)).toContain('no such file');
  });

  it('a byte order mark is no part of a file', async () => {
    expect(await tokenOf(write(`\uFEFF${kubeconfig()}`))).toEqual(['127.0.0.1:6443', 'secret']);
  });

  it('certificates and the commands of plug-ins are relative to the file that names them', async () => {
    const { folder, file } = written('a', {
      user: { exec: { ...plugInOf('./print-token'), interactiveMode: 'Never' } },
    });
    const script = `#!${process.execPath}\nconsole.log(JSON.stringify({kind:"ExecCredential",status:{token:"own"}}))`;
    writeFileSync(join(folder, 'print-token'), script, { mode: 0o700 });
    const other = written('b');
    expect(await tokenOf(file, other.file)).toEqual(['127.0.0.1:6443', 'own']);
    const certified = temporaryFolder();
    for (const name of ['server.pem', 'server.key']) writeFileSync(join(certified, name), pem(name));
    const user = { 'client-certificate': 'server.pem', 'client-key': './server.key' };
    const second = write(kubeconfig({ user }), certified);
    const { clientCertificate } = await loadKubeconfig({ paths: [second, other.file].join(delimiter), now });
    expect(clientCertificate).toEqual({ cert: pem('server.pem'), key: pem('server.key') });
  });
});

function plugInOf(command: string): object {
  return { apiVersion: 'client.authentication.k8s.io/v1', command };
}
