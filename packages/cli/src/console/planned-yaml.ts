// The YAML of an object with what its next reconcile would write, as the lines of a diff. Pure.

import { writeYaml } from '@outrigger/common/yaml/write';
import { isRecord } from 'outrigger/internal/core/json';
import type { KubeObject } from 'outrigger/internal/kube/client/object';
import type { ChangedField } from 'outrigger/internal/kube/dry-run/changed-fields';
import type { YamlLine } from './wire.ts';

/** Lines between two changes that are compared one by one; more are shown as removed and added. */
const maxCompared = 2_000;
/** Below these a key may have dots, and has no fields below it. */
const flatMaps: readonly string[] = ['labels', 'annotations', 'matchLabels', 'data'];

/** Writes an object as YAML, without the managed fields. */
export function objectYaml(object: KubeObject): string {
  const { managedFields: _, ...metadata } = object.metadata;
  return writeYaml([{ ...object, metadata }]);
}

/** Compares an object as it is with what these changed fields make of it. */
export function plannedYaml(object: KubeObject, fields: readonly ChangedField[]): readonly YamlLine[] {
  const next = structuredClone(object);
  for (const field of fields) setField(next, field.path, field.after);
  return diffLines(objectYaml(object).trimEnd().split('\n'), objectYaml(next).trimEnd().split('\n'));
}

/** Sets a field by its path, as a dry run names it: `status.conditions[Ready].reason`. Undefined removes it. */
function setField(holder: unknown, path: string, value: unknown, parent = ''): void {
  const [, item, afterItem = ''] = /^\[([^\]]*)\]\.?(.*)$/s.exec(path) ?? [];
  if (Array.isArray(holder) && item !== undefined) {
    const index = holder.findIndex((one) => isRecord(one) && (one.type === item || one.name === item));
    if (afterItem !== '') {
      if (index === -1) holder.push({ [parent === 'conditions' ? 'type' : 'name']: item });
      setField(holder.at(index), afterItem, value);
    } else if (value === undefined) {
      if (index !== -1) holder.splice(index, 1);
    } else if (index === -1) holder.push(value);
    else holder[index] = value;
    return;
  }
  if (!isRecord(holder)) return;
  const record: Record<string, unknown> = holder;
  const [, first = path, dot = '', rest = ''] = flatMaps.includes(parent)
    ? []
    : (/^([^.[]+)(\.|(?=\[))(.+)$/s.exec(path) ?? []);
  if (rest !== '') {
    record[first] ??= dot === '' ? [] : {};
    setField(record[first], rest, value, first);
  } else if (value === undefined) delete record[first];
  else record[first] = value;
}

/** The lines of both texts, in order: the longest common subsequence stays. */
export function diffLines(before: readonly string[], after: readonly string[]): readonly YamlLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const line = (mark: YamlLine['mark']) => (text: string) => ({ mark, text });
  return [
    ...before.slice(0, start).map(line(' ')),
    ...diffMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(line(' ')),
  ];
}

function diffMiddle(before: readonly string[], after: readonly string[]): readonly YamlLine[] {
  const lines: YamlLine[] = [];
  const [rows, columns] = [before.length, after.length];
  if (rows * columns > maxCompared ** 2) {
    for (const text of before) lines.push({ mark: '-', text });
    for (const text of after) lines.push({ mark: '+', text });
    return lines;
  }
  // The length of the longest common subsequence of what begins at each pair of lines.
  const lengths = Array.from({ length: rows + 1 }, () => new Uint16Array(columns + 1));
  const lengthAt = (row: number, column: number) => lengths[row]?.[column] ?? 0;
  for (let row = rows - 1; row >= 0; row -= 1)
    for (let column = columns - 1; column >= 0; column -= 1) {
      const length =
        before[row] === after[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
      lengths[row]?.fill(length, column, column + 1);
    }
  let [row, column] = [0, 0];
  while (row < rows || column < columns) {
    const [old = '', now = ''] = [before[row], after[column]];
    if (row < rows && column < columns && old === now) {
      lines.push({ mark: ' ', text: old });
      row += 1;
      column += 1;
    } else if (row < rows && (column === columns || lengthAt(row + 1, column) >= lengthAt(row, column + 1))) {
      lines.push({ mark: '-', text: old });
      row += 1;
    } else {
      lines.push({ mark: '+', text: now });
      column += 1;
    }
  }
  return lines;
}
