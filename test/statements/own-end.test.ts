// A controller that deletes the objects that it reconciles, such as one of a time to live, and counts what it does: in
// the whole system, and in a test context.
import { expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
import { startSystem, testContext } from '../../src/testing.ts';

const Token = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Token',
  conditions: [],
  spec: z.object({ seconds: z.number() }),
  status: z.object({}),
});
const finalized: string[] = [];
const token = Token.controller('token', {
  owns: [ConfigMap],
  deletesSelf: true,
  async reconcile({ metadata: { name, creationTimestamp = '' }, spec }, { apply, deleteSelf, metrics, now }) {
    const ends = new Date(Date.parse(creationTimestamp) + spec.seconds * 1000);
    if (now() >= ends) {
      await deleteSelf();
      metrics.count('TokensExpired');
      return { status: {}, conditions: {} };
    }
    await apply(ConfigMap, { metadata: { name }, data: {} });
    return { status: {}, conditions: {}, requeueAt: ends };
  },
});
const finalizing = Token.controller('finalizing', {
  deletesSelf: true,
  async reconcile(_, { deleteSelf }) {
    await deleteSelf();
    return { status: {}, conditions: {} };
  },
  async finalize({ metadata: { name } }) {
    finalized.push(name);
    return 'done';
  },
});
const key = { namespace: 'default', name: 'a' };
const object = { apiVersion: Token.apiVersion, kind: 'Token', metadata: key, spec: { seconds: 600 } };

it('an object is deleted with its children when its time is over, without a dead letter', async () => {
  await using system = await startSystem({ controllers: [token] });
  await system.cluster.apply(object);
  await system.settled();
  expect(await system.cluster.get(ConfigMap, key)).toBeDefined();
  await system.advance(11);
  expect([await system.cluster.get(Token, key), await system.cluster.get(ConfigMap, key)]).toEqual([
    undefined,
    undefined,
  ]);
  expect([system.deadLetters('token'), system.reconciles.filter(({ outcome }) => outcome === 'failed')]).toEqual([
    [],
    [],
  ]);
});

it('an object with a finalizer is finalized', async () => {
  await using system = await startSystem({ controllers: [finalizing] });
  await system.cluster.apply(object);
  await system.settled();
  expect([await system.cluster.get(Token, key), finalized]).toEqual([undefined, ['a']]);
  expect([system.deadLetters('finalizing'), system.reconciles.filter(({ outcome }) => outcome === 'failed')]).toEqual([
    [],
    [],
  ]);
});

it('the role has delete where it is declared, and the call is refused elsewhere', async () => {
  const { reconcile } = token;
  const undeclared = Token.controller('undeclared', { owns: [ConfigMap], reconcile });
  const rulesOf = (controller: typeof token) => JSON.stringify(rbacOf([controller], watchListOf([controller])));
  expect(rulesOf(token)).toContain('"resources":["tokens"],"verbs":["get","list","delete"]');
  expect(rulesOf(undeclared)).toContain('"resources":["tokens"],"verbs":["get","list"]');
  const owner = Token.object('a', { seconds: 0 }, { creationTimestamp: '2026-01-01T00:00:00Z' });
  await expect(undeclared.reconcile(owner, testContext(undeclared, { owner }))).rejects.toThrow(
    'undeclared does not declare deletesSelf, so its role forbids it; add deletesSelf: true',
  );
});

it('a test context shows what was counted, and that the object is deleted; a wrong name is refused', async () => {
  const owner = Token.object('a', { seconds: 0 }, { creationTimestamp: '2026-01-01T00:00:00Z' });
  const context = testContext(token, { owner });
  await token.reconcile(owner, context);
  expect([context.isSelfDeleted(), [...context.counts]]).toEqual([true, [['TokensExpired', 1]]]);
  context.metrics.count('RecordsWritten', 3);
  context.metrics.count('RecordsWritten');
  expect(context.counts.get('RecordsWritten')).toBe(4);
  const count = (name: string, value?: number) => () => context.metrics.count(name, value);
  expect(count('records of a')).toThrow('records of a is not a name such as RecordsWritten');
  expect(count('DeadLetters')).toThrow('DeadLetters is a metric of Outrigger');
  expect(count('RecordsWritten', Number.NaN)).toThrow('RecordsWritten has no finite value');
});
