// The clusters table: what is remembered and for how long, and its two sources. Excluded: connecting (connect.test.ts).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetParameterCommand, GetParametersByPathCommand, ParameterNotFound, SSMClient } from '@aws-sdk/client-ssm';
import { mockClient } from 'aws-sdk-client-mock';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConnectionProblem } from '../../../src/clusters/connection-problem.ts';
import { createFileSource } from '../../../src/clusters/file-source.ts';
import { openClusterSource } from '../../../src/clusters/open-source.ts';
import { createSsmSource } from '../../../src/clusters/registry/ssm-source.ts';
import { type ClusterSource, createClusterTable } from '../../../src/clusters/table.ts';

const entry = (token: string) => ({ server: 'https://host:6443', access: { type: 'token', token } });

function createWorld(entries: Record<string, unknown> = {}) {
  const world = { entries, reads: 0, failing: false, now: new Date('2026-01-01T00:00:00Z') };
  const check = () => {
    world.reads += 1;
    if (world.failing) throw new Error('the source is away');
  };
  const source: ClusterSource = {
    read: async (name) => {
      check();
      return world.entries[name];
    },
    readAll: async () => {
      check();
      return new Map(Object.entries(world.entries));
    },
  };
  const later = (seconds: number) => {
    world.now = new Date(world.now.getTime() + seconds * 1000);
  };
  return { world, later, table: createClusterTable(source, { now: () => world.now }) };
}

describe('the table', () => {
  it('remembers an entry for a minute', async () => {
    const { world, later, table } = createWorld({ a: entry('1') });
    await Promise.all([table.get('a'), table.get('a')]);
    world.entries = { a: entry('2') };
    later(59);
    expect(await table.get('a')).toMatchObject(entry('1'));
    expect(world.reads).toBe(1);
    later(1);
    expect(await table.get('a')).toMatchObject(entry('2'));
  });

  it('remembers for 5 s that a name is not there', async () => {
    const { world, later, table } = createWorld();
    expect(await table.get('a')).toBeUndefined();
    world.entries = { a: entry('1') };
    later(4);
    expect(await table.get('a')).toBeUndefined();
    later(1);
    expect(await table.get('a')).toMatchObject(entry('1'));
  });

  it('keeps what it knew while the source is away, and says so where it knew nothing', async () => {
    const { world, later, table } = createWorld({ a: entry('1') });
    await table.get('a');
    world.failing = true;
    later(61);
    expect(await table.get('a')).toMatchObject(entry('1'));
    await expect(table.get('b')).rejects.toThrow('away');
    world.failing = false;
    expect(await table.get('b')).toBeUndefined();
  });

  it('forgets on request', async () => {
    const { world, table } = createWorld({ a: entry('1') });
    await table.get('a');
    world.entries = { a: entry('2') };
    table.forget('a');
    expect(await table.get('a')).toMatchObject(entry('2'));
  });

  it.each([
    ['a token', 'token', false],
    ['a kubeconfig', 'kubeconfig', true],
  ])('a secret that holds %s, without a server, is taken: %s, %s', async (_, holds, taken) => {
    const { table } = createWorld({ a: { access: { type: 'secret', secret: 'outrigger/a', holds } } });
    const got = table.get('a');
    if (taken) expect(await got).toMatchObject({ access: { holds, maxAgeSeconds: 300 } });
    else await expect(got).rejects.toThrow('server is missing');
  });

  it('lists all names with one reading, and a broken entry harms none but its own', async () => {
    const { world, table } = createWorld({ b: { access: { type: 'token', token: 'secret' } }, a: entry('1') });
    expect(await table.list()).toEqual(['a', 'b']);
    expect(await table.get('a')).toMatchObject(entry('1'));
    await expect(table.get('b')).rejects.toThrow('cluster "b": server is missing');
    expect(world.reads).toBe(1);
  });

  it.each(['', '../a', 'a/b', 'x'.repeat(101), '.a'])('%j is no name, and is not asked for', async (name) => {
    const { world, table } = createWorld();
    expect(await table.get(name)).toBeUndefined();
    expect(world.reads).toBe(0);
  });

  it.each<[string, unknown, string]>([
    ['nothing', null, 'the entry'],
    ['an unknown field', { ...entry('secret'), tokn: 'secret' }, 'tokn'],
    ['an unknown access', { server: 'https://host', access: { type: 'magic' } }, 'access.type'],
    [
      'a region that would lead elsewhere',
      { server: 'https://host', access: { type: 'eks', cluster: 'prod', region: 'eu-central-1.example.com/' } },
      'access.region',
    ],
    [
      'a name that EKS does not have',
      { server: 'https://host', access: { type: 'eks', cluster: 'a\r\nb', region: 'eu-central-1' } },
      'access.cluster',
    ],
    ['a secret of nothing', { server: 'https://host', access: { type: 'secret', secret: 'x' } }, 'access.holds'],
    ['no token', { server: 'https://host', access: { type: 'token' } }, 'access.token'],
  ])('an entry with %s is a problem that names cluster and field, and quotes nothing', async (_, value, field) => {
    const { table } = createWorld({ a: value });
    const error: unknown = await table.get('a').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectionProblem);
    expect(String(error)).toBe(
      `ConnectionProblem: cluster "a": ${field} missing, unknown or of the wrong type; mend its entry in the clusters table`,
    );
  });
});

describe('a file', () => {
  const write = (text: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'outrigger-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'clusters.json');
    writeFileSync(file, text);
    return file;
  };

  it('is a table, as a path and as a URL', async () => {
    const file = write(JSON.stringify({ a: entry('1'), b: entry('2') }));
    for (const place of [file, `file:${file}`, `file://${file}`]) {
      const source = openClusterSource(place, () => expect.unreachable());
      expect(await source.read('a')).toEqual(entry('1'));
      expect(await source.read('c')).toBeUndefined();
      expect([...(await source.readAll()).keys()]).toEqual(['a', 'b']);
    }
  });

  it('that is not there or no table is a problem that does not quote it', async () => {
    await expect(createFileSource('/nowhere/x').read('a')).rejects.toThrow('/nowhere/x: cannot be read');
    await expect(createFileSource(write('{"token": secret')).read('a')).rejects.toThrow(
      /^clusters table .+: not a JSON object of entries by name$/,
    );
  });
});

describe('Systems Manager', () => {
  const create = () => {
    const ssm = new SSMClient({ region: 'eu-central-1' });
    return { mock: mockClient(ssm), source: createSsmSource(ssm, '/outrigger/dev/clusters') };
  };

  it('is read by name, decrypted', async () => {
    const { mock, source } = create();
    mock
      .on(GetParameterCommand, { Name: '/outrigger/dev/clusters/a', WithDecryption: true })
      .resolves({ Parameter: { Value: JSON.stringify(entry('1')) } });
    expect(await source.read('a')).toEqual(entry('1'));
  });

  it('a parameter that is not there is no entry; one that is no JSON is a broken one; a refusal is an error', async () => {
    const { mock, source } = create();
    mock
      .on(GetParameterCommand)
      .rejectsOnce(new ParameterNotFound({ message: '', $metadata: {} }))
      .resolvesOnce({ Parameter: { Value: 'secret' } })
      .rejects(new Error('AccessDenied'));
    expect(await source.read('a')).toBeUndefined();
    expect(await source.read('a')).toBeNull();
    await expect(source.read('a')).rejects.toThrow('AccessDenied');
  });

  it('is listed to the last page', async () => {
    const { mock, source } = create();
    const Path = '/outrigger/dev/clusters/';
    mock
      .on(GetParametersByPathCommand, { Path, WithDecryption: true })
      .resolvesOnce({ Parameters: [{ Name: `${Path}a`, Value: '{}' }], NextToken: 'more' });
    mock
      .on(GetParametersByPathCommand, { Path, NextToken: 'more' })
      .resolvesOnce({ Parameters: [{ Name: `${Path}b`, Value: '{}' }] });
    expect([...(await source.readAll()).keys()]).toEqual(['a', 'b']);
  });
});
