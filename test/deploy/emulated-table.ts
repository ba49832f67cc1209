// The clusters table in S3 on the emulated AWS, written by the product's own requests.
import { createS3Object } from '../../src/clusters/registry/s3-object.ts';
import { parseTable } from '../../src/clusters/registry/source.ts';

/** The emulated AWS, and the credentials that it does not check. */
export type TableBucket = {
  readonly aws: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
};

const ownBucket = 'outrigger-clusters';
const key = 'clusters.json';
const location = `s3://${ownBucket}/${key}`;

/** Creates the bucket, and returns the location of the table. */
export async function createTableBucket({ aws }: TableBucket): Promise<string> {
  const response = await fetch(`${aws}/${ownBucket}`, { method: 'PUT' });
  if (!response.ok) throw new Error(`${ownBucket}: ${response.status} ${await response.text()}`);
  return location;
}

/** Opens the object of the table, in the bucket or in another one. */
export function openTableObject({ aws, region, credentials }: TableBucket, bucket = ownBucket) {
  const deps = { region: async () => region, credentials: async () => credentials, now: () => new Date() };
  return createS3Object({ bucket, key }, { ...deps, s3Endpoint: aws });
}

/** Changes the entries, again if another writer did so at the same time. */
export async function changeEntries(
  to: TableBucket,
  change: (entries: ReadonlyMap<string, unknown>) => ReadonlyMap<string, unknown>,
  bucket = ownBucket,
): Promise<void> {
  const object = openTableObject(to, bucket);
  for (let writes = 0; writes < 10; writes += 1) {
    const found = await object.get();
    const before = found.type === 'object' ? parseTable(location, found.text) : new Map<string, unknown>();
    const text = JSON.stringify(Object.fromEntries(change(before)));
    if (await object.put(text, found.type === 'object' ? found.etag : undefined)) return;
  }
  throw new Error(`${location} was changed at the same time, ten times`);
}
