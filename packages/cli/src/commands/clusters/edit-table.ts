// Changes of the clusters table, as the commands write it: always the whole table, after every changed entry was
// validated. An entry that was edited by hand and is wrong is left as it is: readers ignore that cluster alone, and it
// must not prevent the pause of another one.
import {
  type ClusterEntry,
  type EntryWatcher,
  isOperatedValue,
  operatedFields,
  parseEntry,
} from 'outrigger/internal/clusters/registry/entry';
import { isClusterName, nameRule } from 'outrigger/internal/core/cluster-name';
import { UserError } from 'outrigger/internal/core/errors';
import { type Place, placeOptions } from '../place.ts';

/** The entries of a table by name. They are not validated. */
export type TableEntries = ReadonlyMap<string, unknown>;

/** Functions read the table whole, so its size is a part of every cold start. */
export const maxTableBytes = 1_000_000;

/**
 * Adds an entry. One that it replaces keeps how its cluster is operated, unless the new one says it: who may send its
 * keys, and whether it is paused, decommissioned or moved. Throws a UserError if the name is taken, unless the entry is
 * to be replaced, or if a field that would stay is wrong.
 */
export function withEntry(
  entries: TableEntries,
  { name, value, replace }: { readonly name: string; readonly value: unknown; readonly replace: boolean },
): TableEntries {
  if (!isClusterName(name))
    throw new UserError(`cluster ${JSON.stringify(name)}: give a name of letters, digits, - _ and . (at most 100)`);
  if (entries.has(name) && !replace)
    throw new UserError(`cluster "${name}": is in the table already; give --replace to replace its entry`);
  const entry = entries.has(name) ? { ...Object(value), ...keptFields(entries, name, value) } : value;
  return new Map([...entries, [name, entry]]);
}

/** Returns what stays of an entry when a value replaces it. Throws a UserError if that is wrong. */
export function keptFields(entries: TableEntries, name: string, value: unknown): Readonly<Record<string, unknown>> {
  const before = Object(entries.get(name));
  const fields = operatedFields.filter((field) => field in before && !(field in Object(value)));
  const wrong = fields.filter((field) => !isOperatedValue(field, before[field]));
  // To drop them would let others send its keys, or end a pause.
  if (wrong.length > 0)
    throw new UserError(`cluster "${name}": of its entry these are wrong: ${wrong.join(', ')}; give them in the file`);
  return Object.fromEntries(fields.map((field) => [field, before[field]]));
}

/**
 * Names a watcher in an entry. A watcher of this ARN that the entry names already gets the new id: its role was made
 * again. Throws a UserError if there is no such entry.
 */
export function withWatcher(entries: TableEntries, name: string, watcher: EntryWatcher): TableEntries {
  if (!entries.has(name)) throw new UserError(`cluster "${name}": is not in the table; it has ${namesOf(entries)}`);
  const entry = parseEntry(name, entries.get(name));
  const others = (entry.watchers ?? []).filter(({ arn }) => arn !== watcher.arn);
  return new Map([...entries, [name, { ...entry, watchers: [...others, watcher] }]]);
}

/**
 * Pauses or resumes a cluster. Throws a UserError if there is no such entry. Here and below, printed commands name the
 * place.
 */
export function withPaused(
  entries: TableEntries,
  name: string,
  { paused, place }: { readonly paused: boolean; readonly place: Place },
): TableEntries {
  if (!entries.has(name)) throw new UserError(`cluster "${name}": is not in the table; it has ${namesOf(entries)}`);
  const { paused: _, ...entry } = parseEntry(name, entries.get(name));
  requireNoMove(name, entry, place);
  if (paused && entry.decommissioning === true)
    throw new UserError(`cluster "${name}": is being decommissioned, so its messages are deleted; it cannot be paused`);
  return new Map([...entries, [name, paused ? { ...entry, paused } : entry]]);
}

/**
 * Marks an entry as decommissioned: the functions delete its messages. Throws a UserError if there is no such entry, or
 * if it is on its way to another stage.
 */
export function withDecommissioning(entries: TableEntries, name: string, place: Place): TableEntries {
  if (!entries.has(name)) throw new UserError(`cluster "${name}": is not in the table; it has ${namesOf(entries)}`);
  const { paused: _, ...entry } = parseEntry(name, entries.get(name));
  requireNoMove(name, entry, place);
  return new Map([...entries, [name, { ...entry, decommissioning: true }]]);
}

/**
 * Removes an entry. Throws a UserError if there is none, and for one that the functions use: each of its messages would
 * become a dead letter.
 */
export function withoutEntry(entries: TableEntries, name: string, place: Place): TableEntries {
  if (!entries.has(name)) throw new UserError(`cluster "${name}": is not in the table; it has ${namesOf(entries)}`);
  if (isUsed(name, entries.get(name)))
    throw new UserError(
      `cluster "${name}": is not decommissioned, so its messages would become dead letters; ` +
        `run outrigger clusters decommission ${name}${placeOptions(place)} first ` +
        '(its --help says what to give for one that is gone)',
    );
  return new Map([...entries].filter(([one]) => one !== name));
}

function requireNoMove(name: string, { movingTo, movingFrom }: ClusterEntry, { stage, region }: Place): void {
  if (movingTo === undefined && movingFrom === undefined) return;
  const at = placeOptions({ stage: movingFrom?.stage ?? stage, region });
  const command = `outrigger clusters move ${name}${at} --to ${movingTo?.stage ?? stage ?? 'STAGE'}`;
  throw new UserError(`cluster "${name}": is on its way to another stage; finish that first: ${command}`);
}

/** Whether the functions use an entry. They use no invalid one, and none of a move that has not reached this stage. */
function isUsed(name: string, value: unknown): boolean {
  try {
    const { decommissioning, movingFrom } = parseEntry(name, value);
    const isAwaited = movingFrom !== undefined && movingFrom.startedAt === undefined;
    return isClusterName(name) && decommissioning !== true && !isAwaited;
  } catch {
    return false;
  }
}

/**
 * Makes the text of a table. Throws a UserError for an invalid entry that is not in `before`, for credentials in one
 * that several clusters share, and for a table that is too large.
 */
export function formatTable(entries: TableEntries, before: TableEntries = new Map()): string {
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  const isUnchanged = (name: string, value: unknown) => before.has(name) && before.get(name) === value;
  const invalid = sorted.find(([name, value]) => !isClusterName(name) && !isUnchanged(name, value));
  if (invalid !== undefined) throw new UserError(`cluster ${JSON.stringify(invalid[0])}: ${nameRule}`);
  const parsed = sorted.flatMap(([name, value]) => {
    try {
      return [[name, parseEntry(name, value)] as const];
    } catch (error) {
      if (isUnchanged(name, value)) return [];
      throw error;
    }
  });
  const plain = parsed.filter(([, entry]) => hasCredentials(entry)).map(([name]) => `"${name}"`);
  if (sorted.length > 1 && plain.length > 0)
    throw new UserError(
      `cluster ${plain.join(', cluster ')}: has credentials in plain text, in a table of ${sorted.length} clusters; ` +
        'store them in Secrets Manager and use access {"type": "secret", ...}',
    );
  const lines = sorted.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  const text = lines.length === 0 ? '{}\n' : `{\n${lines.join(',\n')}\n}\n`;
  const bytes = Buffer.byteLength(text);
  if (bytes > maxTableBytes)
    throw new UserError(
      `the table would have ${bytes} bytes, more than ${maxTableBytes}; deploy a second project for the other clusters`,
    );
  return text;
}

/** Joins the names of a table for a message. */
export function namesOf(entries: TableEntries): string {
  return entries.size === 0 ? 'no clusters' : [...entries.keys()].sort().join(', ');
}

function hasCredentials({ access }: ClusterEntry): boolean {
  return access.type === 'token' || access.type === 'kubeconfig' || access.type === 'certificate';
}
