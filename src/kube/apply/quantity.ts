// Quantities of Kubernetes (`100m`, `1Gi`, `1e3`), which the API server writes in another form than they were applied.

const binarySuffixes: Readonly<Record<string, number>> = { Ki: 1, Mi: 2, Gi: 3, Ti: 4, Pi: 5, Ei: 6 };
const decimalSuffixes: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};

/** Returns whether two values are equal quantities. Returns false if one is not a quantity. */
export function sameQuantity(a: unknown, b: unknown): boolean {
  const first = nanoUnits(a);
  return first !== undefined && first === nanoUnits(b);
}

/** Returns a quantity in billionths, rounded up as in Kubernetes, or undefined if the value is not a quantity. */
function nanoUnits(value: unknown): bigint | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const match = /^([+-]?)(\d{0,30})(?:\.(\d{0,30}))?(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?\d{1,2}))?$/.exec(
    String(value),
  );
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', binary, decimal, exponent] = match;
  if (whole === '' && fraction === '') return undefined;
  const power =
    (exponent === undefined ? (decimalSuffixes[decimal ?? ''] ?? 0) : Number(exponent)) + 9 - fraction.length;
  const scaled = BigInt(whole + fraction) * 1024n ** BigInt(binary === undefined ? 0 : (binarySuffixes[binary] ?? 0));
  const size = power >= 0 ? scaled * 10n ** BigInt(power) : divideUp(scaled, 10n ** BigInt(-power));
  return sign === '-' ? -size : size;
}

function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}
