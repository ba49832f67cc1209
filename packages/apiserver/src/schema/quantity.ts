// Canonical quantities (`0.5`, `500m`, `1Gi`) as kube-apiserver stores them: no fraction, and the largest suffix
// without loss of precision.

const nano = 1_000_000_000n;
/** Larger exponents count as this one: a number of a billion digits would block the process. */
const maxExponent = 1000;
const decimalSuffixes: readonly (readonly [string, bigint])[] = [
  ['E', 10n ** 27n],
  ['P', 10n ** 24n],
  ['T', 10n ** 21n],
  ['G', 10n ** 18n],
  ['M', 10n ** 15n],
  ['k', 10n ** 12n],
  ['', nano],
  ['m', 1_000_000n],
  ['u', 1_000n],
  ['n', 1n],
];
const binarySuffixes: readonly (readonly [string, bigint])[] = [
  ['Ei', nano << 60n],
  ['Pi', nano << 50n],
  ['Ti', nano << 40n],
  ['Gi', nano << 30n],
  ['Mi', nano << 20n],
  ['Ki', nano << 10n],
];

type Parsed = {
  readonly minus: '-' | '';
  readonly suffix: string;
  readonly exponent: string | undefined;
  /** The absolute value in nanos, times 10^18, rounded up. */
  readonly scaled: bigint;
};

const pattern = /^([+-]?)(\d*)(?:\.(\d*))?(?:(Ei|Pi|Ti|Gi|Mi|Ki|[numkMGTPE]?)|[eE]([+-]?\d+))$/;

function parseQuantity(text: string): Parsed | undefined {
  const [, sign, whole = '', fraction = '', suffix = '', exponent] = pattern.exec(text) ?? [];
  if (whole === '' && fraction === '') return undefined;
  const unit = [...binarySuffixes, ...decimalSuffixes].find(([name]) => name === suffix)?.[1] ?? nano;
  const power = Math.max(-maxExponent, Math.min(maxExponent, Number(exponent ?? 0)));
  const scaled = scale(BigInt(`${whole}${fraction}`) * unit, 18 - fraction.length + power);
  return { minus: sign === '-' ? '-' : '', suffix, exponent, scaled };
}

/** Returns a quantity in nanos, rounded away from zero, or undefined for another text. */
export function nanosOf(text: string): bigint | undefined {
  const parsed = parseQuantity(text);
  if (parsed === undefined) return undefined;
  const nanos = (parsed.scaled + 10n ** 18n - 1n) / 10n ** 18n;
  return parsed.minus === '-' ? -nanos : nanos;
}

/**
 * Returns whether kube-apiserver keeps a quantity as an integer and a power of ten that is not negative (apimachinery,
 * ParseQuantity). `1000m`, `1.0` and `1.5Gi` are none, whatever their value, nor are numbers of too many digits.
 */
export function isWrittenAsInteger(text: string): boolean {
  const [, , whole = '', fraction = '', suffix = '', exponent] = pattern.exec(text) ?? [];
  const digits = (whole.replace(/^0+/, '') || '0').length + fraction.length;
  const binary = binarySuffixes.findIndex(([name]) => name === suffix);
  if (binary !== -1) return fraction === '' && digits + (binarySuffixes.length - binary) * 3 < 15;
  const power = exponent === undefined ? 18 - 3 * decimalSuffixes.findIndex(([name]) => name === suffix) : exponent;
  return digits <= 18 && Number(power) >= fraction.length;
}

/** Returns the canonical form of a quantity, or undefined for another text. */
export function canonicalQuantity(text: string): string | undefined {
  const parsed = parseQuantity(text);
  if (parsed === undefined) return undefined;
  const { minus, suffix, exponent, scaled } = parsed;
  // kube-apiserver rounds resource amounts up to a thousandth. All quantities of the served kinds are resource amounts.
  const millis = (scaled + 10n ** 24n - 1n) / 10n ** 24n;
  const nanos = millis * 1_000_000n;
  if (nanos === 0n) return '0';
  const binary = suffix.endsWith('i') && nanos >= nano << 10n;
  const units = binary
    ? [...binarySuffixes, ...decimalSuffixes.slice(6)]
    : exponent === undefined
      ? decimalSuffixes
      : [];
  const fitting = units.find(([, size]) => nanos % size === 0n);
  if (fitting !== undefined) return `${minus}${nanos / fitting[1]}${fitting[0]}`;
  return exponentForm(nanos, minus);
}

/** Rounds up. */
function scale(value: bigint, exponent: number): bigint {
  if (exponent >= 0) return value * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return (value + divisor - 1n) / divisor;
}

/**
 * Returns a quantity with an exponent, in steps of three. A quantity that is written with an exponent keeps this form.
 */
function exponentForm(nanos: bigint, minus: string): string {
  let [mantissa, exponent] = [nanos, -9];
  while (mantissa % 1000n === 0n) {
    mantissa /= 1000n;
    exponent += 3;
  }
  return `${minus}${mantissa}${exponent === 0 ? '' : `e${exponent}`}`;
}
