// `outrigger detach` as a person runs it: how it finds the kind and its children, its options, output and exit status.
// The objects that it leaves are in test/operations/detach-*cases.ts.
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import type { Kind } from '../../src/api/kind.ts';
import { dinner } from '../../src/controllers/dinner.ts';
import { waterTank } from '../../src/controllers/water-tank.ts';
import { fieldManagerOf, finalizerOf } from '../../src/core/names.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { childObject } from '../../src/kube/apply/child-object.ts';
import { holdObject } from '../../src/kube/apply/finalizers.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { type KubeObject, parseObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
import { startHttpServer } from '../support/listen.ts';
import { expectUserError } from './command-result.ts';
import { operatedSystem } from './operated-system.ts';

const system = operatedSystem({ samples: ['water-tanks', 'dinner'] });
const tanks = waterTank.declaration.resource;
const dinners = dinner.declaration.resource;
const keyOf = (name: string) => ({ namespace: 'default', name });
let client: KubeClient;

const read = async (kind: Kind, name: string): Promise<KubeObject> => {
  const object = await getObject(client, kind, keyOf(name));
  if (object === undefined) throw new Error(`there is no ${kind.kind} ${name}`);
  return object;
};
const finalizersOf = async (name: string) => (await read(tanks, name)).metadata.finalizers;

beforeEach(async () => {
  client = system.client();
  for (const name of ['north', 'south', 'pond']) await hold(name, 'water-tank');
});

/** Adds the finalizer of a controller to a tank. */
async function hold(name: string, controller: string): Promise<void> {
  const options = { fieldManager: fieldManagerOf(controller) };
  await holdObject(client, tanks, await read(tanks, name), { finalizer: finalizerOf(controller) }, options);
}

/** Creates a tank whose deletion waits for the finalizer of a controller. */
async function createDeleted(controller: string): Promise<void> {
  const metadata = { ...keyOf('deleted'), finalizers: [finalizerOf(controller)] };
  const { apiVersion, kind } = tanks;
  const extra = parseObject({ apiVersion, kind, metadata, spec: { targetLevel: 1, capacity: 2 } });
  await applyObject(client, tanks, extra, { fieldManager: 'test' });
  await client.request({ method: 'DELETE', path: objectPath(tanks, keyOf('deleted')) });
}

/** Creates a child of the dinner, of a kind that the current version of its controller does not own. */
async function createFormerChild(): Promise<void> {
  const owner = { ...(await read(dinners, 'risotto')), apiVersion: dinners.apiVersion, kind: dinners.kind };
  const kind = { resource: ConfigMap, apiVersion: 'v1', kind: 'ConfigMap' };
  const wanted = childObject(
    { owner, controllerName: 'dinner', ...kind },
    { metadata: { name: 'menu' }, data: { a: 'b' } },
  );
  await applyObject(client, ConfigMap, wanted, { fieldManager: fieldManagerOf('dinner') });
}

/** Writes a kubeconfig of the API server, or of a proxy of it, and returns its path. */
async function kubeconfigOf(server = system.apiServer.url): Promise<string> {
  const text = system.apiServer.kubeconfig().replace(system.apiServer.url, server);
  await system.folder.write('admin.yaml', text);
  return system.folder.at('admin.yaml');
}

describe('detach without --yes', () => {
  it('detach without --yes shows the metadata that it would remove, changes nothing, and exits with 1', async () => {
    const writes = system.writes();
    const { out, err, status } = await system.run('detach', 'WaterTank');
    expect(out).toMatch(/^watertanks\.plant\.example\.com +the kind +3 +3 +3 +\d+ +0$/m);
    expect(err).toContain('nothing was changed; stop the watchers, remove the functions, and run this again');
    expect(status).toBe(1);
    expect(system.writes()).toBe(writes);
  });

  it('detach without --yes exits with 0 if no object has metadata of a controller', async () => {
    expect(await system.run('detach', 'pods')).toMatchObject({ status: 0 });
    const { out, status } = await system.run('detach', 'Book', '--output', 'json');
    const kinds = [{ kind: 'books.library.example.com', affected: 0 }];
    expect(JSON.parse(out)).toMatchObject({ state: 'nothing', kinds });
    expect(status).toBe(0);
  });

  it('detach names the objects that are being deleted without the clean-up of their controller', async () => {
    await createDeleted('water-tank');
    const { err } = await system.run('detach', 'wt');
    expect(err).toContain(
      "default/deleted is being deleted: its controller's clean-up outside the cluster will not run",
    );
    expect(await system.run('detach', 'wt', '--yes')).toMatchObject({ status: 0 });
    expect(await getObject(client, tanks, keyOf('deleted'))).toBeUndefined();
  });
});

describe('detach --yes', () => {
  it.each([
    'WaterTank',
    'watertanks',
    'watertanks.plant.example.com',
    'wt',
  ])('detach --yes removes the metadata from the objects of %s, and exits with 0', async (name) => {
    expect(await finalizersOf('north')).toEqual([finalizerOf('water-tank')]);
    const { out, err, status } = await system.run('detach', name, '--yes');
    expect(out).toMatch(/^watertanks\.plant\.example\.com +the kind +3 +3 +3 /m);
    expect(err).toMatch(/^watertanks\.plant\.example\.com: 3 detached$/m);
    expect(status).toBe(0);
    expect(await finalizersOf('north')).toBeUndefined();
    expect(await system.run('detach', name)).toMatchObject({ status: 0 });
  });

  it('detach --controller removes the metadata of that controller only', async () => {
    await hold('north', 'former');
    const { out, status } = await system.run('detach', 'WaterTank', '--controller', 'former', '--yes');
    expect(out).toMatch(/^watertanks\.plant\.example\.com +the kind +3 +1 +1 /m);
    expect(status).toBe(0);
    expect(await finalizersOf('north')).toEqual([finalizerOf('water-tank')]);
  });

  it('detach --finalizers-only removes one finalizer, and no child and no field of its controller', async () => {
    await createFormerChild();
    await hold('north', 'dinner');
    const argv = ['WaterTank', '--controller', 'dinner', '--finalizers-only'];
    const first = 'deploy this project first, because a deployed finalize adds its finalizer again';
    expect((await system.run('detach', ...argv)).err).toContain(
      `nothing was changed; ${first}, and run this again with --yes\n`,
    );
    expect(await system.run('detach', ...argv, '--yes')).toMatchObject({ status: 0 });
    expect(await finalizersOf('north')).toEqual([finalizerOf('water-tank')]);
    expect(JSON.stringify((await read(ConfigMap, 'menu')).metadata)).toContain('outrigger.dev/controller');
  });

  it('detach --finalizers-only exits with 1 while a deleted object has the finalizer, which its controller removes', async () => {
    await createDeleted('dinner');
    const argv = ['WaterTank', '--controller', 'dinner', '--finalizers-only', '--yes'];
    const line = '1 objects are being deleted and keep the finalizer, which their controller removes';
    for (const others of [['north'], []]) {
      for (const name of others) await hold(name, 'dinner');
      const { err, status } = await system.run('detach', ...argv);
      expect([err, status]).toEqual([expect.stringContaining(line), 1]);
    }
    expect((await read(tanks, 'deleted')).metadata.finalizers).toEqual([finalizerOf('dinner')]);
    const body = { metadata: { finalizers: null } };
    const path = objectPath(tanks, keyOf('deleted'));
    await client.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body });
    expect(await system.run('detach', ...argv)).toMatchObject({ status: 0 });
  });

  it('detach finds children of every kind, also those of earlier versions', async () => {
    await createFormerChild();
    const { out, status } = await system.run('detach', 'dinners', '--yes', '--output', 'json');
    const kinds = z.object({ kinds: z.array(z.looseObject({ kind: z.string() })) }).parse(JSON.parse(out)).kinds;
    expect(kinds.find(({ kind }) => kind === 'configmaps')).toMatchObject({ as: 'child', affected: 1, metadata: 3 });
    expect(status).toBe(0);
    const { labels, annotations, managedFields } = (await read(ConfigMap, 'menu')).metadata;
    expect(JSON.stringify([labels ?? {}, annotations ?? {}, managedFields ?? []])).not.toContain('outrigger');
  });

  it('detach exits with 1 if a running controller restores the metadata', async () => {
    await createFormerChild();
    // Stands for a running controller: it applies the child again after each patch.
    const restoringProxy = await startHttpServer(async (request, response) => {
      const { method = 'GET', url = '' } = request;
      const body = await text(request);
      const { accept = '*/*', 'content-type': type = '' } = request.headers;
      const headers = { 'content-type': type, accept };
      const answer = await fetch(`${system.apiServer.url}${url}`, {
        method,
        headers,
        ...(body === '' ? {} : { body }),
      });
      if (method === 'PATCH') await createFormerChild();
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    });
    onTestFinished(restoringProxy.close);
    const file = await kubeconfigOf(restoringProxy.url);
    const result = await system.run('detach', 'dinners', '--kubeconfig', file, '--yes');
    expectUserError(result, '1 objects are not detached, or were changed again; stop the watchers and functions');
  });

  it('detach --kubeconfig needs no running system', async () => {
    const file = await kubeconfigOf();
    const argv = ['WaterTank', '--kubeconfig', file, '--yes', '--folder', '/nowhere'];
    expect(await system.run('detach', ...argv)).toMatchObject({ status: 0 });
    expect(await finalizersOf('pond')).toBeUndefined();
  });
});

it.each([
  [['Tank'], 'the cluster has no kind "Tank"; those with a controller are WaterTank, '],
  [['WaterTank', '--cluster', 'nowhere'], 'cluster "nowhere": is not in the clusters table; name one of '],
  [['WaterTank', '--kubeconfig', '/nowhere'], '/nowhere: no such file; give the path of a kubeconfig'],
  [['WaterTank', '--kubeconfig', 'x', '--cluster', 'local'], '--kubeconfig and --cluster exclude each other'],
  [['WaterTank', '--finalizers-only'], '--finalizers-only needs --controller; name the controller'],
  [['WaterTank', '--finalizers-only', '--controller', 'water-tank'], 'water-tank has a finalize, and adds its'],
  [['WaterTank', '--finalizers-only', '--controller', 'watertank'], 'the registry has no controller "watertank"; '],
  [['WaterTank', '--folder', '/nowhere'], 'nothing runs here (no /nowhere/state.json): start outrigger dev, or name'],
])('detach %j prints one line with the next step, and exits with 1', async (argv, line) => {
  const result = await system.run('detach', ...argv);
  expectUserError(result, line);
  expect(result.out).toBe('');
});
