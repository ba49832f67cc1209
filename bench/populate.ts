// Many converged objects in little time: one is created through the API server, the others are copies of it in etcd.

import { isRecord } from '../src/core/json.ts';
import type { PlainApi } from '../tools/chaos/plain-api.ts';

const merge = { 'content-type': 'application/merge-patch+json' };
const retries = { attempts: 300, milliseconds: 200 };

/**
 * Resolves when the API server serves a kind, which is some time after its definition is Established. Throws after a
 * minute.
 */
export async function untilServed(api: PlainApi, collection: string): Promise<void> {
  for (let attempt = 0; attempt < retries.attempts; attempt += 1) {
    if ((await api.call('GET', `${collection}?limit=1`)).status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, retries.milliseconds));
  }
  throw new Error(`${collection} is not served`);
}

/** Creates an object, with a status if given, and returns its uid. Throws the API server's error. */
export async function create(api: PlainApi, collection: string, body: object, status?: object): Promise<string> {
  const { status: code, body: created } = await api.call('POST', collection, body);
  const metadata = isRecord(created) && isRecord(created.metadata) ? created.metadata : {};
  if (code >= 300 || typeof metadata.uid !== 'string') {
    throw new Error(`POST ${collection}: ${code} ${JSON.stringify(created)}`);
  }
  if (status === undefined) return metadata.uid;
  const patched = await api.call('PATCH', `${collection}/${String(metadata.name)}/status`, { status }, merge);
  if (patched.status >= 300) throw new Error(`PATCH ${collection}: ${patched.status} ${JSON.stringify(patched.body)}`);
  return metadata.uid;
}

/**
 * Resolves when the API server serves this number of objects of a collection, also from its watch cache, which is some
 * seconds behind etcd after so many writes. Throws after some minutes.
 */
export async function untilObjectsServed(api: PlainApi, collection: string, objects: number): Promise<void> {
  for (let attempt = 0; attempt < retries.attempts; attempt += 1) {
    const { body } = await api.call('GET', `${collection}?limit=1`);
    const metadata = isRecord(body) && isRecord(body.metadata) ? body.metadata : {};
    if (Number(metadata.remainingItemCount ?? 0) + 1 === objects) {
      const atLeast = `resourceVersion=${String(metadata.resourceVersion)}&resourceVersionMatch=NotOlderThan`;
      const cached = await api.call('GET', `${collection}?${atLeast}&fieldSelector=metadata.name%3Dnobody`);
      if (cached.status === 200) return;
    }
    await new Promise((resolve) => setTimeout(resolve, retries.milliseconds));
  }
  throw new Error(`${collection} does not have ${objects} objects`);
}

/** Formats a number with this number of digits. */
export function digits(number: number, count: number): string {
  return String(number).padStart(count, '0');
}
