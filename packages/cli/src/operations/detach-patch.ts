// Computes the patch that removes a controller's metadata from an object: finalizers, field ownership, labels,
// annotations and controller references. Pure; detach.ts lists the objects and patches them. The values of the fields
// stay as they are.
import {
  controllerLabel,
  controllerLabelValue,
  controllerOfFinalizer,
  controllerOfManager,
  fieldManagerOf,
  heldLabelOf,
  observedAnnotationOf,
  ownerAnnotation,
  ownerUidLabel,
  pausedAnnotation,
  reconcileRequestedAnnotation,
} from 'outrigger/internal/core/names';
import type { KubeObject } from 'outrigger/internal/kube/client/object';

/** The controllers to detach, and the role of the objects. */
export type DetachScope = {
  readonly controllers: ReadonlySet<string>;
  /** Absent: the default project. */
  readonly project?: string | undefined;
  /**
   * The controllers' own kind, children that they created, or copies that Kubernetes made of a child's annotations (a
   * ReplicaSet).
   */
  readonly as: 'primary' | 'child' | 'copy';
  /** For children: the controller reference is removed as well, so that the child outlives its owner. */
  readonly orphan?: boolean;
  /** For primaries: other controllers still reconcile them, so annotations for all controllers (paused) stay. */
  readonly shared?: boolean;
  /**
   * For primaries: the controllers still run, and have no finalize any more, so nothing else is removed. They remove
   * the finalizer of an object that is being deleted themselves; a former version would still have to finalize it.
   */
  readonly finalizersOnly?: boolean;
};

/** A merge patch of metadata, with the number of entries that it removes. */
export type DetachPatch = {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly removes: { readonly finalizers: number; readonly managers: number; readonly metadata: number };
};

/**
 * Returns the controllers that left a finalizer or wrote the status of an object of their kind. This also finds
 * controllers that no registry contains any more.
 */
export function controllersOn(
  { metadata: { finalizers = [], managedFields = [] } }: KubeObject,
  project?: string,
): readonly string[] {
  const statusManagers = managedFields.filter(({ subresource }) => subresource === 'status');
  return [
    ...finalizers.map((one) => controllerOfFinalizer(one, project)),
    ...statusManagers.map(({ manager = '' }) => controllerOfManager(manager, project)),
  ].filter((name) => name !== undefined);
}

/** Returns whether the finalizers of an object stay, because a running controller removes them. */
export function isLeftToController(
  { metadata: { deletionTimestamp, finalizers = [] } }: KubeObject,
  { controllers, project, finalizersOnly = false }: DetachScope,
): boolean {
  const isHeld = finalizers.some((one) => controllers.has(controllerOfFinalizer(one, project) ?? ''));
  return finalizersOnly && deletionTimestamp !== undefined && isHeld;
}

/** Makes the patch that detaches an object that was read; undefined if there is nothing to remove. */
export function detachPatch(object: KubeObject, scope: DetachScope): DetachPatch | undefined {
  if (isLeftToController(object, scope)) return undefined;
  const { metadata } = object;
  const { controllers, project, as, orphan = false, shared = false, finalizersOnly = false } = scope;
  const { resourceVersion, finalizers = [] } = metadata;
  const concerned: Partial<KubeObject['metadata']> = finalizersOnly ? {} : metadata;
  const { managedFields = [], labels = {}, annotations = {} } = concerned;
  const managers = new Set([...controllers].map((name) => fieldManagerOf(name, project)));
  const isOurs = (finalizer: string) => controllers.has(controllerOfFinalizer(finalizer, project) ?? '');
  const keptFinalizers = as === 'primary' ? finalizers.filter((one) => !isOurs(one)) : finalizers;
  const keptManagers =
    as === 'copy' ? managedFields : managedFields.filter(({ manager = '' }) => !managers.has(manager));
  const values = new Set([...controllers].map((name) => controllerLabelValue(name, project)));
  const isTheirs = as === 'child' && values.has(labels[controllerLabel] ?? '');
  const isCopy = as === 'copy' && labels[controllerLabel] === undefined;
  const own = (keyOf: (controller: string, project?: string) => string) =>
    as === 'primary' ? [...controllers].map((name) => keyOf(name, project)) : [];
  const removedLabels = present(labels, [...own(heldLabelOf), ...(isTheirs ? [controllerLabel, ownerUidLabel] : [])]);
  const removedAnnotations = present(annotations, [
    ...own(observedAnnotationOf),
    ...(as === 'primary' ? (shared ? [] : userAnnotations) : isTheirs || isCopy ? [ownerAnnotation] : []),
  ]);
  const owners = metadata.ownerReferences ?? [];
  const keptOwners = isTheirs && orphan ? owners.filter(({ uid }) => uid !== labels[ownerUidLabel]) : owners;
  const removes = {
    finalizers: finalizers.length - keptFinalizers.length,
    managers: managedFields.length - keptManagers.length,
    metadata: removedLabels.length + removedAnnotations.length + owners.length - keptOwners.length,
  };
  if (removes.finalizers + removes.managers + removes.metadata === 0) return undefined;
  return {
    removes,
    metadata: {
      // With the version that was read, so that entries that another writer has added since are not lost.
      resourceVersion,
      ...(removes.finalizers === 0 ? {} : { finalizers: keptFinalizers.length === 0 ? null : keptFinalizers }),
      // A list with one empty entry resets the ownership of all fields. An empty list would change nothing.
      ...(removes.managers === 0 ? {} : { managedFields: keptManagers.length === 0 ? [{}] : keptManagers }),
      ...(removedLabels.length === 0 ? {} : { labels: nulls(removedLabels) }),
      ...(removedAnnotations.length === 0 ? {} : { annotations: nulls(removedAnnotations) }),
      ...(keptOwners.length === owners.length ? {} : { ownerReferences: keptOwners.length === 0 ? null : keptOwners }),
    },
  };
}

/** The annotations that users write, for all controllers of an object. */
const userAnnotations = [pausedAnnotation, reconcileRequestedAnnotation];

function present(from: Readonly<Record<string, string>>, names: readonly string[]): readonly string[] {
  return names.filter((name) => name in from);
}

function nulls(names: readonly string[]): Readonly<Record<string, null>> {
  return Object.fromEntries(names.map((name) => [name, null]));
}
