// Reads secrets by reference. A secret is read on first use and cached for as long as its reference allows. It is read
// again at once after it was rejected, because it has probably been replaced.

import type { SecretReader } from '../../api/secret.ts';
import { toError, UserError } from '../../core/errors.ts';
import { isRecord, parseJson } from '../../core/json.ts';
import { rememberSecret } from '../../core/known-secrets.ts';
import type { GetSecret } from './secrets-manager.ts';

/** Delay between retries while Secrets Manager is unavailable. */
const retrySeconds = 5;

type CachedSecret = { readonly text: string; readonly readAt: number; readonly triedAt: number };

/**
 * Creates a reader. While Secrets Manager is unavailable, a cached secret stays in use, whatever its age. The API
 * server validates it anyway, and one service must not make all clusters unreachable. A secret that Secrets Manager
 * refuses, such as one that is scheduled for deletion, is not used again.
 */
export function createSecretReader({
  now,
  getSecret,
}: {
  readonly now: () => Date;
  readonly getSecret?: GetSecret;
}): SecretReader {
  const cache = new Map<string, CachedSecret>();
  const inFlight = new Map<string, Promise<string>>();
  let source = getSecret;

  async function fetch(secret: string, where: string): Promise<string> {
    const cached = cache.get(secret);
    try {
      source ??= (await import('./secrets-manager.ts')).createGetSecret();
      const text = await source(secret, where);
      const at = now().getTime();
      cache.set(secret, { text, readAt: at, triedAt: at });
      return text;
    } catch (error) {
      if (error instanceof UserError) {
        cache.delete(secret);
        throw error;
      }
      if (cached === undefined) {
        const message = `${where}: secret "${secret}" could not be read (${toError(error).message}); it is retried`;
        throw new UserError(message, { cause: error });
      }
      cache.set(secret, { ...cached, triedAt: now().getTime() });
      return cached.text;
    }
  }

  async function readText(secret: string, maxAgeSeconds: number, where: string): Promise<string> {
    const cached = cache.get(secret);
    if (cached !== undefined && isUsable(cached, maxAgeSeconds, now().getTime())) return cached.text;
    const fetching = inFlight.get(secret) ?? fetch(secret, where).finally(() => inFlight.delete(secret));
    inFlight.set(secret, fetching);
    return await fetching;
  }

  return {
    async read({ secret, key, maxAgeSeconds }, where) {
      const text = await readText(secret, maxAgeSeconds, where);
      if (key === undefined) {
        rememberSecret(text);
        return text;
      }
      const value = parseJson(text);
      const one = isRecord(value) ? value[key] : undefined;
      if (typeof one === 'string' && one !== '') {
        rememberSecret(one);
        return one;
      }
      throw new UserError(
        `${where}: secret "${secret}" is not a JSON object with a string "${key}"; fix the secret or the key`,
      );
    },
    forget({ secret }) {
      const cached = cache.get(secret);
      if (cached !== undefined) cache.set(secret, { ...cached, readAt: -Infinity, triedAt: -Infinity });
    },
  };
}

function isUsable({ readAt, triedAt }: CachedSecret, maxAgeSeconds: number, now: number): boolean {
  // The second condition: a retry has just failed.
  return now < readAt + maxAgeSeconds * 1000 || (triedAt > readAt && now < triedAt + retrySeconds * 1000);
}
