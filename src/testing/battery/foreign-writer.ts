// Other clients of the cluster, which write to the children of the battery's object at random: as kubectl, a backup
// tool and the controller's own name do. The same seed makes the same writes. What they may destroy is what a
// controller has to repair: of the evidence that an object is a child (labels, reference, managed fields), one part at
// a time.
import type { Kind } from '../../api/kind.ts';
import { isRecord } from '../../core/json.ts';
import { controllerLabel, fieldManagerOf, ownerUidLabel } from '../../core/names.ts';
import { controllerUidOf } from '../../core/owner.ts';
import { ownedFields } from '../../kube/apply/managed-fields.ts';
import type { KubeRequest } from '../../kube/client/client.ts';
import { ApiError } from '../../kube/client/errors.ts';
import type { KubeObject } from '../../kube/client/object.ts';
import { collectionPath } from '../../kube/client/path.ts';
import { getObject } from '../../kube/client/read.ts';
import { driftsOf, pathOf, type Stage } from './stage.ts';

/** A number in [0, below), the same sequence for the same seed (mulberry32). */
export type Random = (below: number) => number;

/** Creates the random numbers of a seed. */
export function randomOf(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Child = { readonly kind: Kind; readonly object: KubeObject };
type Fields = Readonly<Record<string, unknown>>;

/** What a writer has to write to: the child as it is now, and the fields that its controller owns in it. */
type Subject = Child & { readonly stage: Stage; readonly random: Random; readonly owned: Fields };

type Writer = {
  /** Its field manager, and what it does: `kubectl-edit changes`. */
  readonly name: string;
  /** Whether it destroys a part of the evidence that the object is a child. */
  readonly isIdentity?: true;
  /** Which objects it writes to. Absent: any. */
  readonly fits?: (child: Child) => boolean;
  write(subject: Subject): Promise<void>;
};

const mergePatch = 'application/merge-patch+json';
const applyPatch = 'application/apply-patch+yaml';
const mostWrites = 3;

const writers: readonly Writer[] = [
  { name: 'kubectl-edit changes a field of', write: async (one) => await patch(one, 'kubectl-edit', changeOf(one)) },
  { name: 'kubectl-edit removes a field of', write: async (one) => await patch(one, 'kubectl-edit', removalOf(one)) },
  {
    name: 'kubectl-edit adds an annotation to',
    write: async (one) => await patch(one, 'kubectl-edit', { metadata: { annotations: { 'example.com/note': 'x' } } }),
  },
  {
    name: "the controller's own name, by a patch, changes a field of",
    write: async (one) => await patch(one, fieldManagerOf(one.stage.controller.name), changeOf(one)),
  },
  { name: 'kubectl-replace replaces', write: async (one) => await replace(one) },
  {
    name: 'kubectl applies with --force-conflicts another field of',
    write: async ({ stage, kind, object, ...one }) => {
      const { name, namespace } = object.metadata;
      const body = { ...changeOf(one), apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name, namespace } };
      const query = { fieldManager: 'kubectl', force: true };
      await send(stage, { method: 'PATCH', path: pathOf(kind, object), contentType: applyPatch, query, body });
    },
  },
  {
    name: 'velero-server deletes and restores',
    isIdentity: true,
    // The deletion of others is not over when the API server responds.
    fits: ({ kind, object: { metadata } }) => kind.kind !== 'Namespace' && (metadata.finalizers ?? []).length === 0,
    write: async (one) => await restore(one),
  },
  {
    name: 'kubectl-label removes the labels of',
    isIdentity: true,
    write: async (one) => {
      const some = [[controllerLabel, ownerUidLabel], [controllerLabel], [ownerUidLabel]];
      const labels = Object.fromEntries((some[one.random(some.length)] ?? []).map((label) => [label, null]));
      await patch(one, 'kubectl-label', { metadata: { labels } });
      one.stage.loseLabels(one.kind, one.object);
    },
  },
  {
    name: 'kubectl-edit removes the owner reference of',
    isIdentity: true,
    write: async (one) => await patch(one, 'kubectl-edit', { metadata: { ownerReferences: null } }),
  },
  {
    name: 'kubectl-edit clears the managed fields of',
    isIdentity: true,
    write: async (one) => await patch(one, 'kubectl-edit', { metadata: { managedFields: [{}] } }),
  },
];

/**
 * Writes to one to three random children. Returns the writes that the API server accepted, in words, or none.
 * @param children those that the controller repairs
 */
export async function writeAtRandom(
  stage: Stage,
  children: readonly Child[],
  random: Random,
): Promise<readonly string[]> {
  const written: string[] = [];
  /** The children of which a part of the evidence is gone. */
  const touched = new Set<string>();
  for (let left = 1 + random(mostWrites); left > 0; left -= 1) {
    const child = children[random(children.length)];
    const writer = writers[random(writers.length)];
    const object = child && (await getObject(stage.client, child.kind, child.object.metadata));
    if (child === undefined || writer === undefined || object === undefined) continue;
    const path = pathOf(child.kind, object);
    // Without a reference to its owner a child has no evidence to lose.
    if (writer.isIdentity === true && (touched.has(path) || controllerUidOf(object) === undefined)) continue;
    if (writer.fits?.({ ...child, object }) === false) continue;
    const owned = contentOf(ownedFields(child.object, fieldManagerOf(stage.controller.name)) ?? {});
    if (!(await isAccepted(writer.write({ stage, random, kind: child.kind, object, owned })))) continue;
    if (writer.isIdentity === true) touched.add(path);
    written.push(`${writer.name} ${child.kind.kind} ${object.metadata.name}`);
  }
  return written;
}

/** Returns whether the API server did what a writer wanted. It refuses some values; with 500 two items of one key. */
async function isAccepted(write: Promise<void>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ApiError && [400, 403, 404, 409, 422, 500].includes(error.status)) return false;
    throw error;
  }
}

async function send(stage: Stage, request: KubeRequest): Promise<void> {
  await stage.client.request(request);
}

async function patch({ stage, kind, object }: Subject, fieldManager: string, body: object): Promise<void> {
  const request = { method: 'PATCH', path: pathOf(kind, object), contentType: mergePatch, body } as const;
  await send(stage, { ...request, query: { fieldManager } });
}

/** Writes the object as a file of it has it: with another value of a field, or without the field. */
async function replace(subject: Subject): Promise<void> {
  const { stage, kind, object, random } = subject;
  const { managedFields: _, ...metadata } = object.metadata;
  const changed = merged({ ...object, metadata }, random(2) === 0 ? changeOf(subject) : removalOf(subject));
  const query = { fieldManager: 'kubectl-replace' };
  await send(stage, { method: 'PUT', path: pathOf(kind, object), query, body: changed });
}

/** Deletes the object, and creates it as it was, by POST and without what the API server assigns. */
async function restore({ stage, kind, object }: Subject): Promise<void> {
  const { name, namespace, labels, annotations, ownerReferences } = object.metadata;
  const { status: _, ...content } = contentOf(object);
  const metadata = { name, namespace, labels, annotations, ownerReferences };
  await send(stage, { method: 'DELETE', path: pathOf(kind, object) });
  const body = { ...content, apiVersion: kind.apiVersion, kind: kind.kind, metadata };
  const query = { fieldManager: 'velero-server' };
  await send(stage, { method: 'POST', path: collectionPath(kind, namespace), query, body });
}

function contentOf(object: object): Fields {
  const { metadata: _, apiVersion: __, kind: ___, ...content }: Fields = { ...object };
  return content;
}

/** The fields that the controller owns, one of them with another value. Values of a Secret are base64. */
function changeOf({ owned, random }: Pick<Subject, 'owned' | 'random'>): Fields {
  const changes = driftsOf(owned);
  const changed = changes[random(Math.max(1, changes.length))];
  return isRecord(changed) ? changed : {};
}

/** A merge patch without one of the fields that the controller owns. */
function removalOf({ owned, random }: Pick<Subject, 'owned' | 'random'>): Fields {
  const removals = removalsOf(owned);
  return removals[random(Math.max(1, removals.length))] ?? {};
}

function removalsOf(value: unknown): readonly Fields[] {
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([field, one]) => [
    { [field]: null },
    ...removalsOf(one).map((removal) => ({ [field]: removal })),
  ]);
}

/** Returns an object after a merge patch (RFC 7386). */
function merged(target: Fields, change: Fields): Fields {
  const result: Record<string, unknown> = { ...target };
  for (const [field, value] of Object.entries(change)) {
    const before = result[field];
    if (value === null) delete result[field];
    else result[field] = isRecord(value) ? merged(isRecord(before) ? before : {}, value) : value;
  }
  return result;
}
