// Only the clusters table on an implementation of S3 that is not ours (moto): conditional reads and writes.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EmulatedAccount, startEmulatedAccount } from './emulated-account.ts';
import { createTableBucket, openTableObject } from './emulated-table.ts';

let aws: EmulatedAccount;
beforeAll(async () => {
  aws = await startEmulatedAccount();
  await createTableBucket(bucket());
});
afterAll(async () => await aws?.close());

const bucket = () => ({ ...aws.client, aws: aws.client.endpoint });

it('a table is created once, read only after a change, and never overwritten by a writer with an old version', async () => {
  const object = openTableObject(bucket());
  expect(await object.get()).toEqual({ type: 'missing' });
  expect(await object.put('{}', undefined)).toBe(true);
  expect(await object.put('{"lost": {}}', undefined)).toBe(false);
  const first = await object.get();
  if (first.type !== 'object') throw new Error(first.type);
  expect(first.text).toBe('{}');
  expect(await object.get(first.etag)).toEqual({ type: 'unchanged' });
  expect(await object.put('{"a": {}}', first.etag)).toBe(true);
  expect(await object.put('{"lost": {}}', first.etag)).toBe(false);
  expect(await object.get(first.etag)).toMatchObject({ type: 'object', text: '{"a": {}}' });
});
