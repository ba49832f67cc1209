// Copies of a stored object, put into etcd as a backup would be: hundreds of thousands in the time that the API server takes for some
// hundreds. It sees them come, as it sees whatever another API server writes.
import * as z from 'zod';
import { atATime } from '../../src/core/at-a-time.ts';
import { callEtcd } from './call-etcd.ts';

/** A copy: its key, and which texts of the original are others in it. Each pair is of the same length. */
export interface Copy {
  readonly key: string;
  readonly texts: readonly (readonly [string, string])[];
}

/** etcd takes 128 operations in a transaction, and one and a half megabytes. */
const copiesAtOnce = 100;
/** Of those that are put one by one: they are to be there before much has been done with them. */
const putsAtOnce = 16;

/** How they are put. */
export type Stamping = {
  /**
   * Each in a transaction of its own, as the API server would: those of one transaction have one resourceVersion, and a watch that ends
   * among them goes on behind all of them. For objects that come while somebody watches.
   */
  readonly oneByOne?: boolean;
};

const range = z.object({ kvs: z.array(z.object({ value: z.string() })).length(1) });
const base64 = (text: string, encoding: 'latin1' | 'utf8' = 'utf8'): string =>
  Buffer.from(text, encoding).toString('base64');

/**
 * Puts copies of what is stored at a key. Objects may be stored as JSON or as protobuf, where a text's length stands before it: so a text
 * is only replaced by one as long. Rejects for any other, and when nothing is stored at the key.
 */
export async function stampEtcd(
  socketPath: string,
  key: string,
  copies: readonly Copy[],
  { oneByOne = false }: Stamping = {},
): Promise<void> {
  const { kvs } = range.parse(await callEtcd(socketPath, '/v3/kv/range', { key: base64(key) }));
  // Latin 1 has a character for every byte.
  const original = Buffer.from(kvs[0]?.value ?? '', 'base64').toString('latin1');
  const size = oneByOne ? 1 : copiesAtOnce;
  const starts = Array.from({ length: Math.ceil(copies.length / size) }, (_, index) => index * size);
  await atATime(oneByOne ? putsAtOnce : 1, starts, async (at) => {
    const success = copies.slice(at, at + size).map((copy) => ({
      requestPut: { key: base64(copy.key), value: base64(stamped(original, copy), 'latin1') },
    }));
    await callEtcd(socketPath, '/v3/kv/txn', { success });
  });
}

function stamped(original: string, { key, texts }: Copy): string {
  return texts.reduce((value, [from, to]) => {
    if (from.length !== to.length) throw new Error(`${key}: ${to} is not as long as ${from}`);
    return value.replaceAll(from, to);
  }, original);
}
