// The clusters table: its cache, and its sources in files and in Systems Manager. Excluded: S3 (s3-table.test.ts), many
// environments (table-load.test.ts) and connecting (connect.test.ts).

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetParametersByPathCommand, SSMClient } from '@aws-sdk/client-ssm';
import { mockClient } from 'aws-sdk-client-mock';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type ClusterSource,
  createClusterRegistry,
  type FailedTableRead,
} from '../../../src/clusters/registry/registry.ts';
import { createFileSource, openClusterSource } from '../../../src/clusters/registry/source.ts';
import { createSsmSource } from '../../../src/clusters/registry/ssm-source.ts';
import { UserError } from '../../../src/core/errors.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { movedClock } from '../../support/moved-clock.ts';

/** Without access to AWS. */
const unreachableAws = {
  region: () => expect.unreachable(),
  credentials: () => expect.unreachable(),
  now: () => expect.unreachable(),
};
const entry = (token: string) => ({ server: 'https://host:6443', access: { type: 'token', token } });

function createFixture(entries: Record<string, unknown> = {}) {
  const { now, later } = movedClock();
  const state = { entries, reads: 0, failing: false };
  const source: ClusterSource = {
    refreshSeconds: 60,
    read: async () => {
      state.reads += 1;
      if (state.failing) throw new Error('the source is unavailable');
      return { type: 'table', entries: new Map(Object.entries(state.entries)) };
    },
  };
  const failures: FailedTableRead[] = [];
  const onFailedRead = (failed: FailedTableRead) => void failures.push(failed);
  const wait = async (seconds: number) => later(seconds);
  const table = createClusterRegistry(source, { now, random: () => 0.5, onFailedRead, wait });
  return { state, now, later, table, failures };
}

describe('the clusters table', () => {
  it('the clusters table caches an entry for a minute', async () => {
    const { state, later, table } = createFixture({ a: entry('1') });
    await Promise.all([table.get('a'), table.get('a')]);
    state.entries = { a: entry('2') };
    later(59);
    expect(await table.get('a')).toMatchObject(entry('1'));
    expect(state.reads).toBe(1);
    later(1);
    expect(await table.get('a')).toMatchObject(entry('2'));
  });

  it('a name that the table does not have is unknown only after a read since, and such reads are a second apart', async () => {
    const { state, now, later, table } = createFixture();
    expect(await table.get('a')).toBeUndefined();
    state.entries = { a: entry('1') };
    later(0.1);
    const from = now().getTime();
    expect(await Promise.all([table.get('a'), table.get('a')])).toMatchObject([entry('1'), entry('1')]);
    expect(now().getTime() - from).toBeGreaterThanOrEqual(900);
    expect(state.reads).toBe(2);
    later(5);
    expect(await table.get('b')).toBeUndefined();
    expect(state.reads).toBe(3);
  });

  it('a lookup of an unknown name during a read takes a second, also if the clock is set back by an hour meanwhile', async () => {
    const { state, now, later, table } = createFixture();
    const listing = table.list();
    later(0.5);
    const found = table.get('a');
    later(-3_600);
    const from = now().getTime();
    expect(await found).toBeUndefined();
    expect(now().getTime() - from).toBeLessThanOrEqual(1_000);
    expect([await listing, state.reads]).toEqual([[], 2]);
  });

  it('the clusters table is read at once after the clock was set back by an hour', async () => {
    const { state, later, table } = createFixture();
    await table.list();
    table.forget('a');
    await table.list();
    state.entries = { a: entry('1') };
    later(-3_600);
    expect(await table.get('a')).toMatchObject(entry('1'));
    table.forget('a');
    state.entries = { a: entry('2') };
    later(15);
    expect(await table.get('a')).toMatchObject(entry('2'));
  });

  it('the clusters table keeps its entries while the source is unavailable, reports their age, and throws for others', async () => {
    const { state, later, table, failures } = createFixture({ a: entry('1') });
    await table.get('a');
    state.failing = true;
    for (let minute = 1; minute <= 60; minute += 1) {
      later(60);
      expect(await table.get('a')).toMatchObject(entry('1'));
    }
    expect(failures.map(({ ageMs }) => ageMs)).toEqual(Array.from({ length: 60 }, (_, index) => (index + 1) * 60_000));
    expect(table.failure()?.message).toBe('the source is unavailable');
    later(5);
    await expect(table.get('b')).rejects.toThrow('unavailable');
    state.failing = false;
    later(5);
    expect(await table.get('b')).toBeUndefined();
    expect(table.failure()).toBeUndefined();
  });

  it('the clusters table without a first read retries after a second, and reports how long it cannot be read', async () => {
    const { state, later, table, failures } = createFixture({ a: entry('1') });
    state.failing = true;
    await expect(table.get('a')).rejects.toThrow('unavailable');
    later(1);
    await expect(table.get('a')).rejects.toThrow('unavailable');
    state.failing = false;
    await expect(table.get('a')).rejects.toThrow('unavailable');
    expect(failures).toMatchObject([{ ageMs: 0 }, { ageMs: 1_000 }]);
    later(1);
    expect(await table.get('a')).toMatchObject(entry('1'));
  });

  it('the clusters table is read again at once after rejected credentials, and then once in 15 s', async () => {
    const { state, later, table } = createFixture({ a: entry('1'), b: entry('1') });
    await table.get('a');
    state.entries = { a: entry('2') };
    table.forget('a');
    expect(await table.get('a')).toMatchObject(entry('2'));
    for (let second = 0; second < 14; second += 1) {
      later(1);
      table.forget(second % 2 === 0 ? 'a' : 'b');
      await table.get('a');
    }
    expect(state.reads).toBe(2);
    later(1);
    await table.get('a');
    expect(state.reads).toBe(3);
  });

  it('the clusters table is read early again 15 s after many keys had rejected credentials at once', async () => {
    const { state, later, table } = createFixture({ a: entry('1') });
    for (let keys = 0; keys < 10; keys += 1) table.forget('a');
    await table.get('a');
    later(15);
    table.forget('a');
    await table.get('a');
    expect(state.reads).toBe(2);
  });

  it.each([
    ['token', false],
    ['kubeconfig', true],
  ])('the clusters table accepts an entry without a server whose secret holds a %s: %s', async (holds, accepted) => {
    const { table } = createFixture({ a: { access: { type: 'secret', secret: 'outrigger/a', holds } } });
    const got = table.get('a');
    if (accepted) expect(await got).toMatchObject({ access: { holds, maxAgeSeconds: 300 } });
    else await expect(got).rejects.toThrow('server is missing');
  });

  it('the clusters table lists all names with one read, and an invalid entry affects only itself', async () => {
    const { state, table } = createFixture({ b: { access: { type: 'token', token: 'secret' } }, a: entry('1') });
    expect(await table.list()).toEqual(['a', 'b']);
    expect(await table.get('a')).toMatchObject(entry('1'));
    await expect(table.get('b')).rejects.toThrow('cluster "b": server is missing');
    expect(state.reads).toBe(1);
  });

  it('the clusters table does not list an entry whose name no message may have, and reports it', async () => {
    const { table } = createFixture({ a: entry('1'), 'prod eu': entry('2'), 'a:b': entry('3') });
    expect(await table.list()).toEqual(['a']);
    const advice = 'not a name of letters, digits, - _ and . (at most 100); rename it in the clusters table';
    expect(await table.misnamed()).toEqual([`cluster "a:b": ${advice}`, `cluster "prod eu": ${advice}`]);
  });

  it('the clusters table lists the watchers of all entries, invalid ones included, and reads them again with the table', async () => {
    const watched = (...ids: readonly unknown[]) => ({ watchers: ids.map((id) => ({ arn: 'arn', id })) });
    const { state, later, table } = createFixture({
      a: watched('AROA1'),
      b: watched('AROA1', 'AROA2', 7),
      c: 'x',
      d: { watchers: 1 },
    });
    expect([...(await table.watchers())]).toEqual(['AROA1', 'AROA2']);
    state.entries = { a: watched('AROA3') };
    later(60);
    expect([...(await table.watchers())]).toEqual(['AROA3']);
    expect(state.reads).toBe(2);
  });

  it.each([
    '',
    '../a',
    'a/b',
    'x'.repeat(101),
    '.a',
  ])('the clusters table rejects the name %j without a read', async (name) => {
    const { state, table } = createFixture();
    expect(await table.get(name)).toBeUndefined();
    expect(state.reads).toBe(0);
  });

  const eks = (cluster: string, region: string) => ({
    server: 'https://host',
    access: { type: 'eks', cluster, region },
  });
  it.each<[string, unknown, string]>([
    ['null', null, 'the entry'],
    ['an unknown field', { ...entry('secret'), tokn: 'secret' }, 'tokn'],
    ['an unknown access', { server: 'https://host', access: { type: 'magic' } }, 'access.type'],
    ['a region that would lead elsewhere', eks('prod', 'eu-central-1.example.com/'), 'access.region'],
    ['a name that EKS does not have', eks('a\r\nb', 'eu-central-1'), 'access.cluster'],
    ['a secret without holds', { server: 'https://host', access: { type: 'secret', secret: 'x' } }, 'access.holds'],
    ['a missing token', { server: 'https://host', access: { type: 'token' } }, 'access.token'],
  ])('the clusters table throws a UserError with cluster and field, and no value, for %s', async (_, value, field) => {
    const { table } = createFixture({ a: value });
    const error: unknown = await table.get('a').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UserError);
    expect(String(error)).toBe(
      `UserError: cluster "a": ${field} missing, unknown or of the wrong type; fix its entry in the clusters table`,
    );
  });
});

describe('createFileSource', () => {
  const write = (text: string) => {
    const file = join(temporaryFolder(), 'clusters.json');
    writeFileSync(file, text);
    return file;
  };

  it('createFileSource reads a table from a path and from a URL', async () => {
    const table = { a: entry('1'), b: entry('2') };
    const file = write(JSON.stringify(table));
    const read = { type: 'table', entries: new Map(Object.entries(table)) };
    for (const place of [file, `file:${file}`, `file://${file}`])
      expect(await openClusterSource(place, unreachableAws).read()).toEqual(read);
  });

  it('createFileSource throws an error that does not quote the file if it is missing or invalid', async () => {
    await expect(createFileSource('/nowhere/x').read()).rejects.toThrow('/nowhere/x: cannot be read');
    await expect(createFileSource(write('{"token": secret')).read()).rejects.toThrow(
      /^clusters table .+: not a JSON object of entries by name$/,
    );
  });
});

describe('createSsmSource', () => {
  const create = () => {
    const ssm = new SSMClient({ region: 'eu-central-1' });
    return { mock: mockClient(ssm), source: createSsmSource(ssm, '/outrigger/dev/clusters') };
  };
  const Path = '/outrigger/dev/clusters/';
  const first = { Name: `${Path}a`, Value: JSON.stringify(entry('1')) };

  it('createSsmSource reads all parameters with one request, decrypted; invalid JSON becomes null', async () => {
    const { mock, source } = create();
    mock.on(GetParametersByPathCommand, { Path, WithDecryption: true, MaxResults: 10 }).resolves({
      Parameters: [first, { Name: `${Path}b`, Value: 'secret' }],
    });
    const entries = new Map<string, unknown>(Object.entries({ a: entry('1'), b: null }));
    expect(await source.read()).toEqual({ type: 'table', entries });
    expect(mock.calls()).toHaveLength(1);
  });

  it('createSsmSource without parameters is no table: a lookup fails, and the last good table stays in use', async () => {
    const { mock, source } = create();
    const { now, later } = movedClock();
    const open = () => createClusterRegistry({ ...source, refreshSeconds: 60 }, { now, random: () => 0.5 });
    mock.on(GetParametersByPathCommand).resolves({});
    const cold = open();
    await expect(cold.list()).rejects.toThrow('ssm:/outrigger/dev/clusters/: has no parameters');
    await expect(cold.get('a')).rejects.toThrow('ssm:/outrigger/dev/clusters/: has no parameters');
    mock
      .reset()
      .on(GetParametersByPathCommand)
      .resolvesOnce({ Parameters: [first] })
      .resolves({});
    const warm = open();
    await warm.list();
    later(60);
    expect(await warm.get('a')).toMatchObject(entry('1'));
    expect(mock.calls()).toHaveLength(2);
  });

  it('createSsmSource fails when its credential provider hangs', async () => {
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.timeout(10));
    onTestFinished(() => void vi.restoreAllMocks());
    const credentials = () => new Promise<never>(() => undefined);
    const source = createSsmSource(new SSMClient({ region: 'eu-central-1', credentials }), '/outrigger/dev/clusters');
    await expect(source.read()).rejects.toThrow('no response within 5 s');
  });

  it('createSsmSource refuses more than ten clusters, and names the way to S3', async () => {
    const { mock, source } = create();
    mock.on(GetParametersByPathCommand).resolves({ Parameters: [], NextToken: 'more' });
    await expect(source.read()).rejects.toThrow('more than 10 clusters; copy it to S3 with outrigger clusters migrate');
  });
});
