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
  isCelError,
  listType,
  parse,
  plan,
} from '@bufbuild/cel';
import { methodOf } from './cel-method.ts';

const { DYN, BOOL, STRING, INT } = CelScalar;
const list = listType(DYN);

const isEqual = asOperator('left == right');
const isGreater = asOperator('left > right');
const add = asOperator('left + right');

/** The functions of lists, sets and patterns. */
export const listFunctions: readonly CelFunc[] = [
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
  methodOf(list, 'indexOf', [DYN], INT, (self, item) =>
    BigInt([...self].findIndex((one) => isEqual(one, item) === true)),
  ),
  methodOf(list, 'lastIndexOf', [DYN], INT, (self, item) =>
    BigInt([...self].findLastIndex((one) => isEqual(one, item) === true)),
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

function matches(text: string, pattern: string): readonly string[] {
  return [...text.matchAll(new RegExp(pattern, 'gu'))].map(([match]) => match);
}

function contains(all: CelList, some: CelList): boolean {
  return [...some].every((item) => has(all, item));
}

function has(all: CelList, item: CelValue): boolean {
  return [...all].some((one) => isEqual(one, item) === true);
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
