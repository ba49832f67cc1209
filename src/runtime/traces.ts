// What a controller leaves on objects, and the patch that takes it off again: finalizers, the ownership of fields, labels and
// annotations. Pure; finding the objects and patching them is release.ts. What the fields say stays as it is.
import {
  controllerLabel,
  controllerOfFinalizer,
  controllerOfManager,
  fieldManagerOf,
  ownerAnnotation,
  ownerUidLabel,
  pausedAnnotation,
  reconcileRequestedAnnotation,
} from '../core/names.ts';
import type { KubeObject } from '../kube/client/object.ts';

/** Whose traces, and what the objects are to them. */
export type Traces = {
  readonly controllers: ReadonlySet<string>;
  /** The kind that they reconcile, children that they made, or what Kubernetes copied from children (a ReplicaSet's annotations). */
  readonly as: 'primary' | 'child' | 'copy';
  /** Of children: their controller reference goes too, so that they outlive their owner. */
  readonly orphan?: boolean;
  /** Of primaries: others go on reconciling them, so what users wrote for all controllers (a pause) stays. */
  readonly shared?: boolean;
};

/** A merge patch of metadata, and what it takes off. */
export type ReleasePatch = {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly takes: { readonly finalizers: number; readonly managers: number; readonly marks: number };
};

/**
 * Names the controllers that an object of their kind shows: whose finalizers it carries, and who wrote its status. So those are
 * found, too, that no registry has any longer.
 */
export function controllersOn({ metadata: { finalizers = [], managedFields = [] } }: KubeObject): readonly string[] {
  const writers = managedFields.filter(({ subresource }) => subresource === 'status');
  return [
    ...finalizers.map(controllerOfFinalizer),
    ...writers.map(({ manager = '' }) => controllerOfManager(manager)),
  ].filter((name) => name !== undefined);
}

/** Makes the patch that takes the traces off an object that was read; undefined when there are none. */
export function releasePatch(
  { metadata }: KubeObject,
  { controllers, as, orphan = false, shared = false }: Traces,
): ReleasePatch | undefined {
  const { resourceVersion, finalizers = [], managedFields = [], labels = {}, annotations = {} } = metadata;
  const managers = new Set([...controllers].map(fieldManagerOf));
  const left =
    as === 'primary' ? finalizers.filter((one) => !controllers.has(controllerOfFinalizer(one) ?? '')) : finalizers;
  const others = as === 'copy' ? managedFields : managedFields.filter(({ manager = '' }) => !managers.has(manager));
  const isTheirs = as === 'child' && controllers.has(labels[controllerLabel] ?? '');
  const isCopy = as === 'copy' && labels[controllerLabel] === undefined;
  const marks = {
    labels: isTheirs ? present(labels, [controllerLabel, ownerUidLabel]) : [],
    annotations: present(
      annotations,
      as === 'primary' ? (shared ? [] : forAll) : isTheirs || isCopy ? [ownerAnnotation] : [],
    ),
  };
  const owners = metadata.ownerReferences ?? [];
  const kept = isTheirs && orphan ? owners.filter(({ uid }) => uid !== labels[ownerUidLabel]) : owners;
  const takes = {
    finalizers: finalizers.length - left.length,
    managers: managedFields.length - others.length,
    marks: marks.labels.length + marks.annotations.length + owners.length - kept.length,
  };
  if (takes.finalizers + takes.managers + takes.marks === 0) return undefined;
  return {
    takes,
    metadata: {
      // A finalizer, or an entry of somebody else's, must not be lost that came since the object was read.
      resourceVersion,
      ...(takes.finalizers === 0 ? {} : { finalizers: left.length === 0 ? null : left }),
      // One empty entry says that nobody owns anything; an empty list would say nothing at all.
      ...(takes.managers === 0 ? {} : { managedFields: others.length === 0 ? [{}] : others }),
      ...(marks.labels.length === 0 ? {} : { labels: nulls(marks.labels) }),
      ...(marks.annotations.length === 0 ? {} : { annotations: nulls(marks.annotations) }),
      ...(kept.length === owners.length ? {} : { ownerReferences: kept.length === 0 ? null : kept }),
    },
  };
}

/** What users write, for every controller of an object. */
const forAll = [pausedAnnotation, reconcileRequestedAnnotation];

function present(from: Readonly<Record<string, string>>, names: readonly string[]): readonly string[] {
  return names.filter((name) => name in from);
}

function nulls(names: readonly string[]): Readonly<Record<string, null>> {
  return Object.fromEntries(names.map((name) => [name, null]));
}
