// `outrigger clusters list`, `add` and `remove` as a person runs them, on a table in S3 and in a file. Excluded: access
// (clusters.test.ts) and the functions' reads (test/clusters/registry).
import { writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { clustersCommand } from '@outrigger/cli/commands/clusters/clusters';
import { formatTable, maxTableBytes } from '@outrigger/cli/commands/clusters/edit-table';
import { changeTable } from '@outrigger/cli/commands/clusters/table';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type FakeIdentity, startFakeIdentity } from '../../clusters/auth/identity-server.ts';
import { type FakeS3, startFakeS3 } from '../../clusters/registry/s3-server.ts';
import { useFolder } from '../../support/folder.ts';
import { startAwsServices } from '../aws-services.ts';
import { type CommandResult, expectUserError, runHere } from '../command-result.ts';

const eks = (cluster: string) => ({
  server: `https://${cluster}`,
  access: { type: 'eks', cluster, region: 'us-east-1' },
});
const kubeconfig = (text: string) => ({ access: { type: 'kubeconfig', kubeconfig: text } });
const token = { server: 'https://lab', access: { type: 'token', token: 'planted-secret' } };
const s3Table = 's3://bucket/clusters.json';

let s3: FakeS3;
let iam: FakeIdentity;
const folder = useFolder();
beforeEach(async () => {
  s3 = await startFakeS3();
  iam = await startFakeIdentity();
});
afterEach(() => {
  s3.close();
  iam.close();
});

/** Runs the command on the table in S3. */
async function run(...argv: readonly string[]) {
  const environment = {
    AWS_ENDPOINT_URL_S3: s3.url,
    AWS_ENDPOINT_URL_IAM: iam.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'unused',
  };
  const table = argv.includes('--table') ? [] : ['--table', s3Table];
  return await runHere(clustersCommand(), [...argv, ...table], environment);
}

async function entryFile(entry: unknown): Promise<string> {
  await folder.write('entry.json', JSON.stringify(entry));
  return folder.at('entry.json');
}

/** Expects an error of one line, and that the table is unchanged. */
function expectRefused(result: CommandResult, message: string, before: string): void {
  expectUserError(result, message);
  expect(result.err.trim()).not.toContain('\n');
  expect(s3.object).toBe(before);
}
const tableOf = (entries: Readonly<Record<string, unknown>>) => formatTable(new Map(Object.entries(entries)));

describe('clusters add, list and remove', () => {
  it('an added cluster is in the table in S3 and in the list; one that is removed after it was decommissioned is not', async () => {
    for (const name of ['b', 'a'])
      expect(await run('add', name, await entryFile(eks(name)))).toMatchObject({ status: 0, err: '' });
    expect(JSON.parse(s3.object ?? '')).toEqual({ a: eks('a'), b: eks('b') });
    expect((await run('list')).out).toBe('a  eks  https://a\nb  eks  https://b\n');
    expectRefused(
      await run('remove', 'a'),
      `run outrigger clusters decommission a --table ${s3Table} first`,
      s3.object ?? '',
    );
    // The functions use no entry of a move that was prepared only.
    for (const unused of [{ decommissioning: true }, { movingFrom: { stage: 'prod' } }]) {
      s3.object = tableOf({ a: { ...eks('a'), ...unused }, b: eks('b') });
      expect(await run('remove', 'a')).toMatchObject({ status: 0, out: `${s3Table} has b\n` });
      expect(JSON.parse(s3.object ?? '')).toEqual({ b: eks('b') });
    }
  });

  it('a table that was deleted is not created again by a change, which would leave out its other clusters', async () => {
    s3.wasDeleted = true;
    for (const argv of [['list'], ['add', 'a', await entryFile(eks('a'))]])
      expectUserError(await run(...argv), `clusters table ${s3Table}: was deleted; delete its delete marker`);
    expect(s3.object).toBeUndefined();
  });

  it.each([
    'S3',
    'a file',
  ])('a change of a table in %s that another operator changed in between is refused, and undoes nothing', async (place) => {
    vi.stubEnv('AWS_ENDPOINT_URL_S3', s3.url).stubEnv('AWS_ACCESS_KEY_ID', 'x').stubEnv('AWS_SECRET_ACCESS_KEY', 'x');
    onTestFinished(() => void vi.unstubAllEnvs());
    const file = folder.at('clusters.json');
    s3.object = tableOf({ a: eks('a') });
    writeFileSync(file, s3.object);
    const other = tableOf({ a: eks('a'), b: eks('b') });
    const change = changeTable(place === 'S3' ? s3Table : file, { region: 'us-east-1' }, (entries) => {
      if (place === 'S3') s3.object = other;
      else writeFileSync(file, other);
      return new Map([...entries, ['c', eks('c')]]);
    });
    await expect(change).rejects.toThrow('was changed by another operator in the meantime; run this again');
    expect(place === 'S3' ? s3.object : await folder.read('clusters.json')).toBe(other);
  });

  it('a table in a file is written for its owner alone', async () => {
    const table = folder.at('clusters.json');
    expect(await run('add', 'lab', await entryFile(token), '--table', table)).toMatchObject({ status: 0 });
    expect(await folder.json('clusters.json')).toEqual({ lab: token });
    expect((await stat(table)).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['a name that is in the table', ['a', eks('a')], 'cluster "a": is in the table already; give --replace'],
    ['an entry with a typo', ['b', { ...eks('b'), sever: 'x' }], '/entry.json: cluster "b": sever missing, unknown'],
    ['an entry that is a list', ['b', []], '/entry.json: not a JSON object; give the entry of "b"'],
    ['a CA that is no PEM', ['b', { ...eks('b'), ca: 'A' }], '/entry.json: cluster "b": ca: no PEM certificate'],
    ['a kubeconfig that is none', ['b', kubeconfig('a: b')], '/entry.json: cluster "b": access.kubeconfig: not a kube'],
    ['credentials in a shared table', ['b', token], 'cluster "b": has credentials in plain text, in a table of 2'],
    ['a name with a slash', ['b/c', eks('b')], 'cluster "b/c": give a name of letters'],
    // Control T79.
  ] as const)('%s is refused with one line, and nothing is written', async (_, [name, entry], message) => {
    const before = tableOf({ a: eks('a') });
    s3.object = before;
    const result = await run('add', name, await entryFile(entry));
    expectRefused(result, message, before);
    expect(result.err).not.toContain('planted-secret');
  });

  it('a paused cluster is marked in the list, and its entry is as before when it is resumed', async () => {
    s3.object = tableOf({ a: eks('a'), b: { ...eks('b'), decommissioning: true } });
    const before = s3.object;
    expect(await run('pause', 'a')).toMatchObject({ status: 0, err: '' });
    expect(JSON.parse(s3.object)).toMatchObject({ a: { ...eks('a'), paused: true } });
    expect((await run('list')).out).toMatch(/^a {2}eks {2}https:\/\/a {2}PAUSED$/m);
    expect(await run('resume', 'a')).toMatchObject({ status: 0 });
    expect(s3.object).toBe(before);
    for (const [name, reason] of Object.entries({ b: 'is being decommissioned', c: 'is not in the table' }))
      expectRefused(await run('pause', name), reason, before);
  });

  it('a cluster is paused, and each wrong entry is removed, beside other entries that were edited by hand', async () => {
    s3.object = JSON.stringify({ a: eks('a'), old: {}, older: null, 'prod eu': eks('b') });
    expect(await run('pause', 'a')).toMatchObject({ status: 0, err: '' });
    expect(JSON.parse(s3.object)).toEqual({
      a: { ...eks('a'), paused: true },
      old: {},
      older: null,
      'prod eu': eks('b'),
    });
    const { out, err, status } = await run('list');
    expect({ out, status }).toEqual({ out: 'a  eks  https://a  PAUSED\n', status: 1 });
    expect(err).toMatch(/cluster "prod eu": not a name .*; rename it in the clusters table$/m);
    for (const name of ['old', 'older', 'prod eu'])
      expect(await run('remove', name)).toMatchObject({ status: 0, err: '' });
    expect(Object.keys(JSON.parse(s3.object))).toEqual(['a']);
  });

  it('an entry is replaced, for example to decommission its cluster', async () => {
    s3.object = tableOf({ a: eks('a') });
    const entry = { ...eks('a'), decommissioning: true };
    expect(await run('add', 'a', await entryFile(entry), '--replace')).toMatchObject({ status: 0 });
    expect((await run('list')).out).toBe('a  eks  https://a  decommissioning\n');
  });

  it('an entry with a new authority keeps who may send, the pause and the move, unless the file says them', async () => {
    const watchers = [{ arn: role, id: 'AROAFIRST0000000' }];
    const movingTo = { stage: 'canary', since: '2026-01-01T00:00:00Z' };
    s3.object = tableOf({ a: { ...eks('a'), watchers, paused: true }, b: { ...eks('b'), watchers, movingTo } });
    const replace = async (name: string, fields: object) =>
      await run('add', name, await entryFile({ ...eks('new'), ...fields }), '--replace');
    expect((await replace('a', {})).out).toContain('a keeps of its former entry: watchers, paused\n');
    expect(JSON.parse(s3.object)).toMatchObject({ a: { ...eks('new'), watchers, paused: true } });
    await replace('a', { watchers: [], paused: false });
    await replace('b', {});
    expect(JSON.parse(s3.object)).toEqual({
      a: { ...eks('new'), watchers: [], paused: false },
      b: { ...eks('new'), watchers, movingTo },
    });
    const wrong = JSON.stringify({ a: { ...eks('a'), watchers, paused: 'yes' } });
    s3.object = wrong;
    const refused = 'cluster "a": of its entry these are wrong: paused; give them in the file';
    expect(await replace('a', {})).toMatchObject({ status: 1, err: expect.stringContaining(refused) });
    expect(s3.object).toBe(wrong);
    expect(await replace('a', { paused: false })).toMatchObject({ status: 0 });
  });

  const role = 'arn:aws:iam::123456789012:role/team/watcher';
  const watchersOf = (name: string) => JSON.parse(s3.object ?? '{}')[name]?.watchers;

  it('a watcher is named with the id that IAM has, when a cluster is added and after its role was made again', async () => {
    iam.roles.set(role, 'AROAFIRST0000000');
    const add = ['add', 'a', await entryFile(eks('a')), '--watcher-role', role];
    expect(await run(...add)).toMatchObject({ status: 0, err: '' });
    expect(watchersOf('a')).toEqual([{ arn: role, id: 'AROAFIRST0000000' }]);
    iam.roles.set(role, 'AROASECOND000000');
    const set = ['set-watcher', 'a', '--watcher-role', role];
    expect(await run(...set)).toMatchObject({ status: 0 });
    expect(JSON.parse(s3.object ?? '')).toEqual({
      a: { ...eks('a'), watchers: [{ arn: role, id: 'AROASECOND000000' }] },
    });
    const other = { arn: 'arn:aws:iam::999999999999:role/fleet', id: 'AROAOTHER0000000' };
    const given = ['--watcher-role', other.arn, '--watcher-id', other.id];
    expect(await run('set-watcher', 'a', ...given)).toMatchObject({ status: 0 });
    expect(watchersOf('a')).toEqual([{ arn: role, id: 'AROASECOND000000' }, other]);
    expect((await run('list')).out).toBe(`a  eks  https://a  ${role} (AROASECOND000000)  ${other.arn} (${other.id})\n`);
  });

  it.each([
    ['a role of another account with the same name', ['--watcher-role', role.replace('123', '999')], 'no such role'],
    ['no role', [], 'no watcher is named; give --watcher-role'],
    ['an id without its role', ['--watcher-id', 'AROAFIRST0000000'], 'give --watcher-role, too'],
    ['a name for an ARN', ['--watcher-role', 'watcher'], '--watcher-role: the ARN of a role'],
    ['a session for an id', ['--watcher-role', role, '--watcher-id', 'AROAFIRST000:s'], '--watcher-id: the unique id'],
  ])('set-watcher with %s is refused with one line, and nothing is written', async (_, options, message) => {
    iam.roles.set(role, 'AROAFIRST0000000');
    const before = tableOf({ a: eks('a') });
    s3.object = before;
    expectRefused(await run('set-watcher', 'a', ...options), message, before);
  });

  it('set-watcher names the missing permission, and a cluster that is not in the table', async () => {
    iam.roles.set(role, 'AROAFIRST0000000');
    const set = async () => await run('set-watcher', 'a', '--watcher-role', role);
    expect((await set()).err).toContain('cluster "a": is not in the table');
    iam.fails = 403;
    expect((await set()).err).toContain('IAM answered 403 (AccessDenied); your credentials need iam:GetRole');
  });

  it('a server of the table that is down is an error of one line, with the next step', async () => {
    s3.close();
    expectUserError(await run('pause', 'a'), 'ECONNREFUSED');
    expectUserError(await run('list'), 'no server listens there');
  });

  it('a table in Systems Manager is not written, and the error names the way to S3', async () => {
    const result = await run('remove', 'a', '--table', 'ssm:/outrigger/dev/clusters/', '--region', 'eu-west-1');
    const command = 'outrigger clusters migrate /outrigger/dev/clusters/ --region eu-west-1 --table s3://BUCKET/KEY';
    expectUserError(result, `copy the table to S3: ${command}`);
  });

  it('migrate adds the parameters below a path, and a wrong or an absent one is refused with the next step', async () => {
    const entry = JSON.stringify(eks('b'));
    const account = { mappings: [], unreserved: 0, parameters: {} as Record<string, string> };
    const services = await startAwsServices(account);
    onTestFinished(() => services.close());
    s3.object = tableOf({ a: eks('a') });
    const before = s3.object;
    const migrate = async () => {
      vi.stubEnv('AWS_ENDPOINT_URL_SSM', services.url);
      return await run('migrate', '/outrigger/clusters');
    };
    expectRefused(await migrate(), '/outrigger/clusters/: no parameters there; name the path of the entries', before);
    account.parameters = { '/outrigger/clusters/b': entry, '/outrigger/clusters/c': 'no JSON' };
    expectRefused(await migrate(), 'cluster "c": ', before);
    account.parameters = { '/outrigger/clusters/b': entry };
    expect(await migrate()).toMatchObject({ status: 0, err: '', out: `${s3Table} has a, b\n` });
    expect(JSON.parse(s3.object)).toEqual({ a: eks('a'), b: eks('b') });
    expectRefused(await migrate(), 'cluster "b": is in the table already', s3.object);
  });
});

describe('formatTable', () => {
  it('formatTable accepts 500 clusters of EKS with their CA certificates, and refuses more than 1 MB', () => {
    const table = (count: number) =>
      new Map(
        Array.from({ length: count }, (_, index) => [`c-${index}`, { ...eks(`c-${index}`), ca: 'A'.repeat(1_700) }]),
      );
    expect(Buffer.byteLength(formatTable(table(500)))).toBeLessThanOrEqual(maxTableBytes);
    expect(() => formatTable(table(600))).toThrow('more than 1000000; deploy a second project');
  });

  it('formatTable refuses an invalid entry and an invalid name, and leaves those that were in the table before', () => {
    const before = new Map<string, unknown>(Object.entries({ old: {}, 'prod eu': eks('b') }));
    expect(JSON.parse(formatTable(new Map([...before, ['a', eks('a')]]), before))).toMatchObject({
      a: eks('a'),
      old: {},
    });
    for (const [name, entry, message] of [
      ['new', {}, 'cluster "new": access missing'],
      ['old', { server: 'https://a' }, 'cluster "old": access missing'],
      ['us east', eks('a'), 'cluster "us east": not a name'],
    ] as const)
      expect(() => formatTable(new Map([...before, [name, entry]]), before)).toThrow(message);
  });
});
