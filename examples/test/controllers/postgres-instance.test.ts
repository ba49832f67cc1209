// A database that takes a minute for each operation: the object waits, and is deleted after it.
import { Secret } from 'outrigger/kubernetes';
import { battery, startSystem } from 'outrigger/testing';
import { expect, it } from 'vitest';
import { PostgresInstance, postgresInstance } from '../../src/controllers/postgres-instance.ts';
import { startPostgres } from '../outside/postgres.ts';

const key = { namespace: 'default', name: 'orders' };
const sample = (storageGb: number, version = '18') => ({
  apiVersion: PostgresInstance.apiVersion,
  kind: 'PostgresInstance',
  metadata: key,
  spec: { version, storageGb },
});

it('it is Available when the service is done, keeps its password, and stays until the database is gone', async () => {
  const clock = { now: () => new Date() };
  const service = await startPostgres({ now: () => clock.now() });
  await using system = await startSystem({ controllers: [postgresInstance], environment: service.environment ?? {} });
  clock.now = () => system.now();
  const object = async () => await system.cluster.get(PostgresInstance, key);
  const secret = async () => (await system.cluster.get(Secret, { ...key, name: 'orders-postgres' }))?.data;

  await system.cluster.apply(sample(20));
  await system.advance(0.1);
  expect((await object())?.status).toMatchObject({ state: 'creating' });
  const password = (await secret())?.password;
  await system.advance(5);
  expect((await object())?.status).toMatchObject({ state: 'available', host: expect.stringContaining('.db.test') });
  await system.cluster.apply(sample(50));
  await system.advance(5);
  expect(service.state?.()).toEqual([{ version: '18', storageGb: 50 }]);
  expect(await secret()).toEqual({ password, host: expect.any(String) });

  await system.cluster.delete(PostgresInstance, key);
  await system.advance(0.1);
  expect(await object()).toBeDefined();
  await system.advance(5);
  expect(await object()).toBeUndefined();
  expect(service.state?.()).toEqual([]);
  await service.close?.();
});

const samples = [sample(20, '17'), sample(50)];
for (const { name, run } of battery(postgresInstance, { samples, outside: startPostgres })) it(name, run);
