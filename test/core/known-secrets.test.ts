// Only what a process knows to be secret: cut out of texts by equality, and nothing else. Where secrets are remembered:
// test/security. The patterns of unknown secrets are in decisions.test.ts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createKnownSecrets } from '../../src/core/known-secrets.ts';

const secret = 'p/q "é"+zß&9xK';
const base64 = (text: string) => Buffer.from(text).toString('base64');

it.each([
  ['as it is', secret],
  ['in JSON', JSON.stringify({ a: secret })],
  ['percent-encoded', `/x?a=${encodeURIComponent(secret)}&b=1`],
  ['percent-encoded in lower case', encodeURIComponent(secret).toLowerCase().replace('zß', 'zß').replace('xk', 'xK')],
  ['in a form', new URLSearchParams({ a: secret }).toString()],
  ['in base64', base64(secret)],
  ['in base64 for URLs', Buffer.from(secret).toString('base64url')],
])('a known secret is cut out of a text %s', (_, text) => {
  const secrets = createKnownSecrets();
  secrets.add(secret);
  expect(secrets.cut(`before ${text} after`)).toMatch(/^before .*\[redacted\].* after$/);
  for (const part of ['9xK', base64(secret).slice(4, 12)]) expect(secrets.cut(text)).not.toContain(part);
});

// Control T108.
it('a known secret is cut out of base64 wherever it stands in what was encoded', () => {
  const text = fc.string({ maxLength: 12, unit: 'grapheme' });
  const random = fc.string({ minLength: 12, maxLength: 60 });
  fc.assert(
    fc.property(text, random, text, (before, value, after) => {
      const secrets = createKnownSecrets();
      secrets.add(value);
      const cut = secrets.cut(Buffer.from(`${before}${value}${after}`).toString('base64'));
      expect(cut).toContain('[redacted]');
      // Less than two characters of the secret are left at each end.
      expect(cut.length - '[redacted]'.length).toBeLessThan((Buffer.byteLength(before + after) * 4) / 3 + 10);
    }),
  );
});

// Control T107.
it('no text keeps a known secret, and a text without one stays as it is', () => {
  const value = fc.string({ minLength: 8, maxLength: 20, unit: fc.constantFrom('a', 'b', '/') });
  const words = fc.array(fc.oneof(value, fc.constantFrom('a', 'b', ' ', 'ab')), { maxLength: 12 });
  fc.assert(
    fc.property(fc.array(value, { maxLength: 5 }), words, (known, parts) => {
      const secrets = createKnownSecrets();
      for (const one of known) secrets.add(one);
      const text = parts.join('');
      const cut = secrets.cut(text);
      for (const one of known) expect(cut).not.toContain(one);
      if (!known.some((one) => text.includes(one))) expect(cut).toBe(text);
    }),
  );
});

it.each([
  'water-tank:prod-1:watertanks.plant.example.com/default/north',
  'uid 0b1f6e5c-6c0e-4d54-9a0a-0f6f1d6d4a11, sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'arn:aws:iam::123456789012:role/outrigger-dev-water-tank',
])('keys, uids, ARNs and hashes stay as they are next to known secrets: %s', (text) => {
  const secrets = createKnownSecrets();
  // Seven characters could be a word.
  for (const one of [secret, 'default', 'production-token']) secrets.add(one);
  expect(secrets.cut(text)).toBe(text);
});

it('a text is read once, whatever the number of secrets and whatever the text', () => {
  let lookups = 0;
  const index = new (class extends Map<string, readonly string[]> {
    override get(key: string) {
      lookups += 1;
      return super.get(key);
    }
  })();
  const secrets = createKnownSecrets({ index });
  for (let count = 0; count < 500; count += 1) secrets.add(`eyJhbGciOiJSUzI1NiJ9.${base64(`payload ${count}`)}`);
  for (const text of ['a'.repeat(65_536), 'eyJhbGciOiJSUzI1NiJ9.'.repeat(3_000), 'token-'.repeat(10_000)]) {
    lookups = 0;
    expect(secrets.cut(text)).toBe(text);
    expect(lookups).toBeLessThan(text.length);
  }
});

it('the oldest of many secrets are forgotten, and the last ones are cut', () => {
  const index = new Map<string, readonly string[]>();
  const secrets = createKnownSecrets({ index });
  const token = (count: number) => `token number ${count} of a cluster`;
  for (let count = 0; count < 2_100; count += 1) secrets.add(token(count));
  expect(secrets.cut(token(2_099))).toBe('[redacted]');
  expect(secrets.cut(token(0))).toBe(token(0));
  expect(new Set([...index.values()].flat()).size).toBeLessThan(2_000 * 12);
});
