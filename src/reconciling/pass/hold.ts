// Hold: the finalizer and the label with which an object is held, before the author's code has any effect.
import { holdObject, isHeld } from '../../kube/apply/finalizers.ts';
import type { Pass } from './pass.ts';

/**
 * Adds the marks that an object lacks, in one write. Returns whether the pass ends here: it has added the finalizer.
 * kube-apiserver completes a DELETE that it decided before the finalizer was there, so the author's code is called only
 * in a pass that has read the object with its finalizer (decision 0018). Throws an error if the API server stores the
 * object without it, as with an admission webhook that removes finalizers.
 */
export async function hold({ identity, task, client, primary, signal }: Pass): Promise<boolean> {
  const { marks, declaration, fieldManager, finalizer } = identity;
  if (task !== 'reconcile' || isHeld(primary.current(), marks)) return false;
  const addsFinalizer = declaration.finalizes && !primary.hasFinalizer();
  primary.replace(await holdObject(client, declaration.resource, primary.current(), marks, { fieldManager, signal }));
  primary.countWrite();
  if (addsFinalizer && !primary.hasFinalizer())
    throw new Error(`the API server has removed the finalizer ${finalizer} again; an admission webhook may do that`);
  return addsFinalizer;
}
