// Copies of a stored object, written into etcd directly: hundreds of thousands in the time that the API server takes
// for some hundreds. The API server receives them as it receives writes of another API server.
import * as z from 'zod';
import { forEachConcurrently } from '../../src/core/async.ts';
import { callEtcd } from './call-etcd.ts';

/**
 * A copy: its key, and the texts of the original that are replaced in it. Both texts of a pair have the same length.
 */
export type ObjectCopy = {
  readonly key: string;
  readonly replacements: readonly (readonly [string, string])[];
};

/** etcd accepts at most 128 operations and 1.5 MB in a transaction. */
const copiesPerTransaction = 100;
/** The concurrency of single writes. */
const concurrentPuts = 16;

/** Options of the writes. */
export type PutCopiesOptions = {
  /**
   * Writes each copy in a transaction of its own, as the API server does. Copies of one transaction have the same
   * resourceVersion, and a watch that ends among them resumes after all of them. For objects that are created during a
   * watch.
   */
  readonly oneByOne?: boolean;
};

const range = z.object({ kvs: z.array(z.object({ value: z.string() })).length(1) });
const base64 = (text: string, encoding: 'latin1' | 'utf8' = 'utf8'): string =>
  Buffer.from(text, encoding).toString('base64');

/**
 * Writes copies of the object at a key. Objects may be stored as JSON or as protobuf, where the length of a text
 * precedes it, so a text is only replaced by one of the same length. Rejects for other lengths, and when the key does
 * not exist.
 */
export async function putCopies(
  socketPath: string,
  key: string,
  copies: readonly ObjectCopy[],
  { oneByOne = false }: PutCopiesOptions = {},
): Promise<void> {
  const { kvs } = range.parse(await callEtcd(socketPath, '/v3/kv/range', { key: base64(key) }));
  // Latin-1 has a character for every byte.
  const original = Buffer.from(kvs[0]?.value ?? '', 'base64').toString('latin1');
  const size = oneByOne ? 1 : copiesPerTransaction;
  const starts = Array.from({ length: Math.ceil(copies.length / size) }, (_, index) => index * size);
  await forEachConcurrently(oneByOne ? concurrentPuts : 1, starts, async (at) => {
    const success = copies.slice(at, at + size).map((copy) => ({
      requestPut: { key: base64(copy.key), value: base64(copyOf(original, copy), 'latin1') },
    }));
    await callEtcd(socketPath, '/v3/kv/txn', { success });
  });
}

function copyOf(original: string, { key, replacements }: ObjectCopy): string {
  return replacements.reduce((value, [from, to]) => {
    if (from.length !== to.length) throw new Error(`${key}: ${to} does not have the length of ${from}`);
    return value.replaceAll(from, to);
  }, original);
}
