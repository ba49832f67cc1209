// A controller whose own write has its object reconciled, and that then writes again, never ends. Only kinds whose
// every write counts, and labels or annotations that a controller sets, can do that. The watcher's rate limit slows it
// down.
import type { KubeObject } from '../kube/client/object.ts';
import type { Message } from '../sqs/message.ts';

/**
 * Returns whether a reconcile follows a write of the controller itself: its only causes are changes of the object, and
 * the last write to the object, by its managed fields, is the controller's. Of writes in one second the last one is not
 * known.
 */
export function followsOwnWrite(
  { cause, merged }: Pick<Message, 'cause' | 'merged'>,
  { metadata: { managedFields = [] } }: KubeObject,
  fieldManager: string,
): boolean {
  if (![cause, ...(merged?.causes ?? [])].every((one) => one.type === 'change' && one.object === undefined))
    return false;
  const latest = (isOwn: boolean) =>
    Math.max(
      ...managedFields
        .filter(({ manager }) => (manager === fieldManager) === isOwn)
        .map(({ time }) => Date.parse(time ?? ''))
        .filter((time) => !Number.isNaN(time)),
    );
  return latest(true) > latest(false);
}
