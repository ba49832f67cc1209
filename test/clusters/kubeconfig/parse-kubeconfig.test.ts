// The functions' parser of kubeconfigs. Excluded: plug-ins and files, which only the watcher accepts (kubeconfig.test.ts).
import { describe, expect, it } from 'vitest';
import { ConnectionProblem } from '../../../src/clusters/connection-problem.ts';
import { parseKubeconfig } from '../../../src/clusters/kubeconfig/parse-kubeconfig.ts';
import { pem } from '../../kube/wire-server.ts';
import { base64, inlineCertificate, kubeconfig } from '../kubeconfigs.ts';

const now = new Date('2026-06-01T00:00:00Z');
const read = (text: string, context?: string) => parseKubeconfig(text, { source: 'it', now, context });
const problem = (text: string, context?: string): string => {
  try {
    read(text, context);
  } catch (error) {
    expect(error).toBeInstanceOf(ConnectionProblem);
    return error instanceof Error ? error.message : '';
  }
  return expect.unreachable();
};

describe('a kubeconfig', () => {
  it('with a token becomes a connection', async () => {
    const connection = read(kubeconfig({ cluster: { 'tls-server-name': 'named' } }));
    expect(connection).toMatchObject({
      server: new URL('https://127.0.0.1:6443'),
      ca: pem('server.pem'),
      serverName: 'named',
    });
    expect(await connection.token?.()).toBe('secret');
  });

  it('with a client certificate becomes a connection', () => {
    const connection = read(kubeconfig({ user: inlineCertificate('server', 'server') }));
    expect(connection.clientCertificate).toEqual({ cert: pem('server.pem'), key: pem('server.key') });
    expect(connection.token).toBeUndefined();
  });

  it('is read at the context that is named', () => {
    expect(read(kubeconfig({ current: 'nowhere' }), 'here').server.port).toBe('6443');
  });

  it.each<[string, string, string]>([
    ['no YAML', 'a: [', 'not YAML'],
    ['no kubeconfig', 'a: 1', 'contexts, clusters, users missing'],
    ['no current context', kubeconfig({ current: '' }), 'current-context is not set'],
    ['an unknown context', kubeconfig({ current: 'x' }), 'context "x" is not there; it has here'],
    ['an unknown cluster', kubeconfig({ context: { cluster: 'x' } }), 'cluster "x" is not there; it has c'],
    ['an unknown user', kubeconfig({ context: { user: 'x' } }), 'user "x" is not there; it has u'],
    ['no credentials', kubeconfig({ user: {} }), 'user "u": no credentials'],
    ['no user at all', kubeconfig({ user: null }), 'user "u": no credentials'],
    ['a plug-in', kubeconfig({ user: { exec: { command: 'x' } } }), 'user "u": exec would run a program'],
    ['an auth provider', kubeconfig({ user: { 'auth-provider': {} } }), 'user "u": auth-provider is a plug-in'],
    [
      'a file',
      kubeconfig({ cluster: { 'certificate-authority': '/x' } }),
      'cluster "c": certificate-authority names a file',
    ],
    [
      'no verification',
      kubeconfig({ cluster: { 'insecure-skip-tls-verify': true } }),
      'insecure-skip-tls-verify is refused',
    ],
    ['half a pair', kubeconfig({ user: { 'client-key-data': 'eA==' } }), 'belong together'],
    ['another key', kubeconfig({ user: inlineCertificate('server', 'other') }), 'not that of the client certificate'],
    [
      'an expired certificate',
      kubeconfig({ user: inlineCertificate('expired', 'expired') }),
      'expired on 2021-01-01T00:00:00.000Z; renew it',
    ],
    [
      'an authority that is none',
      kubeconfig({ cluster: { 'certificate-authority-data': base64('x') } }),
      'certificate-authority-data: no PEM certificate',
    ],
    [
      'an authority that is broken',
      kubeconfig({
        cluster: { 'certificate-authority-data': base64('-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----') },
      }),
      'cannot be read',
    ],
    ['what is not base64', kubeconfig({ cluster: { 'certificate-authority-data': '***' } }), 'not base64'],
    ['http to elsewhere', kubeconfig({ cluster: { server: 'http://10.0.0.1' } }), 'only https is accepted'],
    ['no address', kubeconfig({ cluster: { server: 'here' } }), 'server: not an https address'],
    [
      'a password in the address',
      kubeconfig({ cluster: { server: 'https://u:hunter2@host' } }),
      'carries a user name or password',
    ],
  ])('with %s is a problem in one line that says where', (_, text, expected) => {
    const message = problem(text);
    expect(message).toContain(expected);
    expect(message).toMatch(/^it: .+$/);
    expect(message).not.toMatch(/secret|hunter2/);
  });

  it('that is broken where its token is does not have it quoted', () => {
    expect(problem('users: [{name: u, user: {token: "secret]')).not.toContain('secret');
  });
});
