// outrigger import crd: the written modules are compiled, and their schemas parse objects. The samples of other projects' CRDs
// are too large to keep; this one has each form that a schema of a CRD can have.
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { startApiServer } from '../../src/testing/api-server.ts';
import { useFolder } from '../support/folder.ts';
import { tsc } from '../support/tsc.ts';
import { expectUserError, runIn, runProcess } from './command-result.ts';

const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'tlsroutes.net.example.com' },
  spec: {
    group: 'net.example.com',
    scope: 'Namespaced',
    names: { kind: 'TLSRoute', plural: 'tlsroutes', singular: 'tlsroute', listKind: 'TLSRouteList' },
    versions: [
      { name: 'v1beta1', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            description: 'A route. */ process.exit(1); /*',
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['port', 'mode'],
                properties: {
                  port: { 'x-kubernetes-int-or-string': true },
                  mode: { type: 'string', enum: ['Terminate', "it's", 'left\u202eright'], description: 'A \u202emode' },
                  weight: { type: 'integer', nullable: true },
                  labels: { type: 'object', additionalProperties: { type: 'string' } },
                  "x-it's": { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  open: {
                    type: 'object',
                    properties: { known: { type: 'string' } },
                    'x-kubernetes-preserve-unknown-fields': true,
                  },
                  gaps: {
                    type: 'array',
                    items: { type: 'object', nullable: true, properties: { name: { type: 'string' } } },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

const folder = useFolder({ shared: true });
const { at, read, write } = folder;
beforeAll(async () => {
  await write('package.json', '{"type":"module"}');
  await symlink(path.resolve('node_modules'), at('node_modules'));
});

const importCrd = async (...args: readonly string[]) => await runIn(folder.path, ['import', 'crd', ...args]);

it('the module of a CRD in a file compiles, has its types, and parses its objects', async () => {
  await write('crds.yaml', `apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\n${JSON.stringify(crd)}\n`);
  const imported = await importCrd('crds.yaml', '--zod', '--out', 'kinds');
  expect(imported).toMatchObject({ out: 'kinds/tls-route.ts: TLSRoute\n', status: 0 });
  const file = 'kinds/tls-route.ts';
  // A direction character would show a reviewer other code than what is compiled.
  expect(await read(file)).not.toMatch(/\p{Cf}/u);
  await write(file, (await read(file)).replace("'outrigger'", `'${path.resolve('src/outrigger.ts')}'`));
  const use = `import type { TLSRouteObject } from './kinds/tls-route.ts';
export const right: TLSRouteObject = {
  spec: { port: 'https', mode: "it's", weight: null, labels: { a: 'b' }, "x-it's": [{ name: 'n' }], free: { any: 1 },
    open: { known: 'a', other: 1 },
    gaps: [{ name: 'n' }, null],
  },
};
// @ts-expect-error: a required field is missing
export const withoutPort: TLSRouteObject = { spec: { mode: 'Terminate' } };
// @ts-expect-error: no such mode
export const wrongMode: TLSRouteObject = { spec: { port: 1, mode: 'Other' } };
`;
  await write('use.ts', use);
  const config = { extends: path.resolve('tsconfig.json'), files: ['use.ts'], include: [] };
  await write('tsconfig.json', JSON.stringify(config));
  const compiled = await runProcess([...tsc, '-p', folder.path], '.');
  expect(compiled).toMatchObject({ out: '', status: 0 });
  const { TLSRoute, TLSRouteSchema } = z
    .object({ TLSRoute: z.looseObject({}), TLSRouteSchema: z.custom<z.ZodType>() })
    .parse(await import(at(file)));
  expect(TLSRoute).toMatchObject({ apiVersion: 'net.example.com/v1', plural: 'tlsroutes', namespaced: true });
  const { right, withoutPort, wrongMode } = await import(at('use.ts'));
  expect(TLSRouteSchema.safeParse(right).success).toBe(true);
  expect(TLSRouteSchema.safeParse({ spec: { port: 1, mode: 'left\u202eright' } }).success).toBe(true);
  expect([withoutPort, wrongMode].map((one) => TLSRouteSchema.safeParse(one).success)).toEqual([false, false]);
}, 60_000);

it('a CRD is read from a cluster by its name, in the version that is asked for', async () => {
  await using server = await startApiServer({ crds: [crd] });
  await write('kubeconfig', server.kubeconfig());
  const name = crd.metadata.name;
  await importCrd(name, '--kubeconfig', 'kubeconfig', '--kind-version', 'v1beta1', '--out', 'older');
  expect(await read('older/tls-route.ts')).toContain("version: 'v1beta1'");
  const other = await importCrd(name, '--kubeconfig', 'kubeconfig', '--kind-version', 'v3');
  expectUserError(other, 'version v3 is not served; the served ones are v1beta1, v1');
  const missing = await importCrd('nothing.example.com', '--kubeconfig', 'kubeconfig');
  expectUserError(missing, 'the cluster has no CustomResourceDefinition nothing.example.com; kubectl get crds lists');
});

it('a file that the command did not write stays, and a file without a CRD is named', async () => {
  await write('one.yaml', JSON.stringify(crd));
  await write('own/tls-route.ts', 'export {};\n');
  expectUserError(await importCrd('one.yaml', '--out', 'own'), 'own/tls-route.ts is not of this command');
  expect(await read('own/tls-route.ts')).toBe('export {};\n');
  await write('none.yaml', 'apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n');
  expectUserError(
    await importCrd('none.yaml'),
    'none.yaml: there is no CustomResourceDefinition in it; give the file that has the CRDs',
  );
  expectUserError(await importCrd('one.yaml', '--context', 'a'), '--context is one of a kubeconfig; add --kubeconfig');
  expectUserError(await importCrd('nowhere.yaml'), 'nowhere.yaml: cannot be read; give a YAML file with CRDs');
});

it('a kind of another group does not overwrite the module of a kind with the same name', async () => {
  const other = { ...crd, metadata: { name: 'tlsroutes.other.com' }, spec: { ...crd.spec, group: 'other.com' } };
  await write('first.yaml', JSON.stringify(crd));
  await write('second.yaml', JSON.stringify(other));
  await importCrd('first.yaml', '--out', 'both');
  expectUserError(
    await importCrd('second.yaml', '--out', 'both'),
    'both/tls-route.ts has the kind of another CRD, and is not overwritten; name another folder for tlsroutes.other.com',
  );
  expect(await read('both/tls-route.ts')).toContain("group: 'net.example.com'");
  // The same CRD is imported again.
  await importCrd('first.yaml', '--out', 'both', '--kind-version', 'v1beta1');
  expect(await read('both/tls-route.ts')).toContain("version: 'v1beta1'");
});

it('the CRDs of a List, as kubectl get prints them, are imported', async () => {
  const list = { apiVersion: 'v1', kind: 'List', items: [crd] };
  await write('list.yaml', JSON.stringify(list));
  expect(await importCrd('list.yaml', '--out', 'listed')).toMatchObject({
    out: 'listed/tls-route.ts: TLSRoute\n',
    status: 0,
  });
});

// Control T154.
it('H7: a file whose YAML takes a time that grows with the square of its length is refused', async () => {
  await write('anchors.yaml', '&a '.repeat(80_000));
  expectUserError(
    await importCrd('anchors.yaml', '--out', 'broken'),
    'outrigger import crd: anchors.yaml: is YAML that takes too long to be read',
  );
});

it('a file that is no YAML, and a schema that is none, are named with the place', async () => {
  await write('broken.yaml', `${JSON.stringify(crd).slice(0, -1)}\n`);
  expectUserError(
    await importCrd('broken.yaml', '--out', 'broken'),
    'outrigger import crd: broken.yaml: the YAML is invalid; fix it: ',
  );
  const laughs = ['&a0 [x]', ...Array.from({ length: 9 }, (_, i) => `&a${i + 1} [${`*a${i}, `.repeat(9)}]`)];
  await write('laughs.yaml', laughs.map((one, i) => `a${i}: ${one}\n`).join(''));
  expectUserError(
    await importCrd('laughs.yaml', '--out', 'broken'),
    'laughs.yaml: the YAML is invalid; fix it: its aliases expand to too much',
  );
  const wrong = JSON.stringify(crd).replace('"type":"array","items":{', '"type":"array","items":5,"x":{');
  await write('wrong.yaml', wrong);
  expectUserError(
    await importCrd('wrong.yaml', '--out', 'broken'),
    "outrigger import crd: wrong.yaml: tlsroutes.net.example.com, the schema of v1: properties.spec.properties.x-it's.items",
  );
  await write('code.yaml', JSON.stringify({ ...crd, metadata: { name: 'a\nprocess.exit(1);' } }));
  expectUserError(
    await importCrd('code.yaml', '--out', 'broken'),
    'code.yaml: CustomResourceDefinition: metadata.name',
  );
});
