// Only the pure functions of core: backoff, redaction, keys.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { backoffSeconds, retryBackoff, unreachableBackoff } from '../../src/core/backoff.ts';
import { formatReconcileKey, isPathSegment, type ReconcileKey } from '../../src/core/key.ts';
import { redact } from '../../src/core/redact.ts';

it('backoffSeconds never decreases as the failures grow, and stays between 1 s and the maximum', () => {
  const failureCounts = fc.integer({ min: 1, max: 60 });
  const fraction = fc.double({ min: 0, max: 0.999, noNaN: true });
  fc.assert(
    fc.property(
      fc.constantFrom(retryBackoff, unreachableBackoff),
      failureCounts,
      fraction,
      fraction,
      (backoff, failures, one, other) => {
        const delay = backoffSeconds(backoff, failures, one);
        expect(Number.isInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(1);
        expect(delay).toBeLessThanOrEqual(backoff.maxSeconds);
        expect(backoffSeconds(backoff, failures + 1, other)).toBeGreaterThanOrEqual(delay);
      },
    ),
  );
});

it.each([
  ['Authorization: Bearer abc.def-ghi', 'abc.def-ghi'],
  ['GET https://admin:hunter2@host/x failed', 'hunter2'],
  ['GET https://admin:p@hunter2@host/x failed', 'hunter2'],
  ['password=hunter2, retrying', 'hunter2'],
  ['{"token":"s3cr3tvalue"}', 's3cr3tvalue'],
  ['eyJhbGciOiJ.eyJzdWIiOiIx.c2ln is expired', 'eyJzdWIiOiIx'],
  ['k8s-aws-v1.aHR0cHM6Ly9zdHM was refused', 'aHR0cHM6Ly9zdHM'],
  ['client_secret=hunter2', 'hunter2'],
  ['{"accessToken": "hunter2"}', 'hunter2'],
  ['{\\"password\\":\\"hunter2\\"} was refused', 'hunter2'],
  ['PGPASSWORD="two words"', 'words'],
  ['/queue?X-Amz-Signature=abcdef0123&x=1', 'abcdef0123'],
  ['mysql -u root --password hunter2', 'hunter2'],
  ['vault login --client-secret hunter2', 'hunter2'],
  ['psql --password "hunter2 with spaces" --host db', 'spaces'],
  ["vault login --token 'hunter2 with spaces'", 'hunter2'],
  ['Authorization: token hunter2', 'hunter2'],
  ['push with glpat-abcdefghijklmnop failed', 'abcdefghijklmnop'],
  ['user=a;pwd=hunter2', 'hunter2'],
  ['token: invalid-input-hunter2', 'hunter2'],
  ['password: Too small for hunter2', 'Too'],
  ['Cookie: session=hunter2', 'hunter2'],
  ['Cookie: theme=dark; session=hunter2; a=b', 'hunter2'],
  ['push with ghp_abcdefghijklmnop failed', 'ghp_abcdefghijklmnop'],
  ['github_pat_11ABCDEFG0abcdefghij was revoked', '11ABCDEFG0abcdefghij'],
  ['vault: hvs.CAESIJabcdefghij denied', 'CAESIJabcdefghij'],
  ['slack xoxb-1234567890-abcdef', '1234567890-abcdef'],
  ['slack xapp-1-A123-4567890-abcdef', 'A123-4567890-abcdef'],
  ['InvalidAccessKeyId AKIAIOSFODNN7EXAMPLE', 'AKIAIOSFODNN7EXAMPLE'],
  ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----', 'MIIE'],
  // Control T111.
])('redact masks the credential in: %s', (message, secret) => {
  expect(redact(message)).not.toContain(secret);
});

it('redact returns one bounded line that starts with the original message', () => {
  const message = redact(`connect ECONNREFUSED\n127.0.0.1:1 ${'x'.repeat(5000)}`);
  expect(message).toMatch(/^connect ECONNREFUSED 127\.0\.0\.1:1 /);
  expect(message.length).toBeLessThanOrEqual(512);
});

it.each([
  'secrets "db" is forbidden: token has expired, user: jane',
  'arn:aws:iam::123456789012:role/outrigger-dev-water-tank is not authorized',
  'arn:aws:secretsmanager:eu-central-1:123456789012:secret:outrigger/plant-AbCdEf was not found',
  'water-tank:prod-1:watertanks.plant.example.com/default/north',
  'controller dns needs in its environment DNS_TOKEN: Invalid input: expected string, received undefined',
  'spec.password: Too small: expected string to have >=8 characters; spec.token: Invalid URL',
  'uid 0b1f6e5c-6c0e-4d54-9a0a-0f6f1d6d4a11, sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  // Control T112.
])('redact leaves a message without a credential unchanged: %s', (message) => {
  expect(redact(message)).toBe(message);
});

it('redact never returns a character that SQS rejects in an attribute', () => {
  const legal = /^[ -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;
  expect(redact(`\u001b[31mred\u0000 ${'😀'.repeat(600)}`)).toMatch(legal);
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 700 }), (text) => legal.test(redact(text))));
});

it('redact uses linear CPU time: less than 20 ms for each hostile message of 64 kB, and no more for one of 3 MB', () => {
  const repeated = [
    'token-',
    'a',
    'eyJ-',
    'x-amz-',
    'aws_secret',
    'a://',
    'bearer ',
    'secret ',
    '\\',
    '-----BEGIN ',
    'ghp_',
  ];
  const units = [...repeated, '--password ', '--x-', 'cookie: a=b; ', 'a=b;'];
  for (const unit of units) redact(unit.repeat(3_000_000 / unit.length));
  const messages = units.map((unit) => unit.repeat(65_536 / unit.length));
  // Not a clock on the wall, and the best of three: other processes and threads of the machine do not count.
  const passes = [1, 2, 3].map(() => {
    const before = process.threadCpuUsage();
    for (const message of messages) redact(message);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  expect(Math.min(...passes)).toBeLessThan(20 * messages.length);
});

const segment = fc.string({ minLength: 1, maxLength: 20 }).filter(isPathSegment);
const key: fc.Arbitrary<ReconcileKey> = fc.record({
  controller: fc.constantFrom('a', 'b'),
  cluster: segment,
  group: fc.constantFrom('', 'x.example.com'),
  resource: fc.constantFrom('things', 'others'),
  namespace: segment,
  name: segment,
});

it('formatReconcileKey never returns the same string for two different keys', () => {
  const withoutColon = key.filter(({ cluster }) => !cluster.includes(':'));
  fc.assert(
    fc.property(withoutColon, withoutColon, (one, other) => {
      expect(formatReconcileKey(one) === formatReconcileKey(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
    }),
  );
});
