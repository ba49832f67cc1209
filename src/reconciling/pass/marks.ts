// What a controller leaves on the objects that it holds, so that it finds them and cleans up after itself.
import { type ControllerDeclaration, marksHeldObjects } from '../../api/definition.ts';
import type { Marks } from '../../kube/apply/finalizers.ts';

/**
 * What marks an object as held: the finalizer, and for a controller with a selector a label, by which the resync finds
 * the objects that have left the selection.
 */
export function marksOf(
  declaration: ControllerDeclaration,
  {
    finalizer,
    label,
    annotation,
  }: { readonly finalizer: string; readonly label: string; readonly annotation: string | undefined },
): Marks {
  return {
    ...(declaration.finalizes ? { finalizer } : {}),
    ...(marksHeldObjects(declaration) ? { label } : {}),
    ...(annotation === undefined ? {} : { annotation }),
  };
}
