// Values that an author gives the context and that would mean something else to the API server: the labels of a list, and
// numbers and times in children.
import { expect, it } from 'vitest';
import * as z from 'zod';
import type { Desired } from '../../src/api/apply.ts';
import type { UntypedContext } from '../../src/api/context.ts';
import type { LabelExpression } from '../../src/core/selector.ts';
import { ConfigMap, Deployment, Secret } from '../../src/kubernetes.ts';
import { defineKind } from '../../src/outrigger.ts';
import { startSystem, testContext } from '../../src/testing.ts';

const Thing = defineKind({
  group: 'values.example.com',
  version: 'v1',
  kind: 'Thing',
  spec: z.object({}),
  status: z.object({}),
  conditions: [],
});
const thing = {
  apiVersion: Thing.apiVersion,
  kind: 'Thing',
  spec: {},
  metadata: { name: 'one', namespace: 'default' },
};
const reading = Thing.controller('thing', {
  reads: [Secret],
  reconcile: async () => ({ status: {}, conditions: {} }),
});
const labels = { app: 'one', tier: 'db' };
const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'other', namespace: 'default', labels } };

/** Reconciles a thing once; returns what this resolved with in the reconcile, and the error of the reconcile. */
async function resultOf(act: (context: UntypedContext) => Promise<unknown>, more: readonly object[] = []) {
  let value: unknown;
  const controller = Thing.controller('thing', {
    owns: [ConfigMap, Deployment],
    reads: [Secret],
    reconcile: async (_, context) => {
      // Its types know the declared kinds.
      value = await act(context as unknown as UntypedContext);
      return { status: {}, conditions: {} };
    },
  });
  await using system = await startSystem({ controllers: [controller], objects: [secret, thing, ...more] });
  await system.settled();
  return { value, error: system.reconciles[0]?.error };
}

const errorOf = async (act: Parameters<typeof resultOf>[0]) => (await resultOf(act)).error;

it.each([
  'one,tier!=x',
  'one,other',
  'one two',
  '=',
])('a list by the label value %j is refused, because it would select by something else', async (app) => {
  expect(await errorOf(async ({ list }) => await list(Secret, { app }))).toBe(
    `list of secrets: matchLabels: app=${app} is not a valid label and value`,
  );
});

it.each(['', 'one'])('a list by the label value %j finds the objects with it', async (app) => {
  const { error, value } = await resultOf(async ({ list }) => await list(Secret, { app }));
  expect(error).toBeUndefined();
  expect(value).toHaveLength(app === 'one' ? 1 : 0);
});

it('a list of another namespace, or of all, finds the objects there', async () => {
  const namespaces = ['kube-public', '*', undefined];
  const result = await resultOf(
    async ({ list }) =>
      await Promise.all(namespaces.map(async (namespace) => await list(Secret, { app: 'one' }, { namespace }))),
    [{ ...secret, metadata: { ...secret.metadata, namespace: 'kube-public' } }],
  );
  const [here, there] = ['default', 'kube-public'].map((namespace) => ({ metadata: { namespace } }));
  expect(result).toMatchObject({ error: undefined, value: [[there], [here, there], [here]] });
});

it.each<[LabelExpression, number]>([
  [{ key: 'app', operator: 'Exists' }, 1],
  [{ key: 'app', operator: 'DoesNotExist' }, 0],
  [{ key: 'app', operator: 'NotIn', values: ['two', 'three'] }, 1],
  [{ key: 'app', operator: 'In', values: ['two', 'three'] }, 0],
])('a list by the expression %j finds the objects that match, on the server and in a test context', async (one, count) => {
  const options = { matchExpressions: [one] };
  const { error, value } = await resultOf(async ({ list }) => await list(Secret, { app: 'one' }, options));
  expect(error).toBeUndefined();
  expect(value).toHaveLength(count);
  const context = testContext(reading, { owner: Thing.object('one', {}), objects: [secret] });
  expect(await context.list(Secret, {}, options)).toHaveLength(count);
  const wrong = { matchExpressions: [{ ...one, key: 'a b' }] };
  expect(await errorOf(async ({ list }) => await list(Secret, {}, wrong))).toMatch(
    /^list of secrets: matchExpressions/,
  );
});

const deployment = (changes: object) => {
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  return { metadata: { name: 'one' }, spec: { selector: { matchLabels: labels }, template, ...changes } };
};

it.each([
  ['NaN', { replicas: Number.NaN }, 'spec.replicas: NaN is not a value of JSON'],
  ['an infinite number', { replicas: Number.POSITIVE_INFINITY }, 'spec.replicas: Infinity is not a value of JSON'],
  ['an invalid time', { at: [new Date('')] }, 'spec.at[0]: Invalid Date is not a value of JSON'],
])('a child with %s is refused by its path, instead of being written without the field', async (_, changes, error) => {
  expect(await errorOf(async ({ apply }) => await apply(Deployment, deployment(changes)))).toBe(error);
});

it('a field of a child that is undefined is not given, in metadata, in the spec and in a list', async () => {
  const containers = [{ name: 'c', image: 'i', command: undefined, resources: { limits: { cpu: undefined } } }];
  const desired = {
    metadata: { name: 'one', labels: { x: undefined }, annotations: undefined },
    spec: {
      replicas: undefined,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { automountServiceAccountToken: false, containers } },
    },
  } satisfies Desired<typeof Deployment>;
  const { error, value } = await resultOf(async ({ apply }) => {
    const written = await apply(Deployment, desired);
    expect(await apply(Deployment, desired)).toEqual(written);
    return written;
  });
  expect(error).toBeUndefined();
  expect(value).toMatchObject({ spec: { replicas: 1 } });
});

it('a time in a child is written as its text', async () => {
  const desired = { metadata: { name: 'one' }, data: { at: new Date(0) } };
  const result = await resultOf(async ({ apply }) => await apply(ConfigMap, desired));
  expect(result).toMatchObject({ error: undefined, value: { data: { at: '1970-01-01T00:00:00.000Z' } } });
});

it('an Event whose message is no text is recorded as text, and does not fail the reconcile', async () => {
  expect(await errorOf(async ({ recordEvent }) => recordEvent('Normal', 'Read', undefined as never))).toBeUndefined();
});
