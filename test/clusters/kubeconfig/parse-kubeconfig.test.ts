// The kubeconfig parser of the functions. Excluded: plug-ins and files, which only loadKubeconfig accepts
// (load-kubeconfig.test.ts).

import { expect, it } from 'vitest';
import { parseKubeconfig } from '../../../src/clusters/kubeconfig/parse-kubeconfig.ts';
import { UserError } from '../../../src/core/errors.ts';
import { pem } from '../../kube/wire-server.ts';
import { base64, inlineCertificate, type KubeconfigFields, kubeconfig } from '../kubeconfigs.ts';

const now = new Date('2026-06-01T00:00:00Z');
const read = (text: string, context?: string) => parseKubeconfig(text, { source: 'it', now, context });
const problem = (text: string, context?: string): string => {
  try {
    read(text, context);
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    return error instanceof Error ? error.message : '';
  }
  return expect.unreachable();
};

it('parseKubeconfig returns a connection for a token', async () => {
  const connection = read(kubeconfig({ cluster: { 'tls-server-name': 'named' } }));
  expect(connection).toMatchObject({
    server: new URL('https://127.0.0.1:6443'),
    ca: pem('server.pem'),
    serverName: 'named',
  });
  expect(await connection.token?.()).toBe('secret');
});

it('parseKubeconfig returns a connection for a client certificate', () => {
  const connection = read(kubeconfig({ user: inlineCertificate('server', 'server') }));
  expect(connection.clientCertificate).toEqual({ cert: pem('server.pem'), key: pem('server.key') });
  expect(connection.token).toBeUndefined();
});

it('B13: a field with an empty text is absent, as for client-go', () => {
  const cluster = { 'certificate-authority-data': '', 'proxy-url': '', 'tls-server-name': '' };
  const user = { ...inlineCertificate('server', 'server'), token: '', username: '' };
  const connection = read(kubeconfig({ cluster, user }));
  expect([connection.ca, connection.serverName, connection.token]).toEqual([undefined, undefined, undefined]);
  expect(connection.clientCertificate?.cert).toBe(pem('server.pem'));
});

it('parseKubeconfig reads the given context', () => {
  expect(read(kubeconfig({ current: 'nowhere' }), 'here').server.port).toBe('6443');
});

it.each<[string, KubeconfigFields | string, string]>([
  ['invalid YAML', 'a: [', 'not YAML'],
  ['another document', 'a: 1', 'contexts, clusters, users missing'],
  ['no current context', { current: '' }, 'current-context is not set'],
  ['an unknown context', { current: 'x' }, 'current-context: is the name of none of the 1 contexts'],
  [
    'an unknown cluster',
    { context: { cluster: 'x' } },
    'contexts[0].context.cluster: is the name of none of the 1 clusters',
  ],
  ['an unknown user', { context: { user: 'x' } }, 'contexts[0].context.user: is the name of none of the 1 users'],
  ['no credentials', { user: {} }, 'users[0]: no credentials'],
  ['no user at all', { user: null }, 'users[0]: no credentials'],
  ['a plug-in', { user: { exec: { command: 'x' } } }, 'users[0]: exec would run a program'],
  ['an auth provider', { user: { 'auth-provider': {} } }, 'users[0]: auth-provider is a plug-in'],
  ['a file', { cluster: { 'certificate-authority': '/x' } }, 'clusters[0]: certificate-authority names a file'],
  ['a proxy', { cluster: { 'proxy-url': 'http://proxy' } }, 'clusters[0]: proxy-url is not supported'],
  ['a token in a file', { user: { tokenFile: '/x' } }, 'users[0]: tokenFile names a file'],
  ['a certificate in a file', { user: { 'client-certificate': '/x' } }, 'users[0]: client-certificate names a file'],
  ['a key in a file', { user: { 'client-key': '/x' } }, 'users[0]: client-key names a file'],
  ['a password', { user: { username: 'u', password: 'hunter2' } }, 'users[0]: username is not accepted'],
  ['a user to act as', { user: { token: 'secret', as: 'guest' } }, 'users[0]: as is not supported'],
  ['no verification', { cluster: { 'insecure-skip-tls-verify': true } }, 'insecure-skip-tls-verify is not allowed'],
  ['a client key without its certificate', { user: { 'client-key-data': 'eA==' } }, 'belong together'],
  ['an unrelated key', { user: inlineCertificate('server', 'other') }, 'does not match the client certificate'],
  [
    'an expired certificate',
    { user: inlineCertificate('expired', 'expired') },
    'expired on 2021-01-01T00:00:00.000Z; renew it',
  ],
  [
    'an authority without PEM',
    { cluster: { 'certificate-authority-data': base64('x') } },
    'certificate-authority-data: no PEM certificate',
  ],
  [
    'an authority with invalid PEM',
    {
      cluster: { 'certificate-authority-data': base64('-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----') },
    },
    'cannot be read',
  ],
  ['invalid base64', { cluster: { 'certificate-authority-data': '***' } }, 'not base64'],
  ['http to another machine', { cluster: { server: 'http://10.0.0.1' } }, 'only https is accepted'],
  ['an invalid server address', { cluster: { server: 'here' } }, 'server: not an https address'],
  ['a password in an address', { cluster: { server: 'https://u:hunter2@host' } }, 'contains a user name or password'],
  ['a query in the address', { cluster: { server: 'https://host?a=b' } }, 'contains a query or a fragment'],
  ['a fragment in the address', { cluster: { server: 'https://host/#a' } }, 'a query or a fragment'],
])('parseKubeconfig throws a one-line UserError that names the field for %s', (_, given, expected) => {
  const message = problem(typeof given === 'string' ? given : kubeconfig(given));
  expect(message).toContain(expected);
  expect(message).toMatch(/^it: .+$/);
  expect(message).not.toMatch(/secret|hunter2/);
});

const token = 'c3VwZXItaHVudGVyMi10b2tlbg';
const asName = { user: {}, context: { cluster: token, user: token } };
it.each<[string, string]>([
  ['the current context', kubeconfig({ current: token })],
  ['the cluster of a context', kubeconfig({ context: { cluster: token } })],
  ['the user of a context', kubeconfig({ context: { user: token } })],
  ['a context', kubeconfig({ current: 'x' }).replace('name: here', `name: ${token}`)],
  ['a cluster', kubeconfig().replace('name: c\n', `name: ${token}\n`)],
  ['a user', kubeconfig().replace('name: u\n', `name: ${token}\n`)],
  ['a user and a cluster that exist', kubeconfig(asName).replaceAll(/name: [cu]\n/g, `name: ${token}\n`)],
  ['a field', kubeconfig().replace('contexts:', `${token}:`)],
])('H5: an error does not quote a credential in the place of the name of %s', (_, text) => {
  expect(problem(text)).not.toContain(token);
});

it('parseKubeconfig does not quote the token of a malformed kubeconfig', () => {
  expect(problem('users: [{name: u, user: {token: "secret]')).not.toContain('secret');
});
