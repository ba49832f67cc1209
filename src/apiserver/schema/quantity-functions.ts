// The quantity library of Kubernetes' CEL (k8s.io/apiserver/pkg/cel/library, quantity.go). A quantity is a map with its
// value in nanos as text: CEL has no integers of that size, and compares maps by their content. Known gap: isInteger
// and asInteger go by the value. kube-apiserver goes by the text: `1.0` and `1000m` are no integers [tried on 1.36.3].
import { type CelFunc, CelScalar, type CelValue, celFunc, celMethod, isCelMap } from '@bufbuild/cel';
import { nanosOf } from './quantity.ts';

const { DYN, BOOL, STRING, INT, DOUBLE } = CelScalar;
const nano = 1_000_000_000n;
const field = 'quantity';

/** The functions of quantities. */
export const quantityFunctions: readonly CelFunc[] = [
  celFunc('isQuantity', [STRING], BOOL, (text) => nanosOf(text) !== undefined),
  celFunc('quantity', [STRING], DYN, (text) => {
    const nanos = nanosOf(text);
    if (nanos === undefined)
      throw new Error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    return toQuantity(nanos);
  }),
  celMethod('isGreaterThan', DYN, [DYN], BOOL, function (other) {
    return read(this) > read(other);
  }),
  celMethod('isLessThan', DYN, [DYN], BOOL, function (other) {
    return read(this) < read(other);
  }),
  celMethod('compareTo', DYN, [DYN], INT, function (other) {
    return BigInt(compare(read(this), read(other)));
  }),
  celMethod('sign', DYN, [], INT, function () {
    return BigInt(compare(read(this), 0n));
  }),
  celMethod('isInteger', DYN, [], BOOL, function () {
    return asInteger(read(this)) !== undefined;
  }),
  celMethod('asInteger', DYN, [], INT, function () {
    const whole = asInteger(read(this));
    if (whole === undefined) throw new Error('cannot convert value to integer');
    return whole;
  }),
  celMethod('asApproximateFloat', DYN, [], DOUBLE, function () {
    return Number(read(this)) / Number(nano);
  }),
  celMethod('add', DYN, [DYN], DYN, function (other) {
    return toQuantity(read(this) + readOperand(other));
  }),
  celMethod('sub', DYN, [DYN], DYN, function (other) {
    return toQuantity(read(this) - readOperand(other));
  }),
];

function compare(left: bigint, right: bigint): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

function toQuantity(nanos: bigint): Map<string, string> {
  return new Map([[field, String(nanos)]]);
}

function read(value: CelValue): bigint {
  const nanos = isCelMap(value) ? value.get(field) : undefined;
  if (typeof nanos !== 'string') throw new Error('no such overload');
  return BigInt(nanos);
}

/** Sums have a quantity or an integer as the second operand. */
function readOperand(value: CelValue): bigint {
  return typeof value === 'bigint' ? value * nano : read(value);
}

function asInteger(nanos: bigint): bigint | undefined {
  const whole = nanos / nano;
  return whole * nano === nanos && BigInt.asIntN(64, whole) === whole ? whole : undefined;
}
