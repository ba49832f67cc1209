// Secrets by reference: read when they are needed, remembered for as long as whoever refers to them allows, and read again at
// once when they were refused, because then they have been replaced.
import { toError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import type { SecretReader } from '../api/secret.ts';
import { isRecord } from '../kube/record.ts';
import { ConnectionProblem } from './connection-problem.ts';
import type { GetSecret } from './auth/secrets-manager.ts';

/** While Secrets Manager is away, it is asked this often. */
const AGAIN_SECONDS = 5;

type Remembered = { readonly text: string; readonly readAt: number; readonly askedAt: number };

/**
 * Creates a reader. While Secrets Manager is away, what was known stays in use, however old: whoever gets it checks it too, and the
 * clusters must not all be lost with one service. A secret that was taken away is not used again.
 */
export function createSecretReader({
  now,
  getSecret,
}: {
  readonly now: () => Date;
  readonly getSecret?: GetSecret;
}): SecretReader {
  const remembered = new Map<string, Remembered>();
  const running = new Map<string, Promise<string>>();
  let source = getSecret;

  async function fetch(secret: string, where: string): Promise<string> {
    const known = remembered.get(secret);
    try {
      source ??= (await import('./auth/secrets-manager.ts')).createGetSecret();
      const text = await source(secret, where);
      const at = now().getTime();
      remembered.set(secret, { text, readAt: at, askedAt: at });
      return text;
    } catch (error) {
      if (error instanceof ConnectionProblem) {
        remembered.delete(secret);
        throw error;
      }
      if (known === undefined) {
        const why = `${where}: secret "${secret}" could not be read (${toError(error).message}); the next try asks again`;
        throw new ConnectionProblem(why, { cause: error });
      }
      remembered.set(secret, { ...known, askedAt: now().getTime() });
      return known.text;
    }
  }

  async function textOf(secret: string, maxAgeSeconds: number, where: string): Promise<string> {
    const known = remembered.get(secret);
    if (known !== undefined && isUsable(known, maxAgeSeconds, now().getTime())) return known.text;
    const fetching = running.get(secret) ?? fetch(secret, where).finally(() => running.delete(secret));
    running.set(secret, fetching);
    return await fetching;
  }

  return {
    async read({ secret, key, maxAgeSeconds }, where) {
      const text = await textOf(secret, maxAgeSeconds, where);
      if (key === undefined) return text;
      const value = parseJson(text);
      const one = isRecord(value) ? value[key] : undefined;
      if (typeof one === 'string' && one !== '') return one;
      throw new ConnectionProblem(
        `${where}: secret "${secret}" is no JSON object with a text "${key}"; mend one of the two`,
      );
    },
    forget({ secret }) {
      const known = remembered.get(secret);
      if (known !== undefined) remembered.set(secret, { ...known, readAt: -Infinity, askedAt: -Infinity });
    },
  };
}

function isUsable({ readAt, askedAt }: Remembered, maxAgeSeconds: number, now: number): boolean {
  // The second: it was asked for in vain a moment ago.
  return now < readAt + maxAgeSeconds * 1000 || (askedAt > readAt && now < askedAt + AGAIN_SECONDS * 1000);
}
