// Only `outrigger versions migrate` as a person runs it, and the warning that announces it. The move itself is in
// test/operations/migrate-versions.test.ts.
import path from 'node:path';
import { startApiServer } from '@outrigger/apiserver';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { crdOf } from '../../src/generate/crd/crd.ts';
import { generatedHints } from '../../src/generate/definitions.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { parseObject } from '../../src/kube/client/object.ts';
import { applyDefinition } from '../support/established.ts';
import { useFolder } from '../support/folder.ts';
import { expectUserError, runIn } from './command-result.ts';

const folder = useFolder();
const kindOf = (version: string, formerVersions: string[] = []) =>
  defineKind({
    group: 'moved.example.com',
    version,
    formerVersions,
    kind: 'Crate',
    conditions: [],
    spec: z.object({}),
    status: z.object({}),
  });

it('the command says what it moved and when there is nothing to move, and a kind that is not there is named', async () => {
  const server = await startApiServer();
  const client = createClient({ server: new URL(server.url) });
  onTestFinished(() => client.close());
  onTestFinished(() => server.close());
  for (const kind of [kindOf('v1beta1'), kindOf('v1', ['v1beta1'])])
    await applyDefinition(client, parseObject(crdOf(kind)));
  await folder.write('admin.yaml', server.kubeconfig());
  const migrate = async (kind: string) => {
    const argv = ['versions', 'migrate', kind, '--kubeconfig', folder.at('admin.yaml')];
    return await runIn(path.resolve(import.meta.dirname, '../..'), argv);
  };
  const moved = 'crates.moved.example.com is stored in v1: 0 objects, none in v1beta1\n';
  expect(await migrate('Crate')).toMatchObject({ status: 0, out: moved });
  expect(await migrate('crates')).toMatchObject({ status: 0, out: 'crates.moved.example.com is stored in v1 alone\n' });
  expectUserError(await migrate('Barrel'), 'the cluster has no kind "Barrel"');
});

it.each([
  ['v1beta2', 'v1', true],
  ['v1', 'v2', true],
  ['v1alpha1', 'v1alpha2', true],
  ['v1', 'v1beta2', false],
  ['v10', 'v9', false],
  ['newest', 'v1alpha1', true],
  ['newest', 'older', false],
])('U17: a build of %s with the former version %s warns if kubectl prefers that: %s', (version, former, warns) => {
  const message = `Crate: kubectl and other clients prefer the former version ${former} to ${version} by its name`;
  expect(generatedHints([], [kindOf(version, [former])])).toEqual(warns ? [message] : []);
});
