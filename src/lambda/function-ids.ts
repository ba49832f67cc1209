// The deduplication ids of a function: with the deployment's secret, which it reads once. CloudFormation generates the
// secret, and only the roles that make such ids may read it.
import type { SecretReader } from '../api/secret.ts';
import { toError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { createFunctionIds, type FunctionIds } from '../sqs/deduplication.ts';

/** The secret never changes, so it is read once for each execution environment. */
const maxAgeSeconds = 31_536_000;

/**
 * Creates a function that resolves with the ids. It never rejects: while the secret cannot be read, the ids are those
 * without a secret, because no timer may wait for Secrets Manager. The next call tries again.
 * @param location the name or ARN of the secret, or `file:` and a path; absent: ids without a secret
 */
export function createIdSource(
  location: string | undefined,
  secrets: SecretReader,
  log: Log,
): () => Promise<FunctionIds> {
  let ids: FunctionIds | undefined;
  return async () => {
    if (ids !== undefined) return ids;
    if (location === undefined) return createFunctionIds();
    try {
      const text = await secrets.read({ secret: location, maxAgeSeconds }, 'DEDUPLICATION_SECRET');
      ids = createFunctionIds(text);
      return ids;
    } catch (thrown) {
      log.warn('deduplication ids without the secret of the deployment', { reason: toError(thrown).message });
      return createFunctionIds();
    }
  };
}
