// Who owns which fields of a child, as a copy of metadata.managedFields to edit. Only a forced apply ever changes a
// value of a child. What has to go although others own it, too, is made the controller's own before: then the server's
// own rule removes it ("what the manager owned and no longer applies"), and no other entry keeps it.
//
// Entries of subresources (the status, an autoscaler's scale) and of other API versions are never edited.
import type { KubeObject } from '../client/object.ts';
import {
  claimFields,
  type FieldTree,
  isEmptyTree,
  moveFields,
  pathsBelow,
  stripDropped,
  treeOf,
  unite,
} from './field-tree.ts';
import type { FieldOfManager } from './managed-fields.ts';

export type ManagedFields = NonNullable<KubeObject['metadata']['managedFields']>;

/** One entry, whose fields are copied when they are needed: most times nothing is edited. */
class Entry {
  readonly given: ManagedFields[number];
  #fields: FieldTree | undefined;

  constructor(given: ManagedFields[number]) {
    this.given = given;
  }

  get fields(): FieldTree {
    this.#fields ??= treeOf(this.given.fieldsV1);
    return this.#fields;
  }

  clear(): void {
    this.#fields = {};
  }
}

/** Fields to make the controller's own. */
export type Claim = {
  readonly path: readonly string[];
  /** Also what has no owner: what is live there and not desired. */
  readonly withUnowned: boolean;
};

/** The ownership of one child's fields. */
export class Ownership {
  readonly #live: KubeObject;
  readonly #entries: readonly Entry[];
  readonly #ours: Entry | undefined;
  #isChanged = false;
  readonly #removed: FieldOfManager[] = [];

  /**
   * Reads it of a live object. The `Update` entries of the controller itself, which a merge patch of its manager has
   * left, become a part of its `Apply` entry, as client-go's csaupgrade does.
   */
  constructor(live: KubeObject, manager: string) {
    const entries = (live.metadata.managedFields ?? []).map((given) => new Entry(given));
    const isOwn = ({ given }: Entry) => given.manager === manager && (given.subresource ?? '') === '';
    const applied = entries.find((entry) => isOwn(entry) && entry.given.operation === 'Apply');
    const updated = entries.filter((entry) => isOwn(entry) && entry.given.operation === 'Update');
    const [first] = updated;
    const ours = applied ?? (first === undefined ? undefined : entryOf(manager, first.given.apiVersion));
    this.#live = live;
    this.#ours = ours;
    this.#entries = applied === undefined && ours !== undefined ? [...entries, ours] : entries;
    for (const entry of updated) {
      if (ours === undefined || entry.given.apiVersion !== ours.given.apiVersion) continue;
      unite(ours.fields, entry.fields);
      entry.clear();
      this.#isChanged = true;
    }
  }

  /** Whether the controller has an entry, which can get more fields. */
  get hasOwnEntry(): boolean {
    return this.#ours !== undefined;
  }

  get isChanged(): boolean {
    return this.#isChanged;
  }

  /** What was taken from others to be removed: a field of each. */
  get removed(): readonly FieldOfManager[] {
    return this.#removed;
  }

  /** Returns the entries as they are to be stored. An empty one would be dropped by the server. */
  entries(): ManagedFields {
    const kept = this.#entries.filter(({ fields }) => !isEmptyTree(fields));
    return kept.map(({ given, fields }) => ({ ...given, fieldsV1: fields }));
  }

  /**
   * Makes everything at a path the controller's own, and with `withUnowned` what nobody owns there. Returns whether
   * that changes anything.
   */
  claim({ path, withUnowned }: Claim, desired: unknown): boolean {
    const ours = this.#ours?.fields;
    if (ours === undefined) return false;
    let isClaimed = false;
    for (const { given, fields } of this.#others()) {
      const moved: FieldTree = {};
      if (!moveFields(fields, moved, path)) continue;
      isClaimed = true;
      const known = pathsBelow(ours);
      const field = pathsBelow(moved).find((one) => !known.includes(one) && !one.endsWith('.'));
      if (field !== undefined) this.#removed.push({ fieldManager: given.manager ?? '', field });
      unite(ours, moved);
    }
    if (withUnowned && claimFields(ours, this.#live, desired, path)) isClaimed = true;
    this.#isChanged ||= isClaimed;
    return isClaimed;
  }

  /**
   * Takes what the controller owns and no longer desires from those that have written the same by an update: a backup
   * tool, `kubectl edit`, the server itself for an object without managers. An applier keeps it.
   */
  stripDropped(desired: unknown): void {
    for (const { given, fields } of this.#others())
      if (given.operation === 'Update' && stripDropped(fields, this.#ours?.fields ?? {}, desired))
        this.#isChanged = true;
  }

  #others(): readonly Entry[] {
    const ours = this.#ours;
    if (ours === undefined) return [];
    const isOther = (entry: Entry) => entry !== ours && (entry.given.subresource ?? '') === '';
    return this.#entries.filter((entry) => isOther(entry) && entry.given.apiVersion === ours.given.apiVersion);
  }
}

function entryOf(manager: string, apiVersion: string | undefined): Entry {
  return new Entry({ manager, operation: 'Apply', apiVersion, fieldsType: 'FieldsV1' });
}
