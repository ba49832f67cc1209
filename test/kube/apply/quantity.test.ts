// Equality of quantities. The pairs were read back from a kube-apiserver 1.36.3 or come from apimachinery's tests.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sameQuantity } from '../../../src/kube/apply/quantity.ts';

it.each<[unknown, unknown, boolean]>([
  ['0.5', '500m', true],
  [1, '1', true],
  ['1000m', '1', true],
  ['1024Mi', '1Gi', true],
  ['0.5Gi', '512Mi', true],
  ['1k', '1000', true],
  ['1e3', '1k', true],
  ['1E', '1000000000000000000', true],
  ['1E3', '1000', true],
  ['.5', '500m', true],
  ['5.', '5', true],
  ['-0.5', '-500m', true],
  ['0.1n', '1n', true],
  ['1Ki', '1k', false],
  ['1', '1m', false],
  ['', '', false],
  ['.', '.', false],
  ['a', 'a', false],
  ['1Kii', '1Ki', false],
  [true, '1', false],
  [null, '0', false],
  ['9'.repeat(40), '1', false],
])('sameQuantity of %j and %j is %s', (a, b, expected) => {
  expect(sameQuantity(a, b)).toBe(expected);
  expect(sameQuantity(b, a)).toBe(expected);
});

it('sameQuantity is true for every notation of a whole number of thousandths', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e9, max: 1e9 }), (milli) => sameQuantity(`${milli}m`, (milli / 1000).toFixed(3))),
  );
});
