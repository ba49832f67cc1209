// Three libraries of Kubernetes' CEL (k8s.io/apiserver/pkg/cel/library, lists.go and regex.go; cel-go/ext, sets.go).
// Patterns are those of JavaScript. Values are compared and added as CEL does.
import {
  type CelFunc,
  type CelList,
  CelScalar,
  type CelValue,
  celEnv,
  celFunc,
  celList,
  celListConcat,
  isCelError,
  isCelList,
  isCelMap,
  listType,
  parse,
  plan,
} from '@bufbuild/cel';
import { methodOf } from './cel-method.ts';
import { unordered } from './cel-values.ts';

const { DYN, BOOL, STRING, INT } = CelScalar;
const list = listType(DYN);

const isNativelyEqual = asOperator('left == right');
const isGreater = asOperator('left > right');
const add = asOperator('left + right');

/** The functions of lists, sets and patterns, and the operators for which the type of a list counts. */
export const listFunctions: readonly CelFunc[] = [
  celFunc('_==_', [DYN, DYN], BOOL, isEqual),
  celFunc('_!=_', [DYN, DYN], BOOL, (left, right) => !isEqual(left, right)),
  celFunc('_+_', [list, list], list, joined),
  methodOf(list, 'isSorted', [], BOOL, (self) => {
    const items = [...self];
    return items.every((item, index) => index === 0 || isGreater(items[index - 1], item) === false);
  }),
  methodOf(list, 'sum', [], DYN, (self) => {
    const [first, ...others] = [...self];
    return first === undefined ? 0n : others.reduce((total, item) => add(total, item), first);
  }),
  methodOf(list, 'min', [], DYN, (self) => extreme('min', self, (item, least) => isGreater(least, item))),
  methodOf(list, 'max', [], DYN, (self) => extreme('max', self, (item, most) => isGreater(item, most))),
  methodOf(list, 'indexOf', [DYN], INT, (self, item) => BigInt([...self].findIndex((one) => isEqual(one, item)))),
  methodOf(list, 'lastIndexOf', [DYN], INT, (self, item) =>
    BigInt([...self].findLastIndex((one) => isEqual(one, item))),
  ),
  celFunc('sets.contains', [list, list], BOOL, contains),
  celFunc('sets.equivalent', [list, list], BOOL, (left, right) => contains(left, right) && contains(right, left)),
  celFunc('sets.intersects', [list, list], BOOL, (left, right) => [...right].some((item) => has(left, item))),
  methodOf(STRING, 'find', [STRING], STRING, (self, pattern) => new RegExp(pattern, 'u').exec(self)?.[0] ?? ''),
  methodOf(STRING, 'findAll', [STRING], list, (self, pattern) => celList(matches(self, pattern))),
  methodOf(STRING, 'findAll', [STRING, INT], list, (self, pattern, limit) =>
    celList(limit < 0n ? matches(self, pattern) : matches(self, pattern).slice(0, Number(limit))),
  ),
];

/** Compares values. A list of type set or map is equal to one with the same items (valuesunstructured.go). */
function isEqual(left: CelValue, right: CelValue): boolean {
  if (isCelList(left) && isCelList(right)) {
    const others = [...right];
    const isSame = unordered.has(left)
      ? (item: CelValue) => others.some((other) => isEqual(item, other))
      : (item: CelValue, index: number) => isEqual(item, others[index] ?? null);
    return left.size === right.size && [...left].every(isSame);
  }
  if (!isCelMap(left) || !isCelMap(right)) return isNativelyEqual(left, right) === true;
  return (
    left.size === right.size &&
    [...left].every(([key, value]) => right.has(key) && isEqual(value, right.get(key) ?? null))
  );
}

/** Adds lists. Of a set or map, items replace those with the same key. */
function joined(left: CelList, right: CelList): CelList {
  const keys = unordered.get(left);
  if (keys === undefined) return celListConcat(left, right);
  const keyOf = (item: CelValue): CelValue =>
    isCelMap(item) ? celList(keys.map((key) => item.get(key) ?? null)) : item;
  const items = [...left];
  for (const item of right) {
    const index = items.findIndex((one) => isEqual(keyOf(one), keyOf(item)));
    items.splice(index < 0 ? items.length : index, index < 0 ? 0 : 1, item);
  }
  const sum = celList(items);
  unordered.set(sum, keys);
  return sum;
}

function matches(text: string, pattern: string): readonly string[] {
  return [...text.matchAll(new RegExp(pattern, 'gu'))].map(([match]) => match);
}

function contains(all: CelList, some: CelList): boolean {
  return [...some].every((item) => has(all, item));
}

function has(all: CelList, item: CelValue): boolean {
  return [...all].some((one) => isEqual(one, item));
}

/** The item that is `better` than each of the others. */
function extreme(name: string, items: CelList, better: (item: CelValue, best: CelValue) => CelValue): CelValue {
  const [first, ...others] = [...items];
  if (first === undefined) throw new Error(`${name} called on empty list`);
  return others.reduce((best, item) => (better(item, best) === true ? item : best), first);
}

/** Returns an operator of CEL. Throws CEL's error, for types that it is not for. */
function asOperator(expression: string): (left: CelValue | undefined, right: CelValue) => CelValue {
  const program = plan(celEnv(), parse(expression));
  return (left = null, right) => {
    const result = program({ left, right });
    if (isCelError(result)) throw result;
    return result;
  };
}
