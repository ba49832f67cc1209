// The types of children: the desired objects that a reconciler passes, the options of an apply, and its result.
import type { Scope } from '../core/kind-names.ts';
import type { InAnyNamespace, Kind, Meta, ObjectOf } from './kind.ts';
import type { DeclaredCondition } from './result.ts';

type Partly<T> = T extends readonly (infer E)[]
  ? readonly Given<E>[]
  : T extends object
    ? { readonly [P in keyof T]?: (P extends TimeField ? T[P] | Date : Partly<T[P]>) | undefined }
    : T;

/** A whole value. A model of a client has Dates, in the metadata of templates: they are sent as texts. */
type Given<T> = T extends readonly (infer E)[]
  ? readonly Given<E>[]
  : T extends object
    ? { readonly [P in keyof T]: (P extends TimeField ? T[P] | Date : Given<T[P]>) | Absent<T, P> }
    : T;
/** A field that may be left out may be `undefined`, as may an entry of a map. */
type Absent<T, P extends keyof T> = string extends P ? undefined : object extends Pick<T, P> ? undefined : never;
type TimeField = 'creationTimestamp' | 'deletionTimestamp' | 'lastProbeTime' | 'lastTransitionTime' | 'time';

/**
 * The metadata of a child. Children of a cluster-scoped object name their namespace, if their kind has one, as do those
 * of a kind with `inAnyNamespace`; others of a namespaced object share its namespace.
 */
export type ChildMeta<Primary extends Scope, Child> = Partly<Pick<Meta, 'labels' | 'annotations'>> &
  Pick<Meta, 'name'> &
  (Primary extends 'Cluster' ? (Child extends 'Namespaced' ? { readonly namespace: string } : unknown) : unknown);

/**
 * A desired object of an owned kind: any part of it. The controller does not own fields that are not given, and
 * `undefined` is not given. In a kind of defineKind null is a value, and in any other kind a field that is null is not
 * given. `Primary` is the scope of the owner.
 */
export type Desired<K, Primary extends Scope = 'Namespaced'> =
  K extends Kind<string, infer O, infer S>
    ? Partly<Omit<O, 'metadata' | 'status' | 'conditions' | 'observedGeneration'>> & {
        /** The name, and labels and annotations of the controller's own. */
        readonly metadata: ChildMeta<K extends InAnyNamespace ? 'Cluster' : Primary, S>;
      }
    : never;

/**
 * All desired objects of a kind, or a function that makes them of the children that exist. An existing child that the
 * function returns is kept as it is: it is neither written nor deleted. To change one, return a new object.
 */
export type DesiredSet<K, Primary extends Scope> =
  | readonly Desired<K, Primary>[]
  | ((existing: readonly ObjectOf<K>[]) => readonly Desired<K, Primary>[]);

/** A write to a child: the child as it is now and as it was before. A deleted one is given as it was. */
export type ChildChange<O extends object = object> =
  | {
      /** What was written. */
      readonly type: 'created' | 'deleted';
      /** The new child, or the deleted one as it was. */
      readonly child: O;
    }
  | {
      /** What was written. */
      readonly type: 'updated';
      /** The child after the write. */
      readonly child: O;
      /** The child before the write. */
      readonly before: O;
    };

/**
 * The dotted paths of the fields of an object, through lists too. Six levels down, of which a list is one, any text is
 * one, as below a field of any content.
 */
type FieldPath<T, Depth extends readonly unknown[] = [1, 2, 3, 4, 5, 6]> = Depth extends [unknown, ...infer Rest]
  ? unknown extends T
    ? string
    : T extends readonly (infer E)[]
      ? FieldPath<E, Rest>
      : T extends object
        ? [keyof T] extends [never]
          ? string
          : { [P in keyof T & string]: P | `${P}.${FieldPath<NonNullable<T[P]>, Rest>}` }[keyof T & string]
        : never
  : string;

/** The paths of the objects of a kind. */
export type PathOf<K extends Kind> = FieldPath<ObjectOf<K>> & string;

/** How a child is applied. */
export type ApplyOptions<Path extends string = string> = {
  /**
   * Dotted paths of lists, maps and other fields that the controller owns completely, whether it gives them or not:
   * `spec.ports`, `data`, `spec.hard`. What anyone else adds there is removed at the next reconcile. What has no owner
   * stays: defaults, and what a webhook adds. With `spec.template` also the annotation of `kubectl rollout restart`
   * goes. Not below the child's own `metadata` and `status`, nor `spec` as a whole: others set fields there by design.
   */
  readonly exact?: readonly Path[];
  /**
   * Deletes the child if a field changes that the API server refuses to change, and it would accept the child as a new
   * one: the next reconcile creates it. Without it the refusal is the error. Default: false.
   */
  readonly recreate?: boolean;
  /**
   * Also takes an object of the child's name that no other controller has: without a controller reference, and without
   * Outrigger's labels of another owner or controller. Its fields that are not desired stay. Needs `allows.adoption`.
   * Default: false.
   */
  readonly adopt?: boolean;
};

/** How a set of children is applied. */
export type ApplyAllOptions<O extends object = object, Path extends string = string> = ApplyOptions<Path> & {
  /** Whether children of this object that are not desired are deleted. Default: true. */
  readonly prune?: boolean;
  /** Called after each write that changed something. A set that is as desired causes no call. */
  readonly onChange?: (change: ChildChange<O>) => void;
};

/** Why a set of children is not as desired: as a condition to report, and as the error to return. */
export type ApplyFailure = {
  /** A condition that is False, with the reason `NotOwned`, `PolicyDenied` or `ChildRefused`. */
  readonly condition: DeclaredCondition;
  /** What `applyAll` would have thrown: return it as `error` of the result, and the reconcile is retried. */
  readonly error: Error;
};

/**
 * What `tryApplyAll` returns.
 */
export type Applied<O> = {
  /**
   * The children, in the order of the desired ones. After a NotOwnedError: the other children, which are applied. After
   * any other failure it is empty, although some of the children may be applied.
   */
  readonly objects: readonly O[];
  /** Why the set is not as desired; absent if it is. */
  readonly failure?: ApplyFailure;
};
