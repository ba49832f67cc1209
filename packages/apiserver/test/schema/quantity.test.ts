// Canonical quantities. Every result was observed on kube-apiserver 1.36.3, in the limits of a pod.
import { expect, it } from 'vitest';
import { canonicalQuantity, nanosOf } from '../../src/schema/quantity.ts';

it.each([
  ['0.5', '500m'],
  ['1Gi', '1Gi'],
  ['107374182400m', '107374182400m'],
  ['500m', '500m'],
  ['1000m', '1'],
  ['1024Mi', '1Gi'],
  ['1.5Gi', '1536Mi'],
  ['0.1Gi', '107374182400m'],
  ['1e3', '1e3'],
  ['12e6', '12e6'],
  ['0', '0'],
  ['1500', '1500'],
  ['1500k', '1500k'],
  ['1Ki', '1Ki'],
  ['1024', '1024'],
  ['0.0001', '1m'],
  ['1n', '1m'],
  ['1500u', '2m'],
  ['100000000000', '100G'],
  ['1.25', '1250m'],
  ['0.001k', '1'],
  ['5Ei', '5Ei'],
  ['.5', '500m'],
  ['1e-3', '1e-3'],
  ['100e-2', '1'],
  ['1.5e3', '1500'],
  ['2000000u', '2'],
  ['0.5000000000000000001', '501m'],
])('the quantity %s is stored as %s', (written, stored) => {
  expect(canonicalQuantity(written)).toBe(stored);
});

it.each(['', 'x', '1x', 'm', '1 Gi', '1.2.3', '--1'])('the text "%s" is not a quantity', (text) => {
  expect(canonicalQuantity(text)).toBeUndefined();
});

it.each([
  ['1e999999999', 10n ** 1_009n],
  ['1e-999999999', 1n],
])('the quantity %s is read with an exponent of a thousand', (text, nanos) => {
  expect(nanosOf(text)).toBe(nanos);
});
