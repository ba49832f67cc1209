// Only the objects of an API server over a restart, and the file that keeps them.
import { mkdir, stat } from 'node:fs/promises';
import { startApiServer } from '@outrigger/apiserver';
import { keepObjects, readKeptObjects } from '@outrigger/cli/dev/kept-objects';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { useFolder } from '../support/folder.ts';
import { widgetDefinition } from '../support/widget-crd.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const { group } = widgetDefinition.spec;
const widgets = `/apis/${group}/v1/namespaces/default/widgets`;
const object = z.looseObject({
  metadata: z.looseObject({ uid: z.string(), resourceVersion: z.string(), creationTimestamp: z.string() }),
});

const folder = useFolder();
const file = () => folder.at('objects.json');

async function start() {
  const server = await startApiServer({ snapshot: await readKeptObjects(file()) });
  const request = async (method: string, at: string, body?: unknown) =>
    await fetch(server.url + at, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return { server, request, read: async (at: string) => object.parse(await (await request('GET', at)).json()) };
}

it('objects, their kinds and their owners are there again after a restart, with the same uids', async () => {
  const first = await start();
  const keeper = keepObjects(first.server, file());
  await first.request('POST', definitions, widgetDefinition);
  await first.request('POST', widgets, {
    apiVersion: `${group}/v1`,
    kind: 'Widget',
    metadata: { name: 'north', finalizers: ['shop.example.com/light'] },
  });
  const owner = await first.read(`${widgets}/north`);
  const { uid } = owner.metadata;
  const ownerReferences = [{ apiVersion: `${group}/v1`, kind: 'Widget', name: 'north', uid }];
  const maps = '/api/v1/namespaces/default/configmaps';
  await first.request('POST', maps, { metadata: { name: 'child', ownerReferences } });
  await keeper.close();
  await first.server.close();
  expect((await stat(file())).mode & 0o777).toBe(0o600);

  const second = await start();
  onTestFinished(() => second.server.close());
  expect(await second.read(`${widgets}/north`)).toEqual(owner);
  const { metadata } = await second.read('/api/v1/namespaces/default');
  expect(Number(metadata.resourceVersion)).toBeGreaterThan(0);
  // Its versions go on, its finalizer still holds it, and the garbage collector knows its child.
  await second.request('DELETE', `${widgets}/north`);
  const deleting = await second.read(`${widgets}/north`);
  expect(Number(deleting.metadata.resourceVersion)).toBeGreaterThan(Number(owner.metadata.resourceVersion) + 1);
  const patch = { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' } };
  await fetch(`${second.server.url}${widgets}/north`, { ...patch, body: '{"metadata":{"finalizers":null}}' });
  await expect.poll(async () => (await second.request('GET', `${maps}/child`)).status).toBe(404);
});

it('a file of another format is an error with the next step', async () => {
  expect(await readKeptObjects(file())).toBeUndefined();
  await folder.write('objects.json', '{"version":1,"collections":{"/pods":[1]}}');
  const message = `${file()}: not the objects of outrigger dev --keep; remove it and restart outrigger dev`;
  await expect(readKeptObjects(file())).rejects.toThrow(message);
  expect(await folder.read('objects.json')).toContain('/pods');
});

it('objects that could not be written, such as to a full disk, are written when it is possible again', async () => {
  const { server, request } = await start();
  onTestFinished(() => server.close());
  const keeper = keepObjects(server, folder.at('later/objects.json'));
  await request('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'kept' } });
  await expect(keeper.close()).rejects.toThrow('ENOENT');
  await mkdir(folder.at('later'));
  await keeper.close();
  expect(JSON.stringify(await readKeptObjects(folder.at('later/objects.json')))).toContain('"name":"kept"');
});
