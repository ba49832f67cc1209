// Only the small pure decisions of core: waits, redaction, keys.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffSeconds, deferralBackoff, retryBackoff } from '../../src/core/backoff.ts';
import { formatTarget, isPathSegment, type TargetKey } from '../../src/core/key.ts';
import { redact } from '../../src/core/redact.ts';

describe('a backoff', () => {
  it('never falls with the count, and always stays within its bounds', () => {
    const counts = fc.integer({ min: 1, max: 60 });
    const fraction = fc.double({ min: 0, max: 0.999, noNaN: true });
    fc.assert(
      fc.property(
        fc.constantFrom(retryBackoff, deferralBackoff),
        counts,
        fraction,
        fraction,
        (backoff, count, one, other) => {
          const wait = backoffSeconds(backoff, count, one);
          expect(Number.isInteger(wait)).toBe(true);
          expect(wait).toBeGreaterThanOrEqual(1);
          expect(wait).toBeLessThanOrEqual(backoff.maxSeconds);
          expect(backoffSeconds(backoff, count + 1, other)).toBeGreaterThanOrEqual(wait);
        },
      ),
    );
  });
});

describe('a redacted message', () => {
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
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----', 'MIIE'],
  ])('%s', (message, secret) => {
    expect(redact(message)).not.toContain(secret);
  });

  it('is one bounded line that still says what happened', () => {
    const message = redact(`connect ECONNREFUSED\n127.0.0.1:1 ${'x'.repeat(5000)}`);
    expect(message).toMatch(/^connect ECONNREFUSED 127\.0\.0\.1:1 /);
    expect(message.length).toBeLessThanOrEqual(512);
  });

  it('says what is no credential', () => {
    const message = 'secrets "db" is forbidden: token has expired, user: jane';
    expect(redact(message)).toBe(message);
  });

  it('never has a character that SQS refuses in an attribute', () => {
    const legal = /^[ -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;
    expect(redact(`\u001b[31mred\u0000 ${'😀'.repeat(600)}`)).toMatch(legal);
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 700 }), (text) => legal.test(redact(text))));
  });

  it('of an endless answer is found in no time', () => {
    const startedAt = performance.now();
    redact('token-'.repeat(500_000));
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});

describe('a key', () => {
  const segment = fc.string({ minLength: 1, maxLength: 20 }).filter(isPathSegment);
  const target: fc.Arbitrary<TargetKey> = fc.record({
    controller: fc.constantFrom('a', 'b'),
    cluster: segment,
    group: fc.constantFrom('', 'x.example.com'),
    resource: fc.constantFrom('things', 'others'),
    namespace: segment,
    name: segment,
  });

  it('of two different objects is never the same string', () => {
    const plain = target.filter(({ cluster }) => !cluster.includes(':'));
    fc.assert(
      fc.property(plain, plain, (one, other) => {
        expect(formatTarget(one) === formatTarget(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
    );
  });

  it.each(['', '.', '..', 'a/b', 'a%2fb', '/'])('%j is no path segment', (name) =>
    expect(isPathSegment(name)).toBe(false));
  it.each(['a', 'system:node', 'a.b', '...'])('%j is one', (name) => expect(isPathSegment(name)).toBe(true));
});
