// The entries of `metadata.managedFields`: the fields that a manager owns by one operation, version and subresource.
import { getMap, getString, isObject, type Json, type JsonObject } from '../json.ts';
import { type FieldSet, isEmpty, readFields, writeFields } from './field-set.ts';

/** The identity of an entry. For applies the apiVersion is not part of the identity. */
export interface Writer {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  /** '' for the object itself. */
  readonly subresource: string;
}

/** One entry, with its fields. */
export interface Managed extends Writer {
  readonly time: string;
  readonly fields: FieldSet;
}

/** Parses the entries of an object. */
export function readManaged(entries: readonly Json[]): Managed[] {
  return entries.filter(isObject).map((entry) => ({
    manager: getString(entry, 'manager'),
    operation: getString(entry, 'operation') === 'Apply' ? 'Apply' : 'Update',
    apiVersion: getString(entry, 'apiVersion'),
    subresource: getString(entry, 'subresource'),
    time: getString(entry, 'time'),
    fields: readFields(getMap(entry, 'fieldsV1')),
  }));
}

/** Returns entries in kube-apiserver's order and without empty ones. Returns undefined if none remain. */
export function writeManaged(managed: readonly Managed[]): JsonObject[] | undefined {
  const order = ({ operation, time, manager, apiVersion, subresource }: Managed): string =>
    [operation, time, manager, apiVersion, subresource].join('\0');
  const kept = managed.filter(({ fields }) => !isEmpty(fields));
  if (kept.length === 0) return undefined;
  return kept
    .toSorted((a, b) => (order(a) < order(b) ? -1 : 1))
    .map(({ manager, operation, apiVersion, time, fields, subresource }) => ({
      manager,
      operation,
      apiVersion,
      time,
      fieldsType: 'FieldsV1',
      fieldsV1: writeFields(fields),
      ...(subresource === '' ? {} : { subresource }),
    }));
}

/** Returns whether two writers have the same entry. */
export function isSameWriter(a: Writer, b: Writer): boolean {
  return (
    a.manager === b.manager &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  );
}

/** Returns the name of a manager in kube-apiserver's messages. */
export function managerId({ manager, operation, apiVersion, subresource }: Writer): string {
  const through = subresource === '' ? '' : ` with subresource "${subresource}"`;
  return `"${manager}"${through}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}
