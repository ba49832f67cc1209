// Which FIFO group a target is: the reason why no object is reconciled twice at once. Readable, because it is what an
// operator sees in the SQS console. It never changes for a queue that exists: messages under the old and the new id of one
// object would run side by side.
import { formatTarget, type TargetKey } from '../core/key.ts';
import { hashOf } from './message.ts';

/** Printable ASCII without the space, at most 128 characters (SQS SendMessage, MessageGroupId). */
const legal = /^[!-~]{1,128}$/;

/** Makes the group id of a target: its readable form where SQS takes it, else its hash (never cut short: two objects could meet). */
export function groupIdOf(target: TargetKey): string {
  const readable = formatTarget(target);
  return legal.test(readable) ? readable : hashOf(...targetParts(target));
}

/** What makes a target itself and no other, as parts for a hash. */
export function targetParts({ controller, cluster, group, resource, namespace, name }: TargetKey): readonly string[] {
  return [controller, cluster, group, resource, namespace ?? '', name];
}
