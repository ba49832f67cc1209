// The entries of `metadata.managedFields`: who owns which fields, through which operation, version and subresource.
import { isObject, type Json, type JsonObject, objectAt, textAt } from '../json.ts';
import { type FieldSet, isEmpty, readFields, writeFields } from './field-set.ts';

/** Who writes: the identity of an entry. An applier is the same one in every version. */
export interface Writer {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  /** '' on the object itself. */
  readonly subresource: string;
}

/** One entry. */
export interface Managed extends Writer {
  readonly time: string;
  readonly fields: FieldSet;
}

/** Reads the entries of an object. */
export function readManaged(entries: readonly Json[]): Managed[] {
  return entries.filter(isObject).map((entry) => ({
    manager: textAt(entry, 'manager'),
    operation: textAt(entry, 'operation') === 'Apply' ? 'Apply' : 'Update',
    apiVersion: textAt(entry, 'apiVersion'),
    subresource: textAt(entry, 'subresource'),
    time: textAt(entry, 'time'),
    fields: readFields(objectAt(entry, 'fieldsV1')),
  }));
}

/** Writes entries in kube-apiserver's order; those without fields are left out. Undefined: there is none. */
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

/** Tells whether an entry is a writer's own. */
export function isSameWriter(a: Writer, b: Writer): boolean {
  return (
    a.manager === b.manager &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  );
}

/** Names a manager in messages, as kube-apiserver does. */
export function named({ manager, operation, apiVersion, subresource }: Writer): string {
  const through = subresource === '' ? '' : ` with subresource "${subresource}"`;
  return `"${manager}"${through}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}
