// Whatever is in the clusters table: it is a connection to a server whose certificate is verified, or a problem that says where,
// and no credential is in what is said. Which entries are good, and how each problem reads: connect.test.ts, parse-kubeconfig.test.ts.
import { validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { connectionOf } from '../../../src/clusters/connection-of.ts';
import { ConnectionProblem } from '../../../src/clusters/connection-problem.ts';
import { parseEntry } from '../../../src/clusters/registry/entry.ts';
import { plainEntry } from '../../../src/clusters/plain-entry.ts';
import { createSecretReader } from '../../../src/clusters/secret-reader.ts';
import { createClient } from '../../../src/kube/client/client.ts';
import { isLoopback } from '../../../src/kube/loopback.ts';
import { pem } from '../../kube/wire-server.ts';
import { base64, inlineCertificate, kubeconfig } from '../kubeconfigs.ts';

const now = () => new Date('2026-06-01T00:00:00Z');
const planted = 'planted-credential';
const numRuns = 300;
const credentials = async () => ({ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: planted });
/** A secret's name is its text. */
const secrets = createSecretReader({ now, getSecret: async (name) => name });

/** What was warned of during a test, as it would be on a function's stderr. */
function listenToWarnings(): readonly string[] {
  const heard: string[] = [];
  const listener = (warning: Error) => void heard.push(`${warning.message} ${warning.stack}`);
  process.on('warning', listener);
  onTestFinished(() => void process.off('warning', listener));
  return heard;
}

/** Makes a connection as the functions do, looks at what came of it, and tells whether it was a connection. */
async function judge(entry: unknown): Promise<boolean> {
  try {
    const plain = await plainEntry('a', parseEntry('a', entry), secrets);
    const connection = await connectionOf('a', plain, { now, credentials });
    const { server, insecureSkipTlsVerify } = connection;
    expect(insecureSkipTlsVerify).toBeUndefined();
    expect(server.protocol === 'https:' || (server.protocol === 'http:' && isLoopback(server.hostname))).toBe(true);
    createClient(connection).close();
    validateHeaderValue('authorization', `Bearer ${await connection.token?.()}`);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(ConnectionProblem);
    expect(String(error)).not.toContain(planted);
    expect(String(error)).not.toMatch(/[\r\n]/);
    return false;
  }
}

const text = fc.oneof(
  fc.constantFrom(
    ...[
      'https://host:6443',
      'http://127.0.0.1:1',
      'http://10.0.0.1',
      `https://u:${planted}@host`,
      'file:///etc/passwd',
      '//host',
    ],
    ...[
      'token',
      'kubeconfig',
      'certificate',
      'none',
      'eks',
      'secret',
      'eu-west-1',
      planted,
      `${planted}\n`,
      pem('server.pem'),
      base64(pem('server.pem')),
      '-----BEGIN CERTIFICATE-----',
    ],
  ),
  fc.string({ unit: 'binary' }),
);
const value = fc.oneof({ weight: 4, arbitrary: text }, { weight: 1, arbitrary: fc.jsonValue() });
const optional = { requiredKeys: [] };

it('an entry of any JSON', async () => {
  const warnings = listenToWarnings();
  const good = { server: 'https://host:6443', ca: pem('server.pem'), access: { type: 'token', token: planted } };
  const one = (...fields: readonly string[]) => fc.dictionary(fc.constantFrom(...fields), value, { maxKeys: 1 });
  const nearly = fc
    .tuple(
      one('server', 'ca', 'leaving', 'more'),
      one('type', 'token', 'kubeconfig', 'cert', 'key', 'cluster', 'region', 'secret', 'holds'),
    )
    .map(([whole, access]) => ({ ...good, ...whole, access: { ...good.access, ...access } }));
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 5, arbitrary: nearly }, fc.jsonValue()),
      async (one) => void (await judge(one)),
    ),
    { numRuns },
  );
  expect(await judge(good)).toBe(true);
  expect(warnings.join('\n')).not.toContain(planted);
});

it('a kubeconfig of any text', async () => {
  const warnings = listenToWarnings();
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
  const whole = fc.record({ cluster, user }).map(kubeconfig);
  // Somebody cut it, or wrote into it.
  const spoilt = fc
    .tuple(
      whole,
      fc.nat(),
      fc.constantFrom('', ' !tag ', '\t', '*x', '&x', '? [', '<<: ', '"', '\u0000', '%YAML 9\n---\n'),
    )
    .map(([good, at, piece]) => good.slice(0, at % good.length) + piece + good.slice(at % good.length));
  const tagged = whole.map((good) => good.replace('token: ', 'token: !vault '));
  await fc.assert(
    fc.asyncProperty(fc.oneof(whole, spoilt, tagged, fc.string({ unit: 'binary' })), async (one) => {
      await judge({ access: { type: 'kubeconfig', kubeconfig: one } });
    }),
    { numRuns },
  );
  expect(await judge({ access: { type: 'kubeconfig', kubeconfig: kubeconfig() } })).toBe(true);
  // Warnings are emitted at the end of a turn.
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings.join('\n')).not.toContain(planted);
});
