// The copies of a Secret: where the Reflection says, equal to the source, and gone with it.
import { Secret } from 'outrigger/kubernetes';
import { battery, startSystem } from 'outrigger/testing';
import { expect, it } from 'vitest';
import { Reflection, secretReflector } from '../../src/controllers/secret-reflector.ts';

const key = { namespace: 'default', name: 'registry' };
const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const secret = (data: object) => ({ apiVersion: 'v1', kind: 'Secret', metadata: key, data });
const sample = (...namespaces: readonly string[]) => ({
  apiVersion: Reflection.apiVersion,
  kind: 'Reflection',
  metadata: key,
  spec: { secretName: 'registry', namespaces },
});

it('the copies follow the source, reach a Namespace that is made later, and go with the Reflection', async () => {
  await using system = await startSystem({ controllers: [secretReflector] });
  const copies = async (...objects: readonly object[]) => {
    for (const object of objects) await system.cluster.apply(object);
    await system.settled();
    const secrets = (await system.cluster.list(Secret)).filter((one) => one.metadata.namespace !== 'default');
    return Object.fromEntries(secrets.map((one) => [one.metadata.namespace, Object.keys(one.data ?? {})]));
  };
  expect(await copies(namespace('shop'), sample('shop', 'billing'))).toEqual({});
  expect(await copies(secret({ password: 'eA==' }))).toEqual({ shop: ['password'] });
  expect(await copies(namespace('billing'))).toEqual({ shop: ['password'], billing: ['password'] });
  expect(await copies(secret({ token: 'eA==' }))).toEqual({ shop: ['token'], billing: ['token'] });
  expect(await copies(sample('billing'))).toEqual({ billing: ['token'] });
  await system.cluster.delete(Reflection, key);
  expect(await copies()).toEqual({});
});

const objects = [namespace('shop'), namespace('billing'), secret({ password: 'eA==' })];
const samples = [sample('shop'), sample('*')];
for (const { name, run } of battery(secretReflector, { samples, objects })) it(name, run);
