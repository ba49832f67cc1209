// The quantity library of Kubernetes' CEL (k8s.io/apiserver/pkg/cel/library, quantity.go). A quantity is a map with its
// value in nanos as text: CEL has no integers of that size, and compares maps by their content. It depends on the text
// whether a quantity is an integer: `1.0` and `1000m` are none [tried on kube-apiserver 1.36.3], and equal to `1`.
import { type CelFunc, CelScalar, type CelValue, celFunc, isCelMap } from '@bufbuild/cel';
import { methodOf } from './cel-method.ts';
import { isWrittenAsInteger, nanosOf } from './quantity.ts';
import { orderOfVersion } from './text-functions.ts';

const { DYN, BOOL, STRING, INT, DOUBLE } = CelScalar;
const nano = 1_000_000_000n;
const field = 'quantity';
/** It is found by get alone, so that it is no part of the content that is compared. */
const integerField = 'isInteger';

/** The functions of quantities. */
export const quantityFunctions: readonly CelFunc[] = [
  celFunc('isQuantity', [STRING], BOOL, (text) => nanosOf(text) !== undefined),
  celFunc('quantity', [STRING], DYN, (text) => {
    const nanos = nanosOf(text);
    if (nanos === undefined)
      throw new Error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    return toQuantity(nanos, isWrittenAsInteger(text));
  }),
  methodOf(DYN, 'isGreaterThan', [DYN], BOOL, (self, other) => compare(self, other) > 0),
  methodOf(DYN, 'isLessThan', [DYN], BOOL, (self, other) => compare(self, other) < 0),
  methodOf(DYN, 'compareTo', [DYN], INT, (self, other) => BigInt(compare(self, other))),
  methodOf(DYN, 'sign', [], INT, (self) => BigInt(orderOf(read(self), 0n))),
  methodOf(DYN, 'isInteger', [], BOOL, (self) => asInteger(self) !== undefined),
  methodOf(DYN, 'asInteger', [], INT, (self) => {
    const whole = asInteger(self);
    if (whole === undefined) throw new Error('cannot convert value to integer');
    return whole;
  }),
  methodOf(DYN, 'asApproximateFloat', [], DOUBLE, (self) => Number(read(self)) / Number(nano)),
  methodOf(DYN, 'add', [DYN], DYN, (self, other) => sum(self, other, 1n)),
  methodOf(DYN, 'sub', [DYN], DYN, (self, other) => sum(self, other, -1n)),
];

/** Compares two quantities, or two versions: both libraries have these methods. */
function compare(left: CelValue, right: CelValue): number {
  const [first, second] = [orderOfVersion(left), orderOfVersion(right)];
  return first === undefined || second === undefined ? orderOf(read(left), read(right)) : orderOf(first, second);
}

function orderOf<Value extends bigint | string>(left: Value, right: Value): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

function toQuantity(nanos: bigint, isInteger: boolean): Map<string, string> {
  const map = new Map([[field, String(nanos)]]);
  const get = (key: string) => (key === integerField ? String(isInteger) : Map.prototype.get.call(map, key));
  return Object.assign(map, { get });
}

/** A sum is written as the operand with the lower power of ten. Zero leaves the other operand as it is. */
function sum(left: CelValue, right: CelValue, sign: 1n | -1n): Map<string, string> {
  const [first, second] = [read(left), readOperand(right)];
  const isInteger = (second === 0n || isIntegral(right)) && (first === 0n || isIntegral(left));
  return toQuantity(first + sign * second, isInteger);
}

function isIntegral(value: CelValue): boolean {
  return typeof value === 'bigint' || (isCelMap(value) && value.get(integerField) === 'true');
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

function asInteger(value: CelValue): bigint | undefined {
  const whole = read(value) / nano;
  return isIntegral(value) && BigInt.asIntN(64, whole) === whole ? whole : undefined;
}
