// Labels and annotations of a controller on an object that others own. A server-side apply without force: the API
// server rejects it if another field manager has set one of them to another value, so two writers never take turns.
import { type AnyMetadataValues, givenValues, type MetadataSpec } from '../../api/set-metadata.ts';
import { FieldOwnedError } from '../../core/errors.ts';
import { isRecord } from '../../core/json.ts';
import type { KubeClient } from '../client/client.ts';
import { isFieldManagerConflict } from '../client/errors.ts';
import type { KubeObject, ResourceName } from '../client/object.ts';
import { applyObject } from './apply.ts';
import { ownedFields } from './managed-fields.ts';

/**
 * Makes the labels and annotations that the manager owns on an object exactly these. Returns the object after the
 * write; undefined if nothing differs. Throws FieldOwnedError if another manager has given one another value, and the
 * error isConflict if the object no longer exists. The uid keeps the apply from creating it.
 */
export async function applyOwnMetadata(
  client: KubeClient,
  {
    resource,
    apiVersion,
    kind,
  }: { readonly resource: ResourceName; readonly apiVersion: string; readonly kind: string },
  object: KubeObject,
  wanted: AnyMetadataValues,
  { fieldManager, signal }: { readonly fieldManager: string; readonly signal?: AbortSignal | undefined },
): Promise<KubeObject | undefined> {
  const owned = ownedFields(object, fieldManager)?.metadata;
  const labels = givenValues(wanted.labels);
  const annotations = givenValues(wanted.annotations);
  if (isSame(labels, owned, 'labels') && isSame(annotations, owned, 'annotations')) return undefined;
  const { name, namespace, uid } = object.metadata;
  const metadata = { name, namespace, uid, labels, annotations };
  try {
    return await applyObject(client, resource, { apiVersion, kind, metadata }, { fieldManager, force: false, signal });
  } catch (error) {
    if (!isFieldManagerConflict(error)) throw error;
    const causes = error.body?.details?.causes ?? [];
    const fields = causes.map(({ field = '', message = '' }) => `${field.replace(/^\./, '')} (${message})`);
    throw new FieldOwnedError(fields, { cause: error });
  }
}

function isSame(wanted: Readonly<Record<string, string>>, owned: unknown, part: keyof MetadataSpec): boolean {
  const before = isRecord(owned) && isRecord(owned[part]) ? owned[part] : {};
  const keys = Object.keys(wanted);
  return keys.length === Object.keys(before).length && keys.every((key) => before[key] === wanted[key]);
}
