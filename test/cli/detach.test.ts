// `outrigger detach` as a person runs it: how it finds the kind and its children, its options, output and exit status.
// The objects that it leaves are in test/operations/detach-*cases.ts.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Kind } from '../../src/api/kind.ts';
import { dinner } from '../../src/controllers/dinner.ts';
import { waterTank } from '../../src/controllers/water-tank.ts';
import { fieldManagerOf, finalizerOf } from '../../src/core/names.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { childObject } from '../../src/kube/apply/child-object.ts';
import { holdObject } from '../../src/kube/apply/finalizers.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { type KubeObject, parseObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
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
  client = createClient({ server: new URL(system.apiServer) }, { userAgent: 'kubectl' });
  for (const name of ['north', 'south', 'pond']) {
    const tank = await read(tanks, name);
    await holdObject(
      client,
      tanks,
      tank,
      { finalizer: finalizerOf('water-tank') },
      {
        fieldManager: fieldManagerOf('water-tank'),
      },
    );
  }
});
afterEach(() => client.close());

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

/** Writes a kubeconfig for a server without credentials, and returns its path. */
async function kubeconfigOf(server: string): Promise<string> {
  const file = path.join(system.folder, 'admin.yaml');
  const config = {
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config }));
  return file;
}

describe('detach without --yes', () => {
  it('detach without --yes shows the metadata that it would remove, changes nothing, and exits with 1', async () => {
    const writes = system.writes();
    const { out, err, status } = await system.run('detach', 'WaterTank');
    expect(out).toMatch(/^watertanks\.plant\.example\.com +the kind +3 +3 +3 +\d+ +0$/m);
    expect(err).toContain(
      'nothing was changed; stop the watchers, remove the functions, and run this again with --yes',
    );
    expect(status).toBe(1);
    expect(system.writes()).toBe(writes);
  });

  it('detach without --yes exits with 0 if no object has metadata of a controller', async () => {
    expect(await system.run('detach', 'pods')).toMatchObject({ status: 0 });
    const { out, status } = await system.run('detach', 'Book', '--output', 'json');
    expect(JSON.parse(out)).toMatchObject({
      state: 'nothing',
      kinds: [{ kind: 'books.library.example.com', affected: 0 }],
    });
    expect(status).toBe(0);
  });

  it('detach names the objects that are being deleted without the clean-up of their controller', async () => {
    const extra = parseObject({
      ...tank('deleted'),
      metadata: { name: 'deleted', namespace: 'default', finalizers: [finalizerOf('water-tank')] },
    });
    await applyObject(client, tanks, extra, { fieldManager: 'test' });
    await client.request({ method: 'DELETE', path: objectPath(tanks, keyOf('deleted')) });
    const { err } = await system.run('detach', 'wt');
    expect(err).toContain(
      "default/deleted is being deleted: its controller's clean-up outside the cluster will not run",
    );
    expect(await system.run('detach', 'wt', '--yes')).toMatchObject({ status: 0 });
    expect(await getObject(client, tanks, keyOf('deleted'))).toBeUndefined();
  });
});

const tank = (name: string) => ({
  apiVersion: tanks.apiVersion,
  kind: tanks.kind,
  metadata: { name, namespace: 'default' },
  spec: { targetLevel: 1, capacity: 2 },
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
    const former = await read(tanks, 'north');
    await holdObject(
      client,
      tanks,
      former,
      { finalizer: finalizerOf('former') },
      { fieldManager: fieldManagerOf('former') },
    );
    const { out, status } = await system.run('detach', 'WaterTank', '--controller', 'former', '--yes');
    expect(out).toMatch(/^watertanks\.plant\.example\.com +the kind +3 +1 +1 /m);
    expect(status).toBe(0);
    expect(await finalizersOf('north')).toEqual([finalizerOf('water-tank')]);
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
    const restoringProxy = createServer(async (request, response) => {
      const { method = 'GET', url = '' } = request;
      const body = await text(request);
      const headers = {
        'content-type': request.headers['content-type'] ?? '',
        accept: request.headers.accept ?? '*/*',
      };
      const answer = await fetch(`${system.apiServer}${url}`, { method, headers, ...(body === '' ? {} : { body }) });
      if (method === 'PATCH') await createFormerChild();
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    });
    await once(restoringProxy.listen(0, '127.0.0.1'), 'listening');
    const address = z.object({ port: z.number() }).parse(restoringProxy.address());
    const file = await kubeconfigOf(`http://127.0.0.1:${address.port}`);
    const { err, status } = await system.run('detach', 'dinners', '--kubeconfig', file, '--yes');
    restoringProxy.close();
    restoringProxy.closeAllConnections();
    const last = err.trimEnd().split('\n').at(-1);
    expect(last).toContain('1 objects are not detached, or were changed again; stop the watchers and functions');
    expect(status).toBe(1);
  });

  it('detach --kubeconfig needs no running system', async () => {
    const file = await kubeconfigOf(system.apiServer);
    const argv = ['WaterTank', '--kubeconfig', file, '--yes', '--folder', '/nowhere'];
    expect(await system.run('detach', ...argv)).toMatchObject({ status: 0 });
    expect(await finalizersOf('pond')).toBeUndefined();
  });
});

describe('detach errors', () => {
  it.each([
    [['Tank'], 'the cluster has no kind "Tank"; those with a controller are WaterTank, '],
    [['WaterTank', '--cluster', 'nowhere'], 'cluster "nowhere" is not in the clusters table; name one with --cluster'],
    [['WaterTank', '--kubeconfig', '/nowhere'], '/nowhere: no such file; give the path of a kubeconfig'],
    [['WaterTank', '--kubeconfig', 'x', '--cluster', 'local'], '--kubeconfig and --cluster exclude each other'],
    [['WaterTank', '--folder', '/nowhere'], 'nothing runs here (no /nowhere/state.json): start outrigger dev, or name'],
  ])('detach %j prints one line with the next step, and exits with 1', async (argv, line) => {
    const { err, out, status } = await system.run('detach', ...argv);
    expect(err.trimEnd().split('\n').at(-1)).toContain(line);
    expect(err).not.toContain('    at ');
    expect(out).toBe('');
    expect(status).toBe(1);
  });
});
