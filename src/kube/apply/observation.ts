// The evidence of a controller on a kind that is not ours, whose status has no observedGeneration of ours: an
// annotation with a digest of what its last finished reconcile has observed. The resync compares it with the object.
import { createHash } from 'node:crypto';
import type { ControllerDeclaration } from '../../api/definition.ts';
import { isRecord } from '../../core/json.ts';
import { finalizerOf, heldLabelOf, observedAnnotationOf, observedAnnotationPrefix } from '../../core/names.ts';
import type { KubeObject } from '../client/object.ts';

/** What a controller notes of an object. */
export type Observation = {
  /** The key of the annotation. */
  readonly annotation: string;
  /** Returns its value for an object as it was read. */
  of(object: KubeObject): string;
  /** Returns whether the annotation has the value of the object as it is. */
  isObserved(object: KubeObject): boolean;
};

/** 96 bits, in hexadecimal digits. */
const digestCharacters = 24;

/**
 * Returns the observation of a controller; undefined if it declares no evidence. The digest has every field but the
 * status, and of the metadata what clients write. It has no generation, because an annotation raises that of a
 * Deployment, and nothing that the controller writes itself. The uid tells a restored copy from the object.
 */
export function observationOf(
  { name, declaration }: { readonly name: string; readonly declaration: ControllerDeclaration },
  project?: string,
): Observation | undefined {
  const { evidence, sets = {}, changes } = declaration;
  if (evidence === undefined) return undefined;
  const annotation = observedAnnotationOf(name, project);
  const own = {
    labels: [heldLabelOf(name, project), ...(sets.labels ?? [])],
    annotations: sets.annotations ?? [],
    finalizer: finalizerOf(name, project),
  };
  const of = ({ metadata, status: _, apiVersion: __, kind: ___, ...fields }: KubeObject): string => {
    const { uid, generation, labels, annotations, finalizers = [], ownerReferences, deletionTimestamp } = metadata;
    // Nothing tells the watcher of a change of the spec then.
    const isMetadataOnly = changes === 'metadata' && generation === undefined;
    const observed = {
      uid,
      ownerReferences,
      deletionTimestamp,
      labels: without(labels, (key) => own.labels.includes(key)),
      annotations: without(
        annotations,
        (key) => key.startsWith(observedAnnotationPrefix) || own.annotations.includes(key),
      ),
      finalizers: finalizers.filter((one) => one !== own.finalizer),
      ...(isMetadataOnly ? {} : { fields }),
    };
    return createHash('sha256').update(JSON.stringify(observed, inOrder)).digest('hex').slice(0, digestCharacters);
  };
  return { annotation, of, isObserved: (object) => object.metadata.annotations?.[annotation] === of(object) };
}

function without(from: Readonly<Record<string, string>> = {}, isLeftOut: (key: string) => boolean) {
  return Object.fromEntries(Object.entries(from).filter(([key]) => !isLeftOut(key)));
}

/** The API server may return the keys of an object in any order. */
function inOrder(_: string, value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
