// A kind with a foreign schema: no CRD is generated for it, and its objects are read as the API server sent
// them. Those of Kubernetes itself are in kubernetes.ts.
import { describeKind, type KindNames, type Scope } from '../core/kind-names.ts';
import { controllersOf } from './controller.ts';
import type { DefineController } from './controller-spec.ts';
import type { Kind, Live } from './kind.ts';
import { foreignSliceView, type QualifiedCondition } from './status-slice.ts';

/** A foreign kind. */
export interface ForeignKind<Name extends string, O extends object, S extends Scope = 'Namespaced'>
  extends Kind<Name, O, S> {
  readonly kind: Name;
  /**
   * Declares a controller of the kind. It writes no status: its reconcile returns a requeue time or nothing, and
   * reports progress in Events.
   * @example Namespace.controller('tenant-network', { selector: { matchLabels: { tenant: 'true' } }, ... })
   */
  readonly controller: DefineController<{ primary: O; scope: S; status: never; conditions: never }>;
  /**
   * Declares conditions that a controller adds to the status of the kind, with a domain of its own in their types. The
   * rest of the status stays another controller's. The kind must have a list of conditions and a status subresource.
   * @example Namespace.statusSlice({ conditions: ['tenant.example.com/Isolated'] }).controller('tenant', { ... })
   */
  statusSlice<const C extends QualifiedCondition>(slice: {
    readonly conditions: readonly [C, ...C[]];
  }): {
    readonly controller: DefineController<{ primary: O; scope: S; status: undefined; conditions: C }>;
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
  names: KindNames<Name, S> & (S extends 'Cluster' ? { readonly scope: S } : unknown),
): ForeignKind<Name, Live<O, S>, S> {
  // The one place where an object with a foreign schema gets its type: the API server has validated it.
  const kind = { ...describeKind<Name, S>(names), read: (raw: object) => raw as Live<O, S> };
  return {
    ...kind,
    controller: controllersOf(kind, { conditions: [], read: kind.read }),
    statusSlice: ({ conditions }) => ({
      controller: controllersOf(kind, foreignSliceView(kind, conditions), { status: [], conditions }),
    }),
  };
}
