// A finalize that waits for a slow deletion outside of the cluster until a time: when it is called again, also after a
// change of the object, and what its requeue does if the object is gone.
import { expect, it } from 'vitest';
import * as z from 'zod';
import { getObject } from '../../src/kube/client/read.ts';
import { defineKind } from '../../src/outrigger.ts';
import { battery, startSystem, type TestApiServer } from '../../src/testing.ts';

const Database = defineKind({
  group: 'slow.example.com',
  version: 'v1',
  kind: 'Database',
  conditions: [],
  spec: z.object({ size: z.number() }),
  status: z.object({}),
});
const key = { name: 'one', namespace: 'default' };
const object = { apiVersion: Database.apiVersion, kind: 'Database', metadata: key, spec: { size: 1 } };
/** Between two runs of the resync, which is every ten minutes. */
const gone = new Date('2026-01-01T00:33:00Z');

/** A system with the object; `looks` has the minutes at which finalize was called. */
async function start(selector: { readonly matchLabels?: { readonly tier: string } } = {}) {
  const looks: number[] = [];
  const database = Database.controller('database', {
    ...(selector.matchLabels === undefined ? {} : { selector }),
    reconcile: async () => ({ status: {}, conditions: {} }),
    finalize: async (_, { now }) => {
      looks.push(Math.round((now().getTime() - Date.UTC(2026, 0, 1)) / 60_000));
      return now() >= gone ? 'done' : { requeueAt: gone, reason: 'Deleting', message: 'the provider says: at 00:33' };
    },
  });
  const labels = selector.matchLabels ?? {};
  const objects = [{ ...object, metadata: { ...key, labels } }];
  const system = await startSystem({ controllers: [database], objects });
  await system.settled();
  return { system, looks };
}

async function finalizersOf({ client }: TestApiServer): Promise<readonly string[] | undefined> {
  return (await getObject(client, Database, key))?.metadata.finalizers;
}

it('finalize is called again at its requeueAt, once, also if the object changes meanwhile', async () => {
  const { system, looks } = await start();
  await using _ = system;
  await system.cluster.delete(Database, key);
  await system.settled();
  expect((await system.cluster.get(Database, key))?.metadata).toMatchObject({ deletionTimestamp: expect.any(String) });
  await system.advance(5);
  await system.cluster.apply({ ...object, spec: { size: 2 } });
  await system.advance(20);
  expect(looks).toEqual([0, 5]);
  await system.advance(35);
  expect(looks).toEqual([0, 5, 33]);
  expect(await system.cluster.get(Database, key)).toBeUndefined();
});

it('a finalize with requeueAt of an object that left the selection is called again at that time', async () => {
  const { system, looks } = await start({ matchLabels: { tier: 'gold' } });
  await using _ = system;
  expect(await finalizersOf(system.cluster)).toHaveLength(1);
  await system.cluster.patch(Database, key, { metadata: { labels: { tier: null } } });
  await system.advance(60);
  // The resync finds objects that are held and not selected.
  expect(looks).toEqual([0, 10, 20, 30, 33]);
  expect((await finalizersOf(system.cluster)) ?? []).toEqual([]);
});

it('the requeue of a finalize finds nothing to do after another client removed the finalizer', async () => {
  const { system, looks } = await start();
  await using _ = system;
  await system.cluster.delete(Database, key);
  await system.settled();
  await system.cluster.patch(Database, key, { metadata: { finalizers: null } });
  await system.advance(60);
  expect(looks).toEqual([0]);
  expect(system.deadLetters('database')).toEqual([]);
  expect(system.reconciles.at(-1)).toMatchObject({ cause: 'requeue', outcome: 'nothing' });
});

it('the battery deletes an object whose finalize returns requeueAt until it is done', async () => {
  const hour = 3_600_000;
  const slow = Database.controller('database', {
    reconcile: async () => ({ status: {}, conditions: {} }),
    finalize: async ({ metadata: { deletionTimestamp = '' } }, { now }) => {
      const due = new Date(Date.parse(deletionTimestamp) + hour);
      return now() >= due ? 'done' : { requeueAt: due, reason: 'Deleting' };
    },
  });
  const check = battery(slow, { samples: [object] }).find(({ name }) => name.startsWith('a deleted object'));
  await expect(check?.run()).resolves.toBeUndefined();
});
