// The watcher keeps one of these per object of every kind it watches, so it is cut down while it is parsed: managedFields
// and annotations (which may hold a whole spec, a Secret's data included) are let go before anything can store them.
import { AnswerError } from '../client/errors.ts';
import { isRecord } from '../record.ts';

/** An owner reference, as far as finding the owner needs it. */
export interface HeadOwner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller: boolean;
}

/** What the watcher knows of an object. */
export interface ObjectHead {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Absent for kinds without one (ConfigMap, Secret, Service, Namespace). */
  readonly generation?: number;
  readonly deleting: boolean;
  readonly namespace?: string;
  readonly name: string;
  readonly owners: readonly HeadOwner[];
  /** Those asked for that are there; absent when none is. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Those asked for that are there; absent when none is. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Which labels and annotations to keep. */
export interface WantedMetadata {
  readonly labels?: readonly string[] | 'all';
  readonly annotations?: readonly string[] | 'all';
}

/** One array for all objects without an owner. */
const NO_OWNERS: readonly HeadOwner[] = Object.freeze([]);

/** Parses an object, or its PartialObjectMetadata, into a head. Throws an AnswerError that names the missing field. */
export function parseHead(value: unknown, wanted: WantedMetadata = {}): ObjectHead {
  const metadata = record(record(value)?.metadata);
  if (metadata === undefined) throw missing('metadata');
  const { generation, namespace } = metadata;
  const labels = pick(metadata.labels, wanted.labels);
  const annotations = pick(metadata.annotations, wanted.annotations);
  return {
    uid: text(metadata, 'uid'),
    resourceVersion: text(metadata, 'resourceVersion'),
    ...(typeof generation === 'number' ? { generation } : {}),
    deleting: typeof metadata.deletionTimestamp === 'string',
    ...(typeof namespace === 'string' ? { namespace } : {}),
    name: text(metadata, 'name'),
    owners: parseOwners(metadata.ownerReferences),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}

/** Reads metadata.resourceVersion alone, all that a bookmark has. Throws an AnswerError when it is missing. */
export function parseVersion(value: unknown): string {
  const metadata = record(record(value)?.metadata);
  if (metadata === undefined) throw missing('metadata');
  return text(metadata, 'resourceVersion');
}

function parseOwners(value: unknown): readonly HeadOwner[] {
  if (!Array.isArray(value) || value.length === 0) return NO_OWNERS;
  return value.map((one) => {
    const owner = record(one) ?? {};
    return {
      apiVersion: text(owner, 'apiVersion'),
      kind: text(owner, 'kind'),
      name: text(owner, 'name'),
      uid: text(owner, 'uid'),
      controller: owner.controller === true,
    };
  });
}

function pick(value: unknown, wanted: readonly string[] | 'all' = []): Record<string, string> | undefined {
  const source = record(value);
  if (source === undefined) return undefined;
  const picked: Record<string, string> = {};
  let found = false;
  for (const name of wanted === 'all' ? Object.keys(source) : wanted) {
    const one = source[name];
    if (typeof one !== 'string') continue;
    picked[name] = one;
    found = true;
  }
  return found ? picked : undefined;
}

function text(from: Readonly<Record<string, unknown>>, field: string): string {
  const value = from[field];
  if (typeof value !== 'string' || value === '') throw missing(field);
  return value;
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isRecord(value) ? value : undefined;
}

function missing(field: string): AnswerError {
  return new AnswerError(`an object without ${field}`);
}
