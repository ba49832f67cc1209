// Many objects at rest in little time, for figures that need them there: one is made as it should be through the API server, the others
// are copies of it in etcd.

import { isRecord } from '../src/kube/record.ts';
import type { PlainApi } from '../tools/chaos/plain-api.ts';

const merge = { 'content-type': 'application/merge-patch+json' };
const patience = { attempts: 300, milliseconds: 200 };

/** Resolves when the API server serves a kind: some time after it has called its definition established. Throws when it does not in a minute. */
export async function untilServed(api: PlainApi, collection: string): Promise<void> {
  for (let attempt = 0; attempt < patience.attempts; attempt += 1) {
    if ((await api.call('GET', `${collection}?limit=1`)).status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, patience.milliseconds));
  }
  throw new Error(`${collection} is not served`);
}

/** Creates an object, with a status where one is given, and returns its uid. Throws what the API server refuses. */
export async function create(api: PlainApi, collection: string, body: object, status?: object): Promise<string> {
  const { status: code, body: said } = await api.call('POST', collection, body);
  const metadata = isRecord(said) && isRecord(said.metadata) ? said.metadata : {};
  if (code >= 300 || typeof metadata.uid !== 'string') {
    throw new Error(`POST ${collection}: ${code} ${JSON.stringify(said)}`);
  }
  if (status === undefined) return metadata.uid;
  const patched = await api.call('PATCH', `${collection}/${String(metadata.name)}/status`, { status }, merge);
  if (patched.status >= 300) throw new Error(`PATCH ${collection}: ${patched.status} ${JSON.stringify(patched.body)}`);
  return metadata.uid;
}

/**
 * Resolves when the API server serves so many objects of a collection of the whole cluster, from its cache as well, which is some seconds
 * behind etcd after so many. Throws when it does not in some minutes.
 */
export async function served(api: PlainApi, collection: string, objects: number): Promise<void> {
  for (let attempt = 0; attempt < patience.attempts; attempt += 1) {
    const { body } = await api.call('GET', `${collection}?limit=1`);
    const metadata = isRecord(body) && isRecord(body.metadata) ? body.metadata : {};
    if (Number(metadata.remainingItemCount ?? 0) + 1 === objects) {
      const atLeast = `resourceVersion=${String(metadata.resourceVersion)}&resourceVersionMatch=NotOlderThan`;
      const cached = await api.call('GET', `${collection}?${atLeast}&fieldSelector=metadata.name%3Dnobody`);
      if (cached.status === 200) return;
    }
    await new Promise((resolve) => setTimeout(resolve, patience.milliseconds));
  }
  throw new Error(`${collection} does not get ${objects} objects`);
}

/** Writes a number in so many digits. */
export function digits(number: number, count: number): string {
  return String(number).padStart(count, '0');
}
