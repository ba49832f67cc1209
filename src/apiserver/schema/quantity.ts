// Quantities (`0.5`, `500m`, `1Gi`) in the one spelling kube-apiserver stores: no fraction, the largest suffix that loses nothing.

const NANO = 1_000_000_000n;
const DECIMAL: readonly (readonly [string, bigint])[] = [
  ['E', 10n ** 27n],
  ['P', 10n ** 24n],
  ['T', 10n ** 21n],
  ['G', 10n ** 18n],
  ['M', 10n ** 15n],
  ['k', 10n ** 12n],
  ['', NANO],
  ['m', 1_000_000n],
  ['u', 1_000n],
  ['n', 1n],
];
const BINARY: readonly (readonly [string, bigint])[] = [
  ['Ei', NANO << 60n],
  ['Pi', NANO << 50n],
  ['Ti', NANO << 40n],
  ['Gi', NANO << 30n],
  ['Mi', NANO << 20n],
  ['Ki', NANO << 10n],
];

/** Returns the canonical spelling of a quantity, or undefined where it is none. */
export function canonicalQuantity(text: string): string | undefined {
  const [, sign = '', whole = '', fraction = '', suffix = '', exponent] =
    /^([+-]?)(\d*)(?:\.(\d*))?(?:(Ei|Pi|Ti|Gi|Mi|Ki|[numkMGTPE]?)|[eE]([+-]?\d+))$/.exec(text) ?? [];
  if (whole === '' && fraction === '') return undefined;
  const unit = [...BINARY, ...DECIMAL].find(([name]) => name === suffix)?.[1] ?? NANO;
  // Nine more digits than a nano has, so that rounding up is exact.
  const digits = BigInt(`${whole}${fraction.slice(0, 18).padEnd(18, '0')}`) * unit;
  const scaled = exponent === undefined ? digits : scale(digits, Number(exponent));
  // Amounts of a resource are rounded up to a thousandth, and every quantity here is one.
  const millis = (scaled + 10n ** 24n - 1n) / 10n ** 24n;
  const nanos = millis * 1_000_000n;
  if (nanos === 0n) return '0';
  const minus = sign === '-' ? '-' : '';
  const binary = suffix.endsWith('i') && nanos >= NANO << 10n;
  const units = binary ? [...BINARY, ...DECIMAL.slice(6)] : exponent === undefined ? DECIMAL : [];
  const fitting = units.find(([, size]) => nanos % size === 0n);
  if (fitting !== undefined) return `${minus}${nanos / fitting[1]}${fitting[0]}`;
  return exponentForm(nanos, minus);
}

function scale(value: bigint, exponent: number): bigint {
  return exponent >= 0 ? value * 10n ** BigInt(exponent) : value / 10n ** BigInt(-exponent);
}

/** A quantity written with an exponent keeps one, in steps of three. */
function exponentForm(nanos: bigint, minus: string): string {
  let [mantissa, exponent] = [nanos, -9];
  while (mantissa % 1000n === 0n) {
    mantissa /= 1000n;
    exponent += 3;
  }
  return `${minus}${mantissa}${exponent === 0 ? '' : `e${exponent}`}`;
}
