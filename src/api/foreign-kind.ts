// A kind with a foreign schema: no CRD is generated for it, and its objects are read as the API server sent
// them. Those of Kubernetes itself are in kubernetes.ts.
import { SchemaError } from '../core/errors.ts';
import { describeKind, type KindNames, type Scope } from '../core/kind-names.ts';
import { controllersOf } from './controller.ts';
import type { DefineController, Primary } from './controller-spec.ts';
import type { Kind, Live } from './kind.ts';
import { type ForeignField, type ForeignStatus, foreignSliceView, type StatusForm } from './status-slice.ts';

/** A foreign kind. */
export interface ForeignKind<Name extends string, O extends object, S extends Scope = 'Namespaced'>
  extends Kind<Name, O, S> {
  /** The kind, such as `Deployment`. */
  readonly kind: Name;
  /**
   * Declares a controller of the kind. It writes no status: its reconcile returns a requeue time or nothing, and
   * reports progress in Events.
   * @example Namespace.controller('tenant-network', { selector: { matchLabels: { tenant: 'true' } }, ... })
   */
  readonly controller: DefineController<Primary<O, S, never, never>>;
  /**
   * Declares the part of the status that a controller writes: fields and conditions of the CRD, `Ready` included, for
   * one that implements the kind; of a built-in kind only conditions, with a domain in their types. The rest of the
   * status stays another controller's. The kind must have a list of conditions and a status subresource.
   * @example Certificate.statusSlice({ status: ['notAfter'], conditions: ['Ready'] }).controller('issuer', { ... })
   * @example Namespace.statusSlice({ conditions: ['tenant.example.com/Isolated'] }).controller('tenant', { ... })
   */
  statusSlice<const C extends string, const F extends ForeignField<O> = never>(slice: {
    /** Fields of the status. Absent: none. */
    readonly status?: readonly F[];
    /** The types of the conditions, at least one. */
    readonly conditions: readonly [C, ...C[]];
  }): {
    /** Declares the controller of the slice. */
    readonly controller: DefineController<Primary<O, S, [F] extends [never] ? undefined : ForeignStatus<O, F>, C>>;
  };
}

/**
 * Declares a foreign kind. The name is given twice where the type of its objects is, because TypeScript infers all type
 * arguments or none.
 * @example const Certificate = foreignKind<V1Certificate, 'Certificate'>({ group: 'cert-manager.io', version: 'v1',
 *   kind: 'Certificate' });
 */
export function foreignKind<O extends object, const Name extends string, S extends Scope = 'Namespaced'>(
  // The scope of a cluster-scoped kind is in its type and in its names; otherwise it does not compile.
  names: KindNames<Name, S> & { readonly status?: StatusForm } & (S extends 'Cluster'
      ? { readonly scope: S }
      : unknown),
): ForeignKind<Name, Live<O, S>, S> {
  // The one place where an object with a foreign schema gets its type: the API server has validated it.
  const kind = { ...describeKind<Name, S>(names), read: (raw: object) => raw as Live<O, S> };
  return {
    ...kind,
    controller: controllersOf(kind, { conditions: [], read: kind.read }),
    statusSlice: ({ status = [], conditions }) => {
      if (names.status === 'no-subresource')
        throw new SchemaError(
          `${kind.kind}.statusSlice`,
          `its CRD has no status subresource, so who may write the status may write the spec; set annotations`,
        );
      const isObserved = names.status === 'observed-conditions' ? ({ isObserved: true } as const) : {};
      const slice = { status, conditions, ...isObserved };
      return { controller: controllersOf(kind, foreignSliceView(kind, slice), slice) };
    },
  };
}
