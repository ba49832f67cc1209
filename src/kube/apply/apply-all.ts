// Applies the children of one owner and kind as a set: missing ones are created, different ones are applied, others are
// deleted. An object that is no child of the owner (owned-children.ts) is never written.
//
// Guarantees: a converged set costs one list and no write (with `isThorough` two more, of metadata). Running
// twice, or dying half-way and running again, ends in the same place. Assumptions: children live in the owner's
// namespace, or the owner is cluster-scoped, or the request says that they may be anywhere.

import type { ChildChange } from '../../api/apply.ts';
import { ChildrenRefusedError, NotOwnedError } from '../../core/errors.ts';
import { formatKey } from '../../core/key.ts';
import { controllerLabel, fieldManagerOf } from '../../core/names.ts';
import type { KubeClient } from '../client/client.ts';
import type { KubeObject, ObjectKey } from '../client/object.ts';
import { applyChild, type ChildOptions, type ChildOutcome } from './apply-child.ts';
import { type ChildKind, childObject, type DesiredChild } from './child-object.ts';
import { deleteChild } from './delete-child.ts';
import { checkExactPaths } from './exact-paths.ts';
import { type FieldOfManager, keptFields, takenFields } from './managed-fields.ts';
import { isChild, isIntact, listOwned, withOwnFields } from './owned-children.ts';
import { asRefusal, ChildDeletedError, maxWebhookFailures, maxWebhookSeconds, mayBeOfWebhook } from './refusal.ts';

/** The owner, the kind of the children, and the desired children. */
export interface ApplyAllRequest extends ChildKind, ChildOptions {
  /** The desired children, or a function that returns them for the existing ones: an existing one itself is kept. */
  readonly desired: readonly DesiredChild[] | ((existing: readonly KubeObject[]) => readonly DesiredChild[]);
  /** Deletes children that are not desired. */
  readonly prune: boolean;
  /**
   * Also sends applies that changed nothing before: a webhook or a newer API server may do more with them. It also
   * finds the children that have lost the labels of Outrigger, by their controller reference and field manager: it
   * lists the metadata of the objects of the kind that do not have them.
   */
  readonly isThorough?: boolean;
  /** Objects of the kind that may be children without their labels. Those that the labels do not find are read. */
  readonly strays?: readonly ObjectKey[];
  /** Called after every write that changed something. */
  readonly onChange?: ((change: ChildChange<KubeObject>) => void) | undefined;
  /** Called once with what was written, also before applyAll throws. */
  readonly onEnd?: (counts: WriteCounts) => void;
}

/** The result of applyAll. */
export type ApplyAllResult = WriteCounts & {
  /** The children as the API server returned them, in the order of `desired`. */
  readonly objects: readonly KubeObject[];
};

/** The writes of a set of children. */
export type WriteCounts = {
  /** Number of creations, updates and deletions. */
  readonly writes: number;
  /** Number of applies that changed nothing, because the comparison reported a difference where there was none. */
  readonly noops: number;
  /** The controllers of the owner, by their label, whose children were changed: two with one name, or a former name. */
  readonly replaced: readonly string[];
  /** What is worth knowing of single fields of the children. */
  readonly notes: readonly FieldNote[];
};

/** What became of a field of a child. */
export type FieldNote = {
  /**
   * `overwritten`: it was taken from another manager; two that set one field overwrite it without end. `removed`:
   * another manager had it at an exact path, or contradicted the controller with it. `kept`: the controller has dropped
   * it, and another manager keeps it. `unchanged`: it looked different, and the apply changed nothing.
   */
  readonly type: 'overwritten' | 'removed' | 'kept' | 'unchanged';
  /** The child's `namespace/name`. */
  readonly child: string;
  readonly field: string;
  readonly fieldManager?: string;
};

/**
 * Applies the desired children of an owner and a kind, and prunes the others. A child that the server refuses does not
 * hold up the others: the error is thrown after they are applied, and nothing is deleted. It is that of the server, or
 * for several children a ChildrenRefusedError. Throws a NotOwnedError for names of existing objects that the owner does
 * not control, including orphans, and a TypeError for an invalid set.
 */
export async function applyAll(client: KubeClient, request: ApplyAllRequest): Promise<ApplyAllResult> {
  const counts: MutableCounts = { writes: 0, noops: 0, replaced: [], notes: [] };
  try {
    return { objects: await applySet(client, request, counts), ...counts };
  } finally {
    request.onEnd?.(counts);
  }
}

type MutableCounts = { writes: number; noops: number; replaced: string[]; notes: FieldNote[] };

async function applySet(
  client: KubeClient,
  request: ApplyAllRequest,
  counts: MutableCounts,
): Promise<readonly KubeObject[]> {
  const { desired, onChange } = request;
  checkExactPaths(request.exact ?? []);
  const existing = await listOwned(client, request);
  // The labels can be copied to other objects, so the controller reference is checked too.
  const owned: KubeObject[] = [];
  for (const object of existing.values()) if (await isChild(request, object)) owned.push(object);
  const given = typeof desired === 'function' ? desired(owned) : desired;
  const found = new Map<object, KubeObject>(owned.map((one) => [one, one]));
  const children = given.map((child) => {
    const live = found.get(child);
    return childObject(request, (live && withOwnFields(request, live)) ?? child);
  });
  const returned = new Set<object>(given);
  /**
   * Existing children that the function returned: an apply would take all of their fields. One that has lost its labels
   * or its reference is applied, because other reconciles do not find it, with the fields that the controller owns.
   */
  const kept = new Set(
    owned.filter((one) => returned.has(one) && isIntact(request, one)).map(({ metadata }) => formatKey(metadata)),
  );
  const names = new Set(children.map(({ metadata }) => formatKey(metadata)));
  if (names.size < children.length) {
    const keys = children.map(({ metadata }) => formatKey(metadata));
    const twice = keys.find((key, index) => keys.indexOf(key) !== index);
    throw new TypeError(`two desired children of kind ${request.kind} have the name ${twice}; give each its own`);
  }
  const objects: KubeObject[] = [];
  const notOwned: string[] = [];
  const refused: Error[] = [];
  let webhookFailures = 0;
  let webhookMs = 0;
  for (const child of children) {
    const live = existing.get(formatKey(child.metadata));
    if (live !== undefined && kept.has(formatKey(child.metadata))) {
      objects.push(live);
      continue;
    }
    const startedAt = performance.now();
    const outcome = await applyChild(client, request, child, live).catch((error: unknown) => asRefusal(error, request));
    if (outcome instanceof Error) {
      refused.push(outcome);
      if (outcome instanceof ChildDeletedError) {
        counts.writes += 1;
        onChange?.({ type: 'deleted', child: outcome.child });
      }
      if (!mayBeOfWebhook(outcome)) continue;
      webhookFailures += 1;
      webhookMs += performance.now() - startedAt;
      if (webhookFailures === maxWebhookFailures || webhookMs >= maxWebhookSeconds * 1000) break;
      continue;
    }
    if (outcome === 'not owned') {
      notOwned.push(`${request.kind} ${formatKey(child.metadata)}`);
      continue;
    }
    objects.push(outcome.object);
    counts.notes.push(...notesOf(outcome, request));
    if (outcome.write === 'noop') counts.noops += 1;
    if (outcome.write !== 'changed') continue;
    counts.writes += 1;
    const { object: after, before } = outcome;
    counts.replaced.push(...replacedBy(outcome));
    onChange?.(before === undefined ? { type: 'created', child: after } : { type: 'updated', child: after, before });
  }
  // The new name of a child may be refused: the child of the old name is all that there is.
  if (request.prune && refused.length === 0 && notOwned.length === 0) {
    for (const [name, live] of existing) {
      if (names.has(name) || live.metadata.deletionTimestamp !== undefined) continue;
      if (!(await isChild(request, live))) continue;
      if (!(await deleteChild(client, request, live, { uid: live.metadata.uid }))) continue;
      counts.writes += 1;
      onChange?.({ type: 'deleted', child: live });
    }
  }
  const errors = notOwned.length === 0 ? refused : [...refused, new NotOwnedError(notOwned)];
  if (refused.length > 0) throw errors.length === 1 ? errors[0] : new ChildrenRefusedError(errors);
  if (notOwned.length > 0) throw new NotOwnedError(notOwned, objects);
  return objects;
}

/**
 * Applies one child of an owner and deletes nothing: one read, and a write if it differs. Throws a NotOwnedError for
 * the name of an existing object that the owner does not control, and a TypeError for an invalid child.
 */
export async function applyOne(
  client: KubeClient,
  request: ChildKind,
  desired: DesiredChild,
  options: ChildOptions = {},
): Promise<{ readonly object: KubeObject } & WriteCounts> {
  checkExactPaths(options.exact ?? []);
  const child = childObject(request, desired);
  const outcome = await applyChild(client, { ...request, ...options }, child, undefined);
  if (outcome === 'not owned') throw new NotOwnedError([`${request.kind} ${formatKey(child.metadata)}`], []);
  const { object, write } = outcome;
  const counts = { writes: write === 'changed' ? 1 : 0, noops: write === 'noop' ? 1 : 0 };
  return { object, ...counts, replaced: replacedBy(outcome), notes: notesOf(outcome, request) };
}

/** Returns the controller whose label a write has replaced by its own, if any. */
function replacedBy({ object, before }: ChildOutcome): readonly string[] {
  const label = before?.metadata.labels?.[controllerLabel];
  return label === undefined || label === object.metadata.labels?.[controllerLabel] ? [] : [label];
}

/** Returns what a write did to fields of other managers. Those of a replaced controller are in `replaced`. */
function notesOf(outcome: ChildOutcome, { controllerName, project }: ChildKind): readonly FieldNote[] {
  const { object, before, write, difference, removed } = outcome;
  const child = formatKey(object.metadata);
  if (write === 'noop') return difference === undefined ? [] : [{ type: 'unchanged', child, field: difference }];
  if (write !== 'changed' || before === undefined || replacedBy(outcome).length > 0) return [];
  const manager = fieldManagerOf(controllerName, project);
  const notes = (type: FieldNote['type'], fields: readonly FieldOfManager[]) =>
    fields.map((field) => ({ type, child, ...field }));
  return [
    ...notes('overwritten', takenFields(before, object, manager)),
    ...notes('removed', removed),
    ...notes('kept', keptFields(before, object, manager)),
  ];
}
