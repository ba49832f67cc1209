// What the parts of a context share: its dependencies, the object that it is for, and what was done through it.
import type { Kind } from '../../api/kind.ts';
import { ChildrenRefusedError, PolicyDeniedError, toError } from '../../core/errors.ts';
import { isPolicyDenied } from '../../kube/client/errors.ts';
import type { KubeObject } from '../../kube/client/object.ts';
import type { PendingEvent, ReconcileDeps } from '../pass/pass.ts';
import type { PrimaryObject } from '../primary-object.ts';
import type { ReconcileInput } from '../report.ts';

/** The message that is reconciled, and the controller. */
export type ContextDeps = Pick<ReconcileInput, 'client' | 'message' | 'log' | 'signal' | 'count'> &
  Pick<ReconcileDeps, 'name' | 'project' | 'declaration' | 'now'>;

/** What the parts of one context share. */
export type Scope = ContextDeps & {
  /** Undefined for a mapping function. */
  readonly own: OwnObject | undefined;
  /** What was done through the context so far (Called). */
  readonly effects: { readonly events: Map<string, PendingEvent>; writes: number; noops: number };
};

/** The object of a reconcile, as it was when the author's code was called, and as it is by now. */
export type OwnObject = {
  readonly object: KubeObject;
  readonly kind: Kind;
  readonly primary: Pick<PrimaryObject, 'current' | 'written'>;
  /**
   * Whether children that have lost their labels are found too, for two lists of metadata, and applies are sent that
   * changed nothing before.
   */
  readonly isThorough: boolean;
};

/** Returns the object of a context. Throws TypeError for a mapping function, which has none. */
export function ownObject({ own, name }: Scope, doing: string): OwnObject {
  if (own !== undefined) return own;
  throw new TypeError(`${name} cannot ${doing} in a mapping function, which has no object`);
}

/** Names the error of a write that an admission policy refused. */
export async function unlessDenied<T>(writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    const errors = error instanceof ChildrenRefusedError ? error.errors : [error];
    if (errors.every(isPolicyDenied)) throw new PolicyDeniedError(toError(error).message, { cause: error });
    throw error;
  }
}
