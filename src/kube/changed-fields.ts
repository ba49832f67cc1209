// What an apply would change, field by field, for a person to read. It sees what the API server would: fields that are said and
// differ, and fields that the same manager once said and no longer does. Pure.
//
// Caveat: which lists are merged by key only the schema knows. Here a list is one whose items all have a `type` or a `name`.
import { isRecord } from './record.ts';
import { sameOwned } from './same-owned.ts';

/** One field. Without `before` it is new, without `after` it goes. */
export type ChangedField = { readonly path: string; readonly before?: unknown; readonly after?: unknown };

/** An object, or a part of one, as it is, as it is applied, and what of it the manager owns (see ownedBy). */
export type Applied = { readonly live: unknown; readonly wanted: unknown; readonly owned: unknown };

/** Lists the fields that an apply changes, in the order in which they are said. */
export function changedFields({ live, wanted, owned }: Applied, path: readonly string[] = []): readonly ChangedField[] {
  if (isRecord(wanted)) {
    const said = Object.keys(wanted).filter((name) => wanted[name] !== undefined && wanted[name] !== null);
    const dropped = Object.keys(isRecord(owned) ? owned : {}).filter((name) => !said.includes(name));
    return [
      ...said.flatMap((name) => changedFields(below({ live, wanted, owned }, name), [...path, name])),
      ...dropped.flatMap((name) => gone(fieldOf(live, name), [...path, name])),
    ];
  }
  const key = Array.isArray(wanted) ? keyOfItems(wanted, live) : undefined;
  if (key !== undefined) {
    const said = keysIn(wanted, key);
    const dropped = keysIn(owned, key).filter((one) => !said.includes(one));
    const at = (one: string) => [...path, `[${one}]`];
    return [
      ...said.flatMap((one) => changedFields(itemOf({ live, wanted, owned }, key, one), at(one))),
      ...dropped.flatMap((one) => gone(find(live, key, one), at(one))),
    ];
  }
  // Of a list without keys only our own items count; of what is owned and not shown, that it is zero.
  const before = owned === null || (Array.isArray(wanted) && Array.isArray(owned)) ? owned : live;
  if (wanted === before || sameOwned(nest(path, wanted), nest(path, before))) return [];
  return [{ path: write(path), ...(before === undefined ? {} : { before }), after: wanted }];
}

/** Makes the object as it would be after the apply, as far as that can be known without the server: no defaults, no versions. */
export function merged({ live, wanted, owned }: Applied): unknown {
  if (isRecord(wanted)) {
    const dropped = Object.keys(isRecord(owned) ? owned : {}).filter((name) => !(name in wanted));
    const kept = Object.entries(isRecord(live) ? live : {}).filter(([name]) => !dropped.includes(name));
    const said = Object.keys(wanted).map((name) => [name, merged(below({ live, wanted, owned }, name))] as const);
    return { ...Object.fromEntries(kept), ...Object.fromEntries(said) };
  }
  const key = Array.isArray(wanted) ? keyOfItems(wanted, live) : undefined;
  if (key === undefined || !Array.isArray(live)) return wanted;
  const said = keysIn(wanted, key);
  const dropped = keysIn(owned, key).filter((one) => !said.includes(one));
  const others = live.filter((item) => ![...said, ...dropped].includes(String(fieldOf(item, key))));
  return [...others, ...said.map((one) => merged(itemOf({ live, wanted, owned }, key, one)))];
}

function below({ live, wanted, owned }: Applied, name: string): Applied {
  return { live: fieldOf(live, name), wanted: fieldOf(wanted, name), owned: fieldOf(owned, name) };
}

function itemOf({ live, wanted, owned }: Applied, key: string, value: string): Applied {
  return { live: find(live, key, value), wanted: find(wanted, key, value), owned: find(owned, key, value) };
}

function keyOfItems(wanted: readonly unknown[], live: unknown): 'type' | 'name' | undefined {
  const items = [...wanted, ...(Array.isArray(live) ? live : [])];
  if (items.length === 0) return undefined;
  return (['type', 'name'] as const).find((key) => items.every((item) => typeof fieldOf(item, key) === 'string'));
}

function keysIn(list: unknown, key: string): readonly string[] {
  return Array.isArray(list) ? list.map((item) => String(fieldOf(item, key))) : [];
}

function find(list: unknown, key: string, value: string): unknown {
  return Array.isArray(list) ? list.find((item) => fieldOf(item, key) === value) : undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function gone(before: unknown, path: readonly string[]): readonly ChangedField[] {
  return before === undefined ? [] : [{ path: write(path), before }];
}

/** With the names around it, because below some of them texts are quantities. */
function nest(path: readonly string[], value: unknown): Readonly<Record<string, unknown>> {
  return path.reduceRight<Readonly<Record<string, unknown>>>((inner, name, index) => {
    return { [name]: index === path.length - 1 ? value : inner };
  }, {});
}

function write(path: readonly string[]): string {
  return path.map((name, index) => (index === 0 || name.startsWith('[') ? name : `.${name}`)).join('');
}
