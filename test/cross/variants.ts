// Variants of a value with one change: an edit of a spec, or drift of a child.
import { isRecord } from '../../src/core/json.ts';

/** Every value that differs in one number by one. */
export function variantsOf(value: unknown): readonly unknown[] {
  return inEveryLeaf(value, (leaf) => (typeof leaf === 'number' ? [leaf + 1, leaf - 1] : []));
}

/** Every value that differs in one leaf, of whatever type. */
export function edgesOf(value: unknown): readonly unknown[] {
  return inEveryLeaf(value, (leaf) => {
    if (typeof leaf === 'number') return [leaf + 1];
    if (typeof leaf === 'string') return [`${leaf}x`];
    return typeof leaf === 'boolean' ? [!leaf] : [];
  });
}

function inEveryLeaf(value: unknown, others: (leaf: unknown) => readonly unknown[]): readonly unknown[] {
  if (Array.isArray(value)) {
    return value.flatMap((one, index) => inEveryLeaf(one, others).map((other) => value.with(index, other)));
  }
  if (!isRecord(value)) return others(value);
  return Object.entries(value).flatMap(([field, one]) =>
    inEveryLeaf(one, others).map((other) => ({ ...value, [field]: other })),
  );
}
