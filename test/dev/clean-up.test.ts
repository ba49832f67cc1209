// Only what the end of a run deletes from a cluster, and what it leaves there.

import { startApiServer } from '@outrigger/apiserver';
import { cleanUp } from '@outrigger/cli/dev/clean-up';
import { expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../src/kube/client/client.ts';
import { applyManifests, parseManifests } from '../../src/testing/manifests.ts';

const signal = new AbortController().signal;
const definition = (plural: string, kind: string) => `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${plural}.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: ${plural}, kind: ${kind}}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`;
const lamp = (name: string, finalizers = '') => `---
apiVersion: shop.example.com/v1
kind: Lamp
metadata: {name: ${name}, finalizers: [${finalizers}]}
`;

async function start() {
  const server = await startApiServer();
  const client = createClient({ server: new URL(server.url) }, { userAgent: 'test' });
  onTestFinished(async () => {
    client.close();
    await server.close();
  });
  const apply = async (text: string) => await applyManifests(client, parseManifests(text, 'a.yaml'), { signal });
  const statusOf = async (at: string) => (await fetch(`${server.url}/apis/${at}`)).status;
  return { server, client, apply, statusOf };
}

it('what was created is deleted, and what was there before stays with its CRD', async () => {
  const { client, apply, statusOf } = await start();
  await apply(definition('lamps', 'Lamp') + lamp('before'));
  const applied = await apply(
    definition('lamps', 'Lamp') +
      definition('doors', 'Door') +
      lamp('before') +
      lamp('here') +
      '---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n',
  );
  expect(await cleanUp(client, applied, { signal })).toEqual(['deleted 3 objects that were created here']);
  const definitions = 'apiextensions.k8s.io/v1/customresourcedefinitions';
  const lamps = 'shop.example.com/v1/namespaces/default/lamps';
  expect(await Promise.all(['before', 'here'].map(async (name) => await statusOf(`${lamps}/${name}`)))).toEqual([
    200, 404,
  ]);
  expect(await statusOf(`${definitions}/lamps.shop.example.com`)).toBe(200);
  expect(await statusOf(`${definitions}/doors.shop.example.com`)).toBe(404);
});

it('an object that a finalizer holds, and the CRD of objects of others, stay and are named', async () => {
  const { client, apply } = await start();
  const applied = await apply(definition('lamps', 'Lamp') + lamp('held', 'shop.example.com/light'));
  await apply(lamp('theirs'));
  expect(await cleanUp(client, applied, { signal: AbortSignal.timeout(500) })).toEqual([
    'deleted 0 objects that were created here',
    'stays: Lamp held: still there',
    expect.stringMatching(/^stays: CustomResourceDefinition lamps\.shop\.example\.com: /),
  ]);
});
