// Only `outrigger upgrade`: the three-way merge of a project's copied files. The files themselves are tested where they are
// used.
import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { baseFile, formatBase } from '../../../src/cli/new/base-file.ts';
import { mergeFiles } from '../../../src/cli/new/merge-files.ts';
import { copiedTexts } from '../../../src/cli/new/project-files.ts';
import { upgrade as upgradeFolder } from '../../../src/cli/new/upgrade.ts';
import { packageVersion } from '../../../src/cli/package-version.ts';
import { useFolder } from '../../support/folder.ts';

describe('the merge of one file', () => {
  const [mine, theirs] = ['a\nmine\nc\nd\ne\n', 'a\nnew\nc\nd\ne\n'];
  const lines = (first: string, last: string) => `${first}\nb\nc\nd\n${last}\n`;
  const [base, both] = [lines('a', 'e'), lines('A', 'E')];
  const conflict = 'a\n<<<<<<< this project\nmine\n=======\nnew\n>>>>>>> outrigger 2.0.0\nc\nd\ne\n';
  const files = (text: string | undefined) => new Map(text === undefined ? [] : [['f', text]]);
  it.each<readonly [string, string | undefined, string | undefined, string | undefined, unknown]>([
    ['that is unchanged', base, base, base, []],
    ['that both changed in the same way', base, 'x\n', 'x\n', []],
    ['that only the project changed', base, 'mine\n', base, []],
    ['that only the new version changed', base, base, 'new\n', [{ text: 'new\n', conflicts: [] }]],
    ['that both changed in other lines', base, lines('A', 'e'), lines('a', 'E'), [{ text: both, conflicts: [] }]],
    ['that both changed in the same line', base, mine, theirs, [{ text: conflict, conflicts: [2] }]],
    ['that is new in the version', undefined, undefined, 'new\n', [{ text: 'new\n', conflicts: [] }]],
    ['that the new version removes', base, base, undefined, [{ text: undefined, conflicts: [] }]],
    ['that the project removed', base, undefined, base, []],
    ['that the project removed and the new version changed', base, undefined, theirs, [{ conflicts: [1] }]],
    ['that the project changed and the new version removes', base, mine, undefined, [{ conflicts: [1] }]],
    ['that is new on both sides', undefined, 'mine\n', 'new\n', [{ conflicts: [1] }]],
  ])('a file %s', (_what, from, own, next, expected) => {
    const merged = mergeFiles({ base: files(from), ours: files(own), theirs: files(next) }, '2.0.0');
    expect(merged).toMatchObject(Array.isArray(expected) ? expected : []);
    expect(merged).toHaveLength(Array.isArray(expected) ? expected.length : 0);
  });
});

describe('outrigger upgrade', () => {
  const folder = useFolder();
  const { read, write } = folder;
  const upgrade = async (options: Parameters<typeof upgradeFolder>[1]) => await upgradeFolder(folder.path, options);
  const own = 'infra/kubernetes/watcher.env';
  const removed = 'infra/aws/removed.yml';
  const changed = 'infra/kubernetes/watcher/deployment.yaml';
  const current = async () => await copiedTexts('cafes');

  /** A project of an older version: one file had another line, one is new since, and one was there. */
  beforeEach(async () => {
    vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const old = new Map(await current());
    old.set(changed, (old.get(changed) ?? '').replace('revisionHistoryLimit: 3', 'revisionHistoryLimit: 2'));
    old.set(removed, 'Resources: {}\n');
    old.delete('infra/aws/monitoring.ts');
    for (const [file, text] of old) await write(file, text);
    await write(baseFile, formatBase('0.0.9', old));
    await write('package.json', '{ "outrigger": { "project": "cafes" } }\n');
  });
  afterEach(() => void vi.restoreAllMocks());

  it('outrigger upgrade brings the files to the installed version, and keeps what the author changed', async () => {
    await write(own, (await read(own)).replace('my-cluster', 'prod-1'));
    await write(changed, (await read(changed)).replace('cpu: 50m', 'cpu: 90m'));
    expect(await upgrade({ yes: true })).toBe(0);
    expect(await read(own)).toContain('CLUSTER=prod-1');
    expect(await read(changed)).toMatch(/revisionHistoryLimit: 3(.|\n)*cpu: 90m/);
    expect(await read('infra/aws/monitoring.ts')).toBe((await current()).get('infra/aws/monitoring.ts'));
    await expect(read(removed)).rejects.toThrow('ENOENT');
    expect(await read(baseFile)).toBe(formatBase(packageVersion(), await current()));
    const after = await read(changed);
    expect(await upgrade({})).toBe(0);
    expect(await read(changed)).toBe(after);
  });

  it('outrigger upgrade shows the changes and writes nothing without a yes', async () => {
    const before = await read(changed);
    expect(await upgrade({})).toBe(1);
    expect(await read(changed)).toBe(before);
    expect(vi.mocked(process.stdout.write).mock.calls.join('')).toContain('+   revisionHistoryLimit: 3');
  });

  it('outrigger upgrade writes nothing where both changed the same lines, and names the lines; with --markers it writes them', async () => {
    await write(changed, (await read(changed)).replace('revisionHistoryLimit: 2', 'revisionHistoryLimit: 5'));
    const before = await read(changed);
    await expect(upgrade({ yes: true })).rejects.toThrow(/watcher\/deployment\.yaml:\d+: changed here and in/);
    expect(await read(changed)).toBe(before);
    expect(await read(removed)).toBe('Resources: {}\n');
    await expect(upgrade({ yes: true, markers: true })).rejects.toThrow('resolve the markers');
    expect(await read(changed)).toContain('<<<<<<< this project\n  revisionHistoryLimit: 5\n=======\n');
    await expect(read(removed)).rejects.toThrow('ENOENT');
  });

  it('a folder without the base is refused', async () => {
    await rm(folder.at(baseFile));
    await expect(upgrade({ yes: true })).rejects.toThrow(`there is no ${baseFile} here`);
  });
});
