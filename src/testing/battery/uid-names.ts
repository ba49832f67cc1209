// Uids in the state of an outside system, which are others in each run: also as the key of a record, as a name that
// follows from metadata.uid is, or from its first eight digits. The record of an object is found under the object's
// name, also after its deletion.
import type { ApiObject } from '@outrigger/apiserver/object';

/** Makes a function that replaces the uids of objects, of those that it has seen before too, by their kind and name. */
export function createUidNames() {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  return (state: string, collections: Readonly<Record<string, readonly ApiObject[]>>): string => {
    for (const { kind, metadata } of Object.values(collections).flat()) {
      const { uid, name } = metadata;
      const text = `uid of ${kind} ${name}`;
      // The record of a former object of that name must stay another record.
      if (uid === undefined || names.has(uid) || taken.has(text)) continue;
      taken.add(text);
      names.set(uid, text);
    }
    let named = state;
    for (const [uid, name] of names)
      named = named.replaceAll(uid, name).replaceAll(uid.slice(0, 8), `digits of the ${name}`);
    return named;
  };
}
