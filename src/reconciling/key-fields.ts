// What every log line about a key says of it.
import { attemptOf, describeCause, originOf, postponementsOf } from '../sqs/message.ts';
import type { KeyGroup } from './group-records.ts';

/**
 * Returns the log fields of every line about a key. Logs are the largest part of the cost of a reconcile, so zeros are
 * left out.
 */
export function keyFields({ message, key, records }: KeyGroup): object {
  const { namespace, name, cause, cluster, merged } = message;
  return {
    key,
    namespace,
    name,
    cause: cause.type,
    // Names from another cluster or account are cleaned, as all text in logs.
    causedBy: originOf(cause),
    attempt: attemptOf(message) || undefined,
    postponements: postponementsOf(message) || undefined,
    merged: merged?.count,
    mergedCauses: merged?.causes.map(describeCause),
    cluster,
    messageId: records[0]?.messageId,
  };
}
