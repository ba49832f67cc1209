// What the samples' schemas refuse, and what the API server makes of what they do not know: the rows "Bad input" of all kinds, as
// cases for any API server. No controller runs here.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { defineKind } from '../../src/api/custom-kind.ts';
import { Foo } from '../../src/controllers/foo.ts';
import { crdsOnly, registry } from '../../src/controllers/registry.ts';
import { crdOf } from '../../src/generate/crd/crd.ts';
import { ownKinds } from '../../src/generate/rbac/rbac.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { type KubeObject, parseObject } from '../../src/kube/client/object.ts';
import { collectionPath } from '../../src/kube/client/path.ts';
import { useApiServer } from '../harness/api-server.ts';
import { wholeObject } from './bad-input/bad-input.ts';
import { bitcoinNetworkInput } from './bad-input/bitcoin-network.ts';
import { bookInput } from './bad-input/book.ts';
import { dinnerInput } from './bad-input/dinner.ts';
import { fooInput } from './bad-input/foo.ts';
import { ingredientInput } from './bad-input/ingredient.ts';
import { memcachedProxyInput } from './bad-input/memcached-proxy.ts';
import { waterTankInput } from './bad-input/water-tank.ts';
import { install, startNamespace } from './harness.ts';
import { createUser, type User } from './user.ts';

/** One table for each kind. */
const tables = [
  waterTankInput,
  ingredientInput,
  dinnerInput,
  bookInput,
  fooInput,
  memcachedProxyInput,
  bitcoinNetworkInput,
];

const { connect } = await useApiServer();
let client: KubeClient;
let user: User;
const warnings: string[] = [];
beforeAll(async () => {
  await install(connect());
  client = createClient(connect(), { onWarning: (text) => warnings.push(text) });
});
afterAll(() => client.close());
beforeEach(async () => {
  user = createUser(client, await startNamespace(client));
  warnings.length = 0;
});

const refusal = async (creation: Promise<unknown>) => {
  const thrown: unknown = await creation.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof ApiError)) throw new Error(`not refused by the API server: ${thrown}`);
  return { status: thrown.status, causes: thrown.body?.details?.causes ?? [] };
};

it('bad input: every kind has a table', () => {
  const kinds = ownKinds(registry, crdsOnly).map(({ kind }) => kind);
  expect(tables.map(({ kind }) => kind.kind).sort()).toEqual([...kinds].sort());
});

describe.each(tables)('bad input of $kind.kind', ({ kind, id, idOfUnknown = id, good, refused, taken = [] }) => {
  async function create(name: string, fields: object, query: Record<string, string> = {}): Promise<KubeObject> {
    const path = collectionPath(kind, user.namespace);
    const body = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name }, ...fields };
    return parseObject((await client.request({ method: 'POST', path, query, body })).body);
  }
  const named = <R extends { readonly id?: string }>(rows: readonly R[]) => rows.map((row) => ({ id, ...row }));

  const wrong = named(refused).map((row) => ({
    ...row,
    named: row.fields.join(' and ').replace(wholeObject, 'the object'),
  }));
  it.each(wrong)('$id: $what is 422 and names $named', async ({ name = 'bad', spec, fields, says = '' }) => {
    const { status, causes } = await refusal(create(name, { spec }));
    expect(status).toBe(422);
    expect(causes.map(({ field }) => field)).toEqual(expect.arrayContaining([...fields]));
    const said = causes.filter(({ field }) => field === fields[0]).map(({ message }) => message);
    expect(said.join()).toContain(says);
  });

  it(`${id}: no spec at all is 422 and names spec`, async () => {
    const { status, causes } = await refusal(create('bad', {}));
    expect(status).toBe(422);
    expect(causes).toContainEqual(
      expect.objectContaining({ field: 'spec', message: expect.stringContaining('Required') }),
    );
  });

  it.each(named(taken))('$id: $what is taken', async ({ name = 'odd', spec, stored }) => {
    expect((await create(name, { spec })).spec).toMatchObject(stored);
  });

  it(`${idOfUnknown}: a field that is not known is dropped with a warning, or 400 when validation is strict`, async () => {
    const spec = { ...good, foo: 'bar' };
    expect((await refusal(create('strict', { spec }, { fieldValidation: 'Strict' }))).status).toBe(400);
    expect((await create('lenient', { spec })).spec).not.toHaveProperty('foo');
    expect(warnings.join()).toContain('unknown field "spec.foo"');
  });

  it(`${id}: a status that comes with the object, or by a patch of it, is ignored`, async () => {
    const status = { observedGeneration: 9, conditions: [] };
    const made = await create('claimed', { spec: good, status });
    expect(made.status).toBeUndefined();
    expect((await user.patch(kind, 'claimed', { status })).status).toBeUndefined();
  });
});

it('F, bad input: a definition in a group of Kubernetes’ own, without its approval, is 422', async () => {
  const { spec, status: itsStatus } = Foo.definition;
  const names = { group: 'samples.k8s.io', version: 'v1', kind: 'Foo' };
  const theirs = defineKind({ ...names, spec, status: itsStatus, conditions: [] });
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const { status, causes } = await refusal(client.request({ method: 'POST', path, body: crdOf(theirs) }));
  expect(status).toBe(422);
  expect(causes.map(({ field }) => field)).toEqual(['metadata.annotations[api-approved.kubernetes.io]']);
});
