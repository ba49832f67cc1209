// Any entry of the clusters table: it becomes a connection that verifies the server's certificate, or a UserError, and
// no credential appears in an error or a warning. Excluded: valid entries and error texts (connect.test.ts,
// parse-kubeconfig.test.ts).

import { validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { createSecretReader } from '../../../src/clusters/auth/secret-reader.ts';
import { connectionOf, resolveEntry } from '../../../src/clusters/connection.ts';
import { parseEntry } from '../../../src/clusters/registry/entry.ts';
import { UserError } from '../../../src/core/errors.ts';
import { createClient } from '../../../src/kube/client/client.ts';
import { isLoopback } from '../../../src/kube/client/connection.ts';
import { pem } from '../../kube/wire-server.ts';
import { base64, inlineCertificate, kubeconfig } from '../kubeconfigs.ts';

const now = () => new Date('2026-06-01T00:00:00Z');
const planted = 'planted-credential';
const numRuns = 300;
const credentials = async () => ({ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: planted });
/** The text of a secret is its name. */
const secrets = createSecretReader({ now, getSecret: async (name) => name });

/** Records the warnings during a test, which a function would write to stderr. */
function recordWarnings(): readonly string[] {
  const recorded: string[] = [];
  const listener = (warning: Error) => void recorded.push(`${warning.message} ${warning.stack}`);
  process.on('warning', listener);
  onTestFinished(() => void process.off('warning', listener));
  return recorded;
}

/** Creates a connection like the functions and checks the result. Returns whether there is a connection. */
async function checkEntry(entry: unknown): Promise<boolean> {
  try {
    const plain = await resolveEntry('a', parseEntry('a', entry), secrets);
    const connection = await connectionOf('a', plain, { now, credentials });
    const { server, insecureSkipTlsVerify } = connection;
    expect(insecureSkipTlsVerify).toBeUndefined();
    expect(server.protocol === 'https:' || (server.protocol === 'http:' && isLoopback(server.hostname))).toBe(true);
    createClient(connection).close();
    validateHeaderValue('authorization', `Bearer ${await connection.token?.()}`);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    expect(String(error)).not.toContain(planted);
    expect(String(error)).not.toMatch(/[\r\n]/);
    return false;
  }
}

const text = fc.oneof(
  fc.constantFrom(
    ...['https://host:6443', 'http://127.0.0.1:1', 'http://10.0.0.1', 'file:///etc/passwd', '//host'],
    ...['token', 'kubeconfig', 'certificate', 'none', 'eks', 'secret', 'eu-west-1'],
    ...[`https://u:${planted}@host`, planted, `${planted}\n`],
    ...[pem('server.pem'), base64(pem('server.pem')), '-----BEGIN CERTIFICATE-----'],
  ),
  fc.string({ unit: 'binary' }),
);
const value = fc.oneof({ weight: 4, arbitrary: text }, { weight: 1, arbitrary: fc.jsonValue() });
const optional = { requiredKeys: [] };

// Control T91.
it('an entry of any JSON becomes a verified connection or a UserError without a credential', async () => {
  const warnings = recordWarnings();
  const valid = { server: 'https://host:6443', ca: pem('server.pem'), access: { type: 'token', token: planted } };
  const one = (...fields: readonly string[]) => fc.dictionary(fc.constantFrom(...fields), value, { maxKeys: 1 });
  const almostValid = fc
    .tuple(
      one('server', 'ca', 'paused', 'decommissioning', 'more', planted),
      one('type', 'token', 'kubeconfig', 'cert', 'key', 'cluster', 'region', 'secret', 'holds', planted),
    )
    .map(([complete, access]) => ({ ...valid, ...complete, access: { ...valid.access, ...access } }));
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 5, arbitrary: almostValid }, fc.jsonValue()),
      async (one) => void (await checkEntry(one)),
    ),
    { numRuns },
  );
  expect(await checkEntry(valid)).toBe(true);
  expect(warnings.join('\n')).not.toContain(planted);
});

// Control T106.
it('a kubeconfig of any text becomes a verified connection or a UserError without a credential', async () => {
  const warnings = recordWarnings();
  const cluster = fc.record(
    {
      server: value,
      'certificate-authority-data': value,
      'insecure-skip-tls-verify': fc.oneof(fc.boolean(), value),
      'tls-server-name': value,
      'proxy-url': text,
    },
    optional,
  );
  const user = fc.oneof(
    fc.constant({ token: planted }),
    fc.constant(inlineCertificate('server', 'server')),
    fc.record({ token: value, exec: fc.jsonValue(), 'client-key-data': value, tokenFile: text }, optional),
  );
  const complete = fc.record({ cluster, user }).map(kubeconfig);
  // Truncated, or with other text inserted.
  const malformed = fc
    .tuple(
      complete,
      fc.nat(),
      fc.constantFrom('', ' !tag ', '\t', '*x', '&x', '? [', '<<: ', '"', '\u0000', '%YAML 9\n---\n'),
    )
    .map(([valid, at, piece]) => valid.slice(0, at % valid.length) + piece + valid.slice(at % valid.length));
  const tagged = complete.map((valid) => valid.replace('token: ', 'token: !vault '));
  await fc.assert(
    fc.asyncProperty(fc.oneof(complete, malformed, tagged, fc.string({ unit: 'binary' })), async (one) => {
      await checkEntry({ access: { type: 'kubeconfig', kubeconfig: one } });
    }),
    { numRuns },
  );
  expect(await checkEntry({ access: { type: 'kubeconfig', kubeconfig: kubeconfig() } })).toBe(true);
  // Warnings are emitted at the end of an event loop turn.
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings.join('\n')).not.toContain(planted);
});
