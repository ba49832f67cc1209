// What every log line about a key says of it.
import { attemptOf, describeCause, originOf, postponementsOf } from '../sqs/message.ts';
import type { KeyGroup } from './group-records.ts';

/**
 * Returns the log fields of every line about a key. Logs are the largest part of the cost of a reconcile, so zeros are
 * left out.
 */
export function keyFields({ message, key, records }: KeyGroup): object {
  const { namespace, name, cause, cluster, merged } = message;
  const attempt = attemptOf(message);
  const postponements = postponementsOf(message);
  const retries = { ...(attempt > 0 ? { attempt } : {}), ...(postponements > 0 ? { postponements } : {}) };
  const origin = originOf(cause);
  // Names from another cluster or account are cleaned, as all text in logs.
  const causedBy = origin === undefined ? {} : { causedBy: origin };
  const mergedCount =
    merged === undefined ? {} : { merged: merged.count, mergedCauses: merged.causes.map(describeCause) };
  return {
    key,
    namespace,
    name,
    cause: cause.type,
    ...causedBy,
    ...retries,
    ...mergedCount,
    cluster,
    messageId: records[0]?.messageId,
  };
}
