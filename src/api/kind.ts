// A kind as an author uses it: its names in the API, and the type of its objects. defineKind (custom-kind.ts) makes
// custom kinds, foreignKind (foreign-kind.ts) kinds with a foreign schema.
import type { KindDescription, Scope } from '../core/kind-names.ts';

/** The metadata that a reconciler sees of every object. */
export type Meta = {
  /** The name. */
  readonly name: string;
  /** The namespace; absent for a kind without. */
  readonly namespace?: string;
  /** Differs for each object that ever had the name. */
  readonly uid: string;
  /** Grows with each change of the spec. */
  readonly generation: number;
  /** Differs after each write. */
  readonly resourceVersion: string;
  /** RFC 3339; absent in an object that a test made by hand. */
  readonly creationTimestamp?: string;
  /** RFC 3339; present while the object is being deleted. */
  readonly deletionTimestamp?: string;
  /** The labels. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The annotations. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** The owners; one of them may be a controller. */
  readonly ownerReferences?: readonly OwnerReference[];
};

/** What the scope of a kind adds to the metadata of its objects. A scope that is not known adds nothing. */
export type Within<S extends Scope> = { Namespaced: { readonly namespace: string }; Cluster: unknown }[S];

/** One owner of an object (metav1.OwnerReference). */
export type OwnerReference = {
  /** Group and version of the owner. */
  readonly apiVersion: string;
  /** The kind of the owner. */
  readonly kind: string;
  /** The name of the owner. */
  readonly name: string;
  /** The uid of the owner. */
  readonly uid: string;
  /** Whether the owner is the object's controller. */
  readonly controller?: boolean;
};

/**
 * An object as the API server returns it: fields that it always fills in are not optional. The models of a client say
 * `Date` for the RFC 3339 texts of the API, and have other names for some fields.
 */
export type Live<O, S extends Scope = Scope> = Json<Omit<O, 'metadata'>> & {
  /** Name, uid, labels and the like. */
  readonly metadata: (O extends Generations ? Meta : ForeignMeta) & Within<S>;
};

/**
 * A model whose objects always have a `metadata.generation`, as those of every custom kind have.
 * @example foreignKind<WithGeneration<V1Certificate>, 'Certificate'>({ ... })
 */
export type WithGeneration<O> = O & Generations;
type Generations = { readonly metadata: { readonly generation: number } };

/** The API server counts no generations of some built-in kinds, such as ConfigMap, Secret, Service and Namespace. */
type ForeignMeta = Omit<Meta, 'generation'> & Partial<Pick<Meta, 'generation'>>;

type Json<T> = 0 extends 1 & T // any
  ? T
  : T extends Date
    ? string
    : T extends readonly (infer E)[]
      ? Json<E>[]
      : T extends object
        ? { [P in keyof T as FieldName<P, T>]: Json<T[P]> }
        : T;

/**
 * The name of a field in the API: a model has `_from` for the `from` of a NetworkPolicy, and in the schema of a
 * CustomResourceDefinition `ref` for `$ref` and `x_kubernetes_list_type` for `x-kubernetes-list-type`.
 */
type FieldName<P, T> = P extends `_${infer Name extends 'continue' | 'default' | 'enum' | 'from' | 'int'}`
  ? Name
  : P extends `x_kubernetes_${string}`
    ? Hyphenated<P>
    : P extends 'ref' | 'schema'
      ? 'x_kubernetes_list_type' extends keyof T
        ? `$${P}`
        : P
      : P;
type Hyphenated<Name extends string> = Name extends `${infer Head}_${infer Rest}`
  ? `${Head}-${Hyphenated<Rest>}`
  : Name;

/**
 * A kind of the Kubernetes API whose objects read as `O`. Kinds differ by name: two kinds whose objects look alike are
 * two types, and an error message says which. An interface, so that messages show its name and not its fields.
 */
export interface Kind<Name extends string = string, O extends object = object, S extends Scope = Scope>
  extends KindDescription<Name, S> {
  // First: the compiler compares members in this order, so a message about two kinds ends with their names.
  /** The kind, such as `Deployment`. */
  readonly kind: Name;
  /** Whether objects are in namespaces. */
  readonly scope: S;
  /** Whether its children may be outside of their owner's namespace (inAnyNamespace). */
  readonly inAnyNamespace?: true | undefined;
  /**
   * Reads an object as the API server sent it.
   * @throws Error when it cannot be read
   */
  read(raw: object): O;
}

/** Of a kind in `owns` whose objects may be in any namespace. An interface, so that messages show its name. */
export interface InAnyNamespace {
  readonly inAnyNamespace: true;
}

/**
 * An entry of `owns`: the children of a namespaced object may be in other namespaces, which each of them names. A
 * reference cannot lead from one namespace to another, so they have only the labels of their owner, and the runtime
 * deletes them before it removes the finalizer: the controller needs `finalize`. Use the same value with `applyAll`.
 * @example const Copies = inAnyNamespace(Secret); // owns: [Copies]
 */
export function inAnyNamespace<K extends Kind<string, object, 'Namespaced'>>(kind: K): K & InAnyNamespace {
  return { ...kind, inAnyNamespace: true };
}

/** What an object of a kind reads as. */
export type ObjectOf<K> = K extends Kind<string, infer O> ? O : never;
