// The fields that an apply would change, for the output of a dry run. Like the API server, it compares two groups:
// applied fields that differ, and fields that the manager applied before and no longer applies. It is pure.
//
// Caveat: only the schema defines which lists are merged by key. Here a list is merged by key if all its items have a
// `type` or a `name`.
import { isRecord } from '../../core/json.ts';
import { type FieldTypes, typesAt } from '../apply/field-types.ts';
import { differenceOf } from '../apply/owned-equal.ts';

/** A changed field. Without `before` it is added, without `after` it is removed. */
export type ChangedField = { readonly path: string; readonly before?: unknown; readonly after?: unknown };

/** An object, or a part of one: as it is in the cluster, as it is applied, and the part that the manager owns. */
export type AppliedFields = { readonly live: unknown; readonly applied: unknown; readonly owned: unknown };

/** Where the fields are: in a built-in kind or not, the types below, and the path. */
type Place = {
  readonly isBuiltIn?: boolean;
  readonly types?: FieldTypes | undefined;
  readonly path?: readonly string[];
};

/** Lists the fields that an apply changes, in the order of the applied fields. */
export function changedFields(
  { live, applied, owned }: AppliedFields,
  { isBuiltIn = true, types, path = [] }: Place = {},
): readonly ChangedField[] {
  if (isRecord(applied)) {
    const names = Object.keys(applied).filter((name) => applied[name] !== undefined && applied[name] !== null);
    const removed = Object.keys(isRecord(owned) ? owned : {}).filter((name) => !names.includes(name));
    return [
      ...names.flatMap((name) =>
        changedFields(fieldIn({ live, applied, owned }, name), {
          isBuiltIn,
          types: typesAt(types, name),
          path: [...path, name],
        }),
      ),
      ...removed.flatMap((name) => removedField(fieldOf(live, name), [...path, name])),
    ];
  }
  const key = Array.isArray(applied) ? keyOfItems(applied, live) : undefined;
  if (key !== undefined) {
    const names = keysIn(applied, key);
    const removed = keysIn(owned, key).filter((one) => !names.includes(one));
    const at = (one: string) => [...path, `[${one}]`];
    return [
      ...names.flatMap((one) =>
        changedFields(itemIn({ live, applied, owned }, key, one), { isBuiltIn, types, path: at(one) }),
      ),
      ...removed.flatMap((one) => removedField(findItem(live, key, one), at(one))),
    ];
  }
  // A list without keys is compared with the owned items only. A field that is owned but absent has the zero value.
  const before = owned === null || (Array.isArray(applied) && Array.isArray(owned)) ? owned : live;
  if (differenceOf(applied, before, { isBuiltIn, types }) === undefined) return [];
  return [{ path: formatPath(path), before, after: applied }];
}

/** Returns the object after the apply, without the server's part: defaults and resourceVersions. */
export function objectAfterApply({ live, applied, owned }: AppliedFields): unknown {
  if (isRecord(applied)) {
    const removed = Object.keys(isRecord(owned) ? owned : {}).filter((name) => !(name in applied));
    const kept = Object.entries(isRecord(live) ? live : {}).filter(([name]) => !removed.includes(name));
    const set = Object.keys(applied).map(
      (name) => [name, objectAfterApply(fieldIn({ live, applied, owned }, name))] as const,
    );
    return { ...Object.fromEntries(kept), ...Object.fromEntries(set) };
  }
  const key = Array.isArray(applied) ? keyOfItems(applied, live) : undefined;
  if (key === undefined || !Array.isArray(live)) return applied;
  const names = keysIn(applied, key);
  const removed = keysIn(owned, key).filter((one) => !names.includes(one));
  const others = live.filter((item) => ![...names, ...removed].includes(String(fieldOf(item, key))));
  return [...others, ...names.map((one) => objectAfterApply(itemIn({ live, applied, owned }, key, one)))];
}

/** Returns a value without the parts at these JSON pointers, and the fields that this removes. */
export function withoutParts(
  live: unknown,
  pointers: readonly string[],
): { readonly after: unknown; readonly fields: readonly ChangedField[] } {
  const removed = pointers.map((pointer) => {
    const names = pointer.split('/').slice(1);
    return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  });
  const fields = removed.flatMap((names) => {
    let before = live;
    const path = names.map((name) => {
      const isItem = Array.isArray(before);
      before = Array.isArray(before) ? before[Number(name)] : fieldOf(before, name);
      return isItem ? `[${String(fieldOf(before, 'type') ?? fieldOf(before, 'name') ?? name)}]` : name;
    });
    return removedField(before, path);
  });
  return { after: withoutEach(live, removed), fields };
}

function withoutEach(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (paths.length === 0) return value;
  const part = (name: string, inner: unknown): readonly unknown[] => {
    const rests = paths.filter(([first]) => first === name).map(([, ...rest]) => rest);
    return rests.some((rest) => rest.length === 0) ? [] : [withoutEach(inner, rests)];
  };
  if (Array.isArray(value)) return value.flatMap((inner, index) => part(String(index), inner));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => part(name, inner).map((kept) => [name, kept] as const)),
  );
}

function fieldIn({ live, applied, owned }: AppliedFields, name: string): AppliedFields {
  return { live: fieldOf(live, name), applied: fieldOf(applied, name), owned: fieldOf(owned, name) };
}

function itemIn({ live, applied, owned }: AppliedFields, key: string, value: string): AppliedFields {
  return {
    live: findItem(live, key, value),
    applied: findItem(applied, key, value),
    owned: findItem(owned, key, value),
  };
}

function keyOfItems(applied: readonly unknown[], live: unknown): 'type' | 'name' | undefined {
  const items = [...applied, ...(Array.isArray(live) ? live : [])];
  if (items.length === 0) return undefined;
  return (['type', 'name'] as const).find((key) => items.every((item) => typeof fieldOf(item, key) === 'string'));
}

function keysIn(list: unknown, key: string): readonly string[] {
  return Array.isArray(list) ? list.map((item) => String(fieldOf(item, key))) : [];
}

function findItem(list: unknown, key: string, value: string): unknown {
  return Array.isArray(list) ? list.find((item) => fieldOf(item, key) === value) : undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function removedField(before: unknown, path: readonly string[]): readonly ChangedField[] {
  return before === undefined ? [] : [{ path: formatPath(path), before }];
}

function formatPath(path: readonly string[]): string {
  return path.map((name, index) => (index === 0 || name.startsWith('[') ? name : `.${name}`)).join('');
}
