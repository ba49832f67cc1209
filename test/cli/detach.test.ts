// `outrigger release` as a person runs it: how it finds the kind and its children, what it asks for, what it says, how it ends. What it
// leaves on each object is in test/runtime/release-*cases.ts.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { dinner } from '../../src/controllers/dinner.ts';
import { waterTank } from '../../src/controllers/water-tank.ts';
import { existingKind, type Kind } from '../../src/core/kind.ts';
import { fieldManagerOf, finalizerOf } from '../../src/core/names.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { childObject } from '../../src/kube/apply/child-object.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { ensureFinalizer } from '../../src/kube/apply/finalizers.ts';
import { type KubeObject, parseObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { operatedSystem } from './operated-system.ts';

const system = operatedSystem({ samples: ['water-tanks', 'dinner'] });
const tanks = waterTank.declares.resource;
const dinners = dinner.declares.resource;
const configMaps = existingKind<object>({ group: '', version: 'v1', kind: 'ConfigMap' });
const place = (name: string) => ({ namespace: 'default', name });
let client: KubeClient;

const read = async (kind: Kind, name: string): Promise<KubeObject> => {
  const object = await getObject(client, kind, place(name));
  if (object === undefined) throw new Error(`there is no ${kind.kind} ${name}`);
  return object;
};
const finalizersOf = async (name: string) => (await read(tanks, name)).metadata.finalizers;

beforeEach(async () => {
  client = createClient({ server: new URL(system.apiServer) }, { userAgent: 'kubectl' });
  for (const name of ['north', 'south', 'pond']) {
    const tank = await read(tanks, name);
    await ensureFinalizer(client, tanks, tank, finalizerOf('water-tank'), {
      fieldManager: fieldManagerOf('water-tank'),
    });
  }
});
afterEach(() => client.close());

/** Makes a child of the dinner of a kind that no version of its controller in the registry has. */
async function formerChild(): Promise<void> {
  const owner = { ...(await read(dinners, 'risotto')), apiVersion: dinners.apiVersion, kind: dinners.kind };
  const kind = { resource: configMaps, apiVersion: 'v1', kind: 'ConfigMap' };
  const wanted = childObject(
    { owner, controllerName: 'dinner', ...kind },
    { metadata: { name: 'menu' }, data: { a: 'b' } },
  );
  await applyObject(client, configMaps, wanted, { fieldManager: fieldManagerOf('dinner') });
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

describe('release without --yes', () => {
  it('shows what is there of ours, changes nothing, and ends with 1', async () => {
    const writes = system.writes();
    const { out, err, status } = await system.run('release', 'WaterTank');
    expect(out).toMatch(/^watertanks\.plant\.example\.com +the kind +3 +3 +3 +\d+ +0$/m);
    expect(err).toContain(
      'nothing was changed; stop the watchers and remove the functions, then run this again with --yes',
    );
    expect(status).toBe(1);
    expect(system.writes()).toBe(writes);
  });

  it('ends with 0 where there is nothing of ours', async () => {
    expect(await system.run('release', 'pods')).toMatchObject({ status: 0 });
    const { out, status } = await system.run('release', 'Book', '--output', 'json');
    expect(JSON.parse(out)).toMatchObject({
      state: 'nothing',
      kinds: [{ kind: 'books.library.example.com', ours: 0 }],
    });
    expect(status).toBe(0);
  });

  it('names the objects that are being deleted, whose clean-up is not done', async () => {
    const extra = parseObject({
      ...tank('leaving'),
      metadata: { name: 'leaving', namespace: 'default', finalizers: [finalizerOf('water-tank')] },
    });
    await applyObject(client, tanks, extra, { fieldManager: 'test' });
    await client.request({ method: 'DELETE', path: objectPath(tanks, place('leaving')) });
    const { err } = await system.run('release', 'wt');
    expect(err).toContain(
      "default/leaving is being deleted: its controller's clean-up outside the cluster will be left undone",
    );
    expect(await system.run('release', 'wt', '--yes')).toMatchObject({ status: 0 });
    expect(await getObject(client, tanks, place('leaving'))).toBeUndefined();
  });
});

const tank = (name: string) => ({
  apiVersion: tanks.apiVersion,
  kind: tanks.kind,
  metadata: { name, namespace: 'default' },
  spec: { targetLevel: 1, capacity: 2 },
});

describe('release --yes', () => {
  it.each([
    'WaterTank',
    'watertanks',
    'watertanks.plant.example.com',
    'wt',
  ])('releases the kind %s, and ends with 0', async (name) => {
    expect(await finalizersOf('north')).toEqual([finalizerOf('water-tank')]);
    const { out, err, status } = await system.run('release', name, '--yes');
    expect(out).toMatch(/^watertanks\.plant\.example\.com +the kind +3 +3 +3 /m);
    expect(err).toMatch(/^watertanks\.plant\.example\.com: 3 released$/m);
    expect(status).toBe(0);
    expect(await finalizersOf('north')).toBeUndefined();
    expect(await system.run('release', name)).toMatchObject({ status: 0 });
  });

  it('--controller takes off what that one left, and nothing of the others', async () => {
    const former = await read(tanks, 'north');
    await ensureFinalizer(client, tanks, former, finalizerOf('former'), { fieldManager: fieldManagerOf('former') });
    const { out, status } = await system.run('release', 'WaterTank', '--controller', 'former', '--yes');
    expect(out).toMatch(/^watertanks\.plant\.example\.com +the kind +3 +1 +1 /m);
    expect(status).toBe(0);
    expect(await finalizersOf('north')).toEqual([finalizerOf('water-tank')]);
  });

  it('finds children of whatever kind, those of earlier versions included', async () => {
    await formerChild();
    const { out, status } = await system.run('release', 'dinners', '--yes', '--output', 'json');
    const kinds = z.object({ kinds: z.array(z.looseObject({ kind: z.string() })) }).parse(JSON.parse(out)).kinds;
    expect(kinds.find(({ kind }) => kind === 'configmaps')).toMatchObject({ as: 'child', ours: 1, marks: 3 });
    expect(status).toBe(0);
    const { labels, annotations, managedFields } = (await read(configMaps, 'menu')).metadata;
    expect(JSON.stringify([labels ?? {}, annotations ?? {}, managedFields ?? []])).not.toContain('outrigger');
  });

  it('says that a controller still runs when what was released is there again', async () => {
    await formerChild();
    // In place of a controller: what makes the child anew as soon as it was released.
    const meddler = createServer(async (request, response) => {
      const { method = 'GET', url = '' } = request;
      const body = await text(request);
      const headers = {
        'content-type': request.headers['content-type'] ?? '',
        accept: request.headers.accept ?? '*/*',
      };
      const answer = await fetch(`${system.apiServer}${url}`, { method, headers, ...(body === '' ? {} : { body }) });
      if (method === 'PATCH') await formerChild();
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    });
    await once(meddler.listen(0, '127.0.0.1'), 'listening');
    const address = z.object({ port: z.number() }).parse(meddler.address());
    const file = await kubeconfigOf(`http://127.0.0.1:${address.port}`);
    const { err, status } = await system.run('release', 'dinners', '--kubeconfig', file, '--yes');
    meddler.close();
    meddler.closeAllConnections();
    const last = err.trimEnd().split('\n').at(-1);
    expect(last).toContain('left, or put back: 1; a controller that still runs undoes this');
    expect(status).toBe(1);
  });

  it('works with a kubeconfig, for which nothing has to run here', async () => {
    const file = await kubeconfigOf(system.apiServer);
    const argv = ['WaterTank', '--kubeconfig', file, '--yes', '--folder', '/nowhere'];
    expect(await system.run('release', ...argv)).toMatchObject({ status: 0 });
    expect(await finalizersOf('pond')).toBeUndefined();
  });
});

describe('a mistake is one line that says what to do, and exit status 1:', () => {
  it.each([
    [['Tank'], 'the cluster has no kind "Tank"; those with a controller are WaterTank, '],
    [['WaterTank', '--cluster', 'nowhere'], 'cluster "nowhere" is not in the clusters table; name one with --cluster'],
    [['WaterTank', '--kubeconfig', '/nowhere'], '/nowhere: no such file; give the path of a kubeconfig'],
    [['WaterTank', '--kubeconfig', 'x', '--cluster', 'local'], '--kubeconfig and --cluster exclude each other'],
    [['WaterTank', '--folder', '/nowhere'], 'nothing runs here (no /nowhere/state.json): start outrigger dev, or name'],
  ])('release %j', async (argv, line) => {
    const { err, out, status } = await system.run('release', ...argv);
    expect(err.trimEnd().split('\n').at(-1)).toContain(line);
    expect(err).not.toContain('    at ');
    expect(out).toBe('');
    expect(status).toBe(1);
  });
});
