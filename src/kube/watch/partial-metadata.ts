// The metadata that the watcher keeps for every object that it watches. It is reduced while it is parsed: managedFields
// and unneeded annotations are dropped before they are stored. An annotation may contain a whole spec, even a Secret's
// data.
import { createHash } from 'node:crypto';
import { isRecord } from '../../core/json.ts';
import { observedAnnotationPrefix } from '../../core/names.ts';
import { ResponseError } from '../client/errors.ts';

/** The fields of an owner reference that identify the owner. */
export type OwnerReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller: boolean;
};

/** The metadata that the watcher keeps of an object. */
export type PartialObjectMetadata = {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Absent for kinds without one (ConfigMap, Secret, Service, Namespace). */
  readonly generation?: number;
  readonly deleting: boolean;
  readonly namespace?: string;
  readonly name: string;
  readonly owners: readonly OwnerReference[];
  /** The selected ones that the object has. Absent if it has none of them. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The selected ones that the object has. Absent if it has none of them. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Differs if a label, an annotation, a finalizer, an owner or the deletion differs. Only if it is desired. */
  readonly digest?: string;
};

/** The labels and annotations to keep. */
export type DesiredMetadata = {
  readonly labels?: readonly string[] | 'all';
  readonly annotations?: readonly string[] | 'all';
  /** Whether a digest of the metadata that clients write is kept. */
  readonly digest?: boolean;
};

/** 72 bits: enough to distinguish two states of one object. */
const digestCharacters = 12;

type JsonFields = Readonly<Record<string, unknown>>;

/** Shared by all objects without an owner, to save memory. */
const noOwners: readonly OwnerReference[] = Object.freeze([]);

/** Parses an object or its PartialObjectMetadata. Throws a ResponseError that names the missing field. */
export function parsePartialMetadata(value: unknown, desired: DesiredMetadata = {}): PartialObjectMetadata {
  const metadata = record(record(value)?.metadata);
  if (metadata === undefined) throw missing('metadata');
  const { generation, namespace } = metadata;
  const labels = selectKeys(metadata.labels, desired.labels);
  const annotations = selectKeys(metadata.annotations, desired.annotations);
  return {
    uid: requireText(metadata, 'uid'),
    resourceVersion: requireText(metadata, 'resourceVersion'),
    ...(typeof generation === 'number' ? { generation } : {}),
    deleting: typeof metadata.deletionTimestamp === 'string',
    ...(typeof namespace === 'string' ? { namespace } : {}),
    name: requireText(metadata, 'name'),
    owners: parseOwners(metadata.ownerReferences),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(desired.digest === true ? { digest: digestOf(metadata) } : {}),
  };
}

/** Leaves out what controllers note of themselves: it would wake the controller that has just noted it. */
function digestOf({ labels, annotations, finalizers, ownerReferences, deletionTimestamp }: JsonFields): string {
  const noted = Object.entries(record(annotations) ?? {}).filter(([key]) => !key.startsWith(observedAnnotationPrefix));
  const sorted = [Object.entries(record(labels) ?? {}), noted].map((pairs) =>
    pairs.sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const text = JSON.stringify([sorted, finalizers, ownerReferences, deletionTimestamp]);
  return createHash('sha256').update(text).digest('base64').slice(0, digestCharacters);
}

/** Parses metadata.resourceVersion, the only field of a bookmark. Throws a ResponseError if it is missing. */
export function parseResourceVersion(value: unknown): string {
  const metadata = record(record(value)?.metadata);
  if (metadata === undefined) throw missing('metadata');
  return requireText(metadata, 'resourceVersion');
}

function parseOwners(value: unknown): readonly OwnerReference[] {
  if (!Array.isArray(value) || value.length === 0) return noOwners;
  return value.map((one) => {
    const owner = record(one) ?? {};
    return {
      apiVersion: requireText(owner, 'apiVersion'),
      kind: requireText(owner, 'kind'),
      name: requireText(owner, 'name'),
      uid: requireText(owner, 'uid'),
      controller: owner.controller === true,
    };
  });
}

function selectKeys(value: unknown, desired: readonly string[] | 'all' = []): Record<string, string> | undefined {
  const source = record(value);
  if (source === undefined) return undefined;
  const selected: Record<string, string> = {};
  let found = false;
  for (const name of desired === 'all' ? Object.keys(source) : desired) {
    const one = source[name];
    if (typeof one !== 'string') continue;
    selected[name] = one;
    found = true;
  }
  return found ? selected : undefined;
}

function requireText(from: Readonly<Record<string, unknown>>, field: string): string {
  const value = from[field];
  if (typeof value !== 'string' || value === '') throw missing(field);
  return value;
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isRecord(value) ? value : undefined;
}

function missing(field: string): ResponseError {
  return new ResponseError(`an object has no ${field}`);
}
