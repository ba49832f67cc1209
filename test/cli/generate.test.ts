// Only what `outrigger generate` does to a folder: writing, noticing, leaving alone.
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generate } from '../../src/cli/generate.ts';
import { orchard } from '../generate/orchard.ts';

const crd = 'infra/kubernetes/generated/crd-trees.orchard.example.com.yaml';
let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'outrigger-generate-'));
});
afterEach(() => rm(root, { recursive: true }));

const check = () => generate(orchard, root, { check: true });
const write = () => generate(orchard, root, { check: false });

describe('generate', () => {
  it('writes what is missing, and then finds nothing to do', async () => {
    expect(await write()).toContainEqual({ file: crd, what: 'missing' });
    expect(await check()).toEqual([]);
  });

  it('says of every file that it is generated', async () => {
    await write();
    expect(await readFile(path.join(root, crd), 'utf8')).toMatch(/^# Generated from the registry/);
  });

  it('does not touch a file that is as it should be', async () => {
    await write();
    const before = await stat(path.join(root, crd));
    await write();
    expect((await stat(path.join(root, crd))).mtimeMs).toBe(before.mtimeMs);
  });

  it('tells apart what is stale, missing and left over, and mends all three', async () => {
    await write();
    await writeFile(path.join(root, crd), 'stale');
    await rm(path.join(root, 'infra/kubernetes/generated/rbac.yaml'));
    await writeFile(path.join(root, 'infra/kubernetes/generated/crd-old.yaml'), 'old');
    const expected = [
      { file: crd, what: 'stale' },
      { file: 'infra/kubernetes/generated/rbac.yaml', what: 'missing' },
      { file: 'infra/kubernetes/generated/crd-old.yaml', what: 'left over' },
    ];
    expect(await check()).toEqual(expected);
    expect(await readFile(path.join(root, crd), 'utf8')).toBe('stale');
    expect(await write()).toEqual(expected);
    expect(await check()).toEqual([]);
  });

  it('writes nothing at all when one kind cannot be generated', async () => {
    const twice = [...orchard, ...orchard];
    await expect(generate(twice, root, { check: false })).rejects.toThrow('there are two of that name');
    expect(await readdir(root)).toEqual([]);
  });
});
