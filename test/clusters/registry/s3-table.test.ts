// The clusters table as an object in S3: conditional reads by our own signature, and failures. Excluded: a real
// implementation of S3 (test/deploy/calls.test.ts) and writes by the command (test/cli/clusters).
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { createClusterRegistry } from '../../../src/clusters/registry/registry.ts';
import { createS3Object, parseS3Location } from '../../../src/clusters/registry/s3-object.ts';
import { openClusterSource } from '../../../src/clusters/registry/source.ts';
import { UserError } from '../../../src/core/errors.ts';
import { movedClock } from '../../support/moved-clock.ts';
import { type FakeS3, startFakeS3 } from './s3-server.ts';

const keys = { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'not-a-secret', sessionToken: 'session' };
const entry = (token: string) => ({ server: 'https://host:6443', access: { type: 'token', token } });

let s3: FakeS3;
beforeEach(async () => {
  s3 = await startFakeS3();
  onTestFinished(() => s3.close());
});

function open(credentials = async () => keys) {
  const { now, later } = movedClock('2026-06-01T00:00:00Z');
  const source = openClusterSource('s3://bucket/clusters.json', {
    credentials,
    credentialsSeconds: 0.1,
    now,
    s3Endpoint: s3.url,
    region: async () => 'eu-central-1',
  });
  const table = createClusterRegistry(source, { now, random: () => 0.5, wait: async (seconds) => later(seconds) });
  return { table, later };
}

it('the table is one signed read, and a read without content while it is unchanged', async () => {
  s3.object = JSON.stringify({ a: entry('1'), b: entry('2') });
  const { table, later } = open();
  expect(await table.get('a')).toMatchObject(entry('1'));
  expect(await table.get('b')).toMatchObject(entry('2'));
  later(60);
  expect(await table.list()).toEqual(['a', 'b']);
  expect(s3.requests.map(({ status }) => status)).toEqual([200, 304]);
  expect(s3.requests[0]?.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=ASIAEXAMPLE\/20260601\/eu-central-1\/s3\/aws4_request, SignedHeaders=[^ ]*host;x-amz-content-sha256;x-amz-date;x-amz-security-token, /,
  );
  s3.object = JSON.stringify({ a: entry('3') });
  later(60);
  expect(await table.get('a')).toMatchObject(entry('3'));
  expect(await table.get('b')).toBeUndefined();
});

it('D2: a table that does not exist is not an empty one: lists and lookups fail, and no key becomes a dead letter', async () => {
  const { table } = open();
  const missing =
    'clusters table s3://bucket/clusters.json: does not exist; put it back, or add the first cluster with outrigger clusters add';
  for (const read of [() => table.list(), () => table.misnamed(), () => table.get('a')])
    await expect(read()).rejects.toThrow(missing);
});

it.each<[string, Partial<typeof s3>, RegExp]>([
  ['a deletion with versions', { object: undefined, wasDeleted: true }, /was deleted; delete its delete marker/],
  ['a deletion without versions', { object: undefined, wasDeleted: false }, /does not exist/],
  ['a switch to another protocol', { fails: 101 }, /the server switched to another protocol \(101\)/],
  [
    'a write that does not parse',
    { object: '{"a": planted-secret' },
    /^clusters table s3:\/\/bucket\/clusters\.json: not a JSON object of entries by name$/,
  ],
])('after %s, the last good table stays in use, and a lookup of another cluster fails', async (_, fault, error) => {
  s3.object = JSON.stringify({ a: entry('1') });
  const { table, later } = open();
  await table.list();
  Object.assign(s3, fault);
  later(60);
  expect(await table.list()).toEqual(['a']);
  expect(await table.get('a')).toMatchObject(entry('1'));
  expect(table.failure()?.message).toMatch(error);
  await expect(table.get('b')).rejects.toThrow(error);
});

it('a table that was deleted before the first read cannot be read, so that its clusters are neither unknown nor none', async () => {
  s3.wasDeleted = true;
  const { table, later } = open();
  await expect(table.get('a')).rejects.toThrow('was deleted');
  await expect(table.list()).rejects.toThrow('was deleted');
  s3.object = JSON.stringify({ a: entry('1') });
  s3.wasDeleted = false;
  later(1);
  expect(await table.get('a')).toMatchObject(entry('1'));
  expect(await table.get('b')).toBeUndefined();
});

it('a read whose credential provider hangs fails, and the last good table stays in use', async () => {
  s3.object = JSON.stringify({ a: entry('1') });
  let credentials = async () => keys;
  const { table, later } = open(async () => await credentials());
  await table.list();
  credentials = () => new Promise(() => undefined);
  later(60);
  expect(await table.get('a')).toMatchObject(entry('1'));
  expect(String(table.failure())).toContain('no AWS credentials (none within 0.1 s)');
});

it('the first read is tried three times, a later one once', async () => {
  s3.fails = 503;
  const { table, later } = open();
  await expect(table.get('a')).rejects.toThrow('S3 answered 503 (Fault)');
  expect(s3.requests).toHaveLength(3);
  s3.fails = undefined;
  s3.object = JSON.stringify({ a: entry('1') });
  later(1);
  await table.get('a');
  s3.fails = 503;
  later(60);
  expect(await table.get('a')).toMatchObject(entry('1'));
  expect(s3.requests).toHaveLength(5);
});

it('the first read is tried again when its credential provider fails, but not when it hangs', async () => {
  s3.object = JSON.stringify({ a: entry('1') });
  const hang = async () => await new Promise<never>(() => undefined);
  const fail = async () => await Promise.reject<never>(new Error('socket hang up'));
  const openWith = (...attempts: readonly (() => Promise<typeof keys>)[]) => {
    const left = [...attempts];
    return open(async () => await (left.shift() ?? (async () => keys))()).table;
  };
  expect(await openWith(fail, fail).get('a')).toMatchObject(entry('1'));
  await expect(openWith(hang).get('a')).rejects.toThrow('no AWS credentials (none within 0.1 s)');
});

it.each([
  [403, 'allow s3:GetObject on the object and s3:ListBucket on its bucket'],
  [404, 'create the bucket, or correct its name'],
  [301, 'the bucket is in another region, use one in the region of the functions'],
  [403, 'set the clock of this machine', 'RequestTimeTooSkewed'],
  [403, 'use valid credentials of AWS', 'InvalidAccessKeyId'],
])('a response %i is a UserError that says %s, and is not tried again', async (status, advice, code = 'Fault') => {
  s3.fails = status;
  s3.code = code;
  const { table } = open();
  const error: unknown = await table.get('a').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UserError);
  expect(String(error)).toContain(advice);
  expect(s3.requests).toHaveLength(1);
});

const put = async (status: number, etag?: string) => {
  const aws = { region: async () => 'us-east-1', credentials: async () => keys, now: () => new Date() };
  s3.fails = status;
  return await createS3Object({ bucket: 'bucket', key: 'clusters.json' }, { ...aws, s3Endpoint: s3.url }).put(
    '{}',
    etag,
  );
};

it('a refused write names the permission of a write, and one to no bucket the bucket', async () => {
  await expect(put(403)).rejects.toThrow('allow s3:PutObject on the object');
  await expect(put(404)).rejects.toThrow('create the bucket');
});

it.each([
  ['another version is there', 412],
  ['another write is in progress', 409],
  ['it was deleted', 404],
])('a table is not written if %s', async (_, status) => {
  expect(await put(status, '"1"')).toBe(false);
});

it.each([
  's3://bucket',
  's3://Bucket/a.json',
  's3:///a.json',
  's3://bucket/a?b',
  's3://bucket/a b',
])('parseS3Location refuses %s', (location) => {
  expect(() => parseS3Location(location)).toThrow('give one like s3://bucket/clusters.json');
});
