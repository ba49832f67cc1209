// What the samples' schemas refuse, and what the API server makes of what they do not know: the rows "Bad input", as cases for
// any API server. No controller runs here.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { dinnerKind as dinners } from '../../src/controllers/dinner.ts';
import { fooKind as foos } from '../../src/controllers/foo.ts';
import { ingredientKind as ingredients } from '../../src/controllers/ingredient.ts';
import { waterTankKind as tanks } from '../../src/controllers/water-tank.ts';
import type { Kind } from '../../src/core/kind.ts';
import { defineResource } from '../../src/core/resource.ts';
import { crdOf } from '../../src/generate/crd.ts';
import { createClient, type KubeClient } from '../../src/kube/client.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { ApiError } from '../../src/kube/errors.ts';
import { type KubeObject, parseObject } from '../../src/kube/object.ts';
import { collectionPath } from '../../src/kube/path.ts';
import { install, startNamespace } from './harness.ts';
import { createUser, type User } from './user.ts';

const tank = { targetLevel: 40, capacity: 100 };
const salt = { item: 'salt', amount: 1, unit: 'tbsp' };
const line = { name: 'salt', ...salt };
const foo = { deploymentName: 'web', replicas: 2 };
const without = (object: object, field: string) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => name !== field));

/** A spec that is refused, and the field that the refusal names. */
type Row = { readonly kind: Kind; readonly what: string; readonly spec: object; readonly field: string };
const rows: readonly Row[] = [
  ...[
    { what: 'no targetLevel', spec: without(tank, 'targetLevel'), field: 'spec.targetLevel' },
    { what: 'targetLevel "40"', spec: { ...tank, targetLevel: '40' }, field: 'spec.targetLevel' },
    { what: 'targetLevel -1', spec: { ...tank, targetLevel: -1 }, field: 'spec.targetLevel' },
    { what: 'targetLevel above capacity', spec: { ...tank, targetLevel: 101 }, field: 'spec.targetLevel' },
    { what: 'capacity 0', spec: { targetLevel: 0, capacity: 0 }, field: 'spec.capacity' },
    { what: 'no capacity', spec: without(tank, 'capacity'), field: 'spec.capacity' },
    { what: 'tolerance equal to capacity', spec: { ...tank, tolerance: 100 }, field: 'spec.tolerance' },
    { what: 'tolerance -1', spec: { ...tank, tolerance: -1 }, field: 'spec.tolerance' },
  ].map((row) => ({ kind: tanks, ...row })),
  ...[
    { what: 'amount 0', spec: { ...salt, amount: 0 }, field: 'spec.amount' },
    { what: 'amount -1', spec: { ...salt, amount: -1 }, field: 'spec.amount' },
    { what: 'amount "1"', spec: { ...salt, amount: '1' }, field: 'spec.amount' },
    { what: 'amount 1e308', spec: { ...salt, amount: 1e308 }, field: 'spec.amount' },
    { what: 'no amount', spec: without(salt, 'amount'), field: 'spec.amount' },
    { what: 'unit "handful"', spec: { ...salt, unit: 'handful' }, field: 'spec.unit' },
    { what: 'item ""', spec: { ...salt, item: '' }, field: 'spec.item' },
  ].map((row) => ({ kind: ingredients, ...row })),
  ...[
    { what: 'no ingredients', spec: { ingredients: [] }, field: 'spec.ingredients' },
    { what: 'the same name twice', spec: { ingredients: [line, line] }, field: 'spec.ingredients[1]' },
    { what: 'a name with a dot', spec: { ingredients: [{ ...line, name: 'a.b' }] }, field: 'spec.ingredients[0].name' },
    { what: 'a portion of 0', spec: { ingredients: [{ ...line, amount: 0 }] }, field: 'spec.ingredients[0].amount' },
  ].map((row) => ({ kind: dinners, ...row })),
  ...[
    { what: 'replicas 0', spec: { ...foo, replicas: 0 }, field: 'spec.replicas' },
    { what: 'replicas 11', spec: { ...foo, replicas: 11 }, field: 'spec.replicas' },
    { what: 'replicas "2"', spec: { ...foo, replicas: '2' }, field: 'spec.replicas' },
    { what: 'replicas 1.5', spec: { ...foo, replicas: 1.5 }, field: 'spec.replicas' },
    { what: 'no deploymentName', spec: without(foo, 'deploymentName'), field: 'spec.deploymentName' },
    { what: 'deploymentName ""', spec: { ...foo, deploymentName: '' }, field: 'spec.deploymentName' },
    { what: 'deploymentName "a_B"', spec: { ...foo, deploymentName: 'a_B' }, field: 'spec.deploymentName' },
    { what: 'a long deploymentName', spec: { ...foo, deploymentName: 'a'.repeat(64) }, field: 'spec.deploymentName' },
  ].map((row) => ({ kind: foos, ...row })),
];

/** Declares the cases. */
export function badInputCases(connect: () => Connection): void {
  let client: KubeClient;
  let user: User;
  const warnings: string[] = [];
  beforeAll(async () => {
    await install(connect());
    client = createClient(connect(), { onWarning: (text) => warnings.push(text) });
    user = createUser(client, await startNamespace(client));
  });
  afterAll(() => client.close());
  beforeEach(() => {
    warnings.length = 0;
  });

  async function create(
    kind: Kind,
    name: string,
    spec: object,
    query: Record<string, string> = {},
  ): Promise<KubeObject> {
    const { apiVersion, kind: named } = kind;
    const path = collectionPath(kind, user.namespace);
    const body = { apiVersion, kind: named, metadata: { name }, spec };
    return parseObject((await client.request({ method: 'POST', path, query, body })).body);
  }
  const refusal = async (creation: Promise<unknown>) => {
    const thrown: unknown = await creation.then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!(thrown instanceof ApiError)) throw new Error(`not refused by the API server: ${thrown}`);
    return { status: thrown.status, fields: thrown.body?.details?.causes?.map(({ field }) => field) };
  };

  describe('bad input', () => {
    it.each(rows)('W, I, F: a $kind.kind with $what is 422 and names $field', async ({ kind, spec, field }) => {
      const { status, fields } = await refusal(create(kind, 'bad', spec));
      expect(status).toBe(422);
      expect(fields).toContain(field);
    });

    it('a Dinner whose name leaves no room for the names of its ingredients is 422', async () => {
      const long = 'a'.repeat(64);
      expect((await refusal(create(dinners, long, { ingredients: [line] }))).status).toBe(422);
      expect((await create(dinners, long.slice(1), { ingredients: [line] })).metadata.name).toHaveLength(63);
    });

    it('F: a definition in a group of Kubernetes’ own, without its approval, is 422', async () => {
      const { spec, status: itsStatus } = foos.definition;
      const names = { group: 'samples.k8s.io', version: 'v1', kind: 'Foo' };
      const theirs = defineResource({ ...names, spec, status: itsStatus, conditions: [] });
      const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      const { status, fields } = await refusal(client.request({ method: 'POST', path, body: crdOf(theirs) }));
      expect(status).toBe(422);
      expect(fields).toEqual(['metadata.annotations[api-approved.kubernetes.io]']);
    });

    it('F: a Foo whose name is too long for a label of its pods is 422', async () => {
      const long = 'a'.repeat(64);
      expect((await refusal(create(foos, long, foo))).status).toBe(422);
      expect((await create(foos, long.slice(1), foo)).metadata.name).toHaveLength(63);
    });

    it('W: the tolerance is filled in where a user leaves it out', async () => {
      expect((await create(tanks, 'plain', tank)).spec).toEqual({ ...tank, tolerance: 0.5 });
    });

    it('I: an unknown field is 400 when validation is strict, else dropped with a warning', async () => {
      const spec = { ...salt, colour: 'white' };
      const strict = await refusal(create(ingredients, 'strict', spec, { fieldValidation: 'Strict' }));
      expect(strict.status).toBe(400);
      expect((await create(ingredients, 'lenient', spec)).spec).toEqual(salt);
      expect(warnings.join()).toContain('unknown field "spec.colour"');
    });

    it('I: a status that comes with the object, or by a patch of it, is ignored', async () => {
      await create(ingredients, 'claimed', salt);
      const after = await user.patch(ingredients, 'claimed', { status: { location: 'Counter' } });
      expect(after.status).toBeUndefined();
    });
  });
}
