// Kubernetes writes quantities in a canonical form ("0.5" reads back "500m", 1 reads back "1"), so what we set and what we
// read can only be compared as numbers (apimachinery, resource.Quantity).

const BINARY: Readonly<Record<string, number>> = { Ki: 1, Mi: 2, Gi: 3, Ti: 4, Pi: 5, Ei: 6 };
const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

/** Tells whether two values are the same quantity. False when either is none. */
export function sameQuantity(a: unknown, b: unknown): boolean {
  const first = nanoUnits(a);
  return first !== undefined && first === nanoUnits(b);
}

/** A quantity in billionths, rounded up as Kubernetes does; undefined when it is none. */
function nanoUnits(value: unknown): bigint | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const match = /^([+-]?)(\d{0,30})(?:\.(\d{0,30}))?(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?\d{1,2}))?$/.exec(
    String(value),
  );
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', binary, decimal, exponent] = match;
  if (whole === '' && fraction === '') return undefined;
  const power = (exponent === undefined ? (DECIMAL[decimal ?? ''] ?? 0) : Number(exponent)) + 9 - fraction.length;
  const scaled = BigInt(whole + fraction) * 1024n ** BigInt(binary === undefined ? 0 : (BINARY[binary] ?? 0));
  const size = power >= 0 ? scaled * 10n ** BigInt(power) : divideUp(scaled, 10n ** BigInt(-power));
  return sign === '-' ? -size : size;
}

function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}
