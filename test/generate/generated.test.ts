// Generated CRDs as cases for any API server: it accepts them, and a schema accepts and rejects the same values there
// as in zod.
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { type AnyCustomKind, defineKind } from '../../src/api/custom-kind.ts';
import { crdOf } from '../../src/generate/crd/crd.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { collectionPath } from '../../src/kube/client/path.ts';
import { useApiServer } from '../harness/api-server.ts';
import { untilEstablished } from '../support/established.ts';
import { schemaRows } from './schema-rows.ts';

const group = 'schemas.example.net';
const noStatus = { status: z.object({}), conditions: [] } as const;
const kindOf = (kind: string, spec: z.ZodObject): AnyCustomKind =>
  defineKind({ group, version: 'v1', kind, spec, ...noStatus });

/** A kind with one field for every row. */
const everyRow = kindOf(
  'Everyrow',
  z.object(Object.fromEntries(schemaRows.map(({ schema }, n) => [`f${n}`, schema.optional()]))),
);
const strict = kindOf('Strict', z.object({ a: z.string() }));

const { connect } = await useApiServer();
let client: KubeClient;

beforeAll(async () => {
  client = createClient(connect());
  for (const kind of [everyRow, strict]) {
    await define(kind);
    await untilEstablished(client, `${kind.plural}.${group}`);
  }
});
afterAll(() => client.close());

async function define(kind: AnyCustomKind): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await client.request({ method: 'POST', path, body: crdOf(kind) });
}

/** Creates an object as a dry run. Returns its spec, or the error of the API server. */
async function dryRunCreate(kind: AnyCustomKind, spec: unknown): Promise<unknown> {
  const { apiVersion, kind: kindName } = kind;
  const body = { apiVersion, kind: kindName, metadata: { name: 'one' }, ...(spec === undefined ? {} : { spec }) };
  const path = collectionPath(kind, 'default');
  try {
    const response = await client.request({ method: 'POST', path, body, query: { dryRun: 'All' } });
    return z.object({ spec: z.unknown() }).parse(response.body).spec;
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return new Error(error.message);
    // The client refuses a whole number that it cannot send exactly.
    if (error instanceof TypeError) return error;
    throw error;
  }
}

it.each(
  schemaRows.map((row, n) => ({ ...row, field: `f${n}` })),
)('a generated schema of $what accepts and rejects the same values as zod', async ({
  schema,
  field,
  accepts,
  rejects,
}) => {
  for (const value of accepts) {
    const parsed = schema.safeParse(value);
    expect(parsed, `zod: ${JSON.stringify(value)}`).toMatchObject({ success: true });
    expect(await dryRunCreate(everyRow, { [field]: value }), JSON.stringify(value)).toEqual({ [field]: parsed.data });
  }
  for (const value of rejects) {
    expect(schema.safeParse(value).success, `zod: ${JSON.stringify(value)}`).toBe(false);
    expect(await dryRunCreate(everyRow, { [field]: value }), JSON.stringify(value)).toBeInstanceOf(Error);
  }
});

it('a new rule for names refuses new objects, and no change of an existing one', async () => {
  const kind = kindOf('Named', z.object({}));
  await define(kind);
  await untilEstablished(client, `${kind.plural}.${group}`);
  const { apiVersion } = kind;
  const body = { apiVersion, kind: 'Named', metadata: { name: 'long', finalizers: ['example.com/stays'] } };
  await client.request({ method: 'POST', path: collectionPath(kind, 'default'), body });
  const nameRule = { rule: 'size(self.metadata.name) < 3', message: 'too long' };
  const ruled = crdOf(defineKind({ group, version: 'v1', kind: 'Named', spec: z.object({}), ...noStatus, nameRule }));
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const contentType = 'application/merge-patch+json';
  await client.request({ method: 'PATCH', path: `${path}/nameds.${group}`, contentType, body: ruled });
  await expect.poll(() => dryRunCreate(kind, {}).catch(String), { timeout: 15_000 }).toBeInstanceOf(Error);
  const release = { metadata: { finalizers: null } };
  await client.request({
    method: 'PATCH',
    path: `${collectionPath(kind, 'default')}/long`,
    contentType,
    body: release,
  });
});

it('a generated schema with a required field requires spec', async () => {
  expect(String(await dryRunCreate(strict, undefined))).toContain('spec: Required value');
});

it('a generated schema without required fields defaults a missing spec to an object', async () => {
  expect(await dryRunCreate(everyRow, undefined)).toEqual({});
});
