// `outrigger clusters decommission` as a person runs it. What functions do then is in test/reconciling and test/fleet.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { clustersCommand } from '@outrigger/cli/commands/clusters/clusters';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../../src/api/custom-kind.ts';
import { WaterTank } from '../../../src/controllers/water-tank.ts';
import { startApiServer, type TestApiServer } from '../../../src/testing.ts';
import { startChaosProxy } from '../../../tools/chaos/chaos-proxy.ts';
import { useFolder } from '../../support/folder.ts';
import { expectUserError, runHere, runIn } from '../command-result.ts';

let server: TestApiServer;
const folder = useFolder();
const table = 'clusters.json';
beforeEach(async () => {
  server = await startApiServer({ crds: [WaterTank] });
});
afterEach(() => server.close());

const entry = () => ({ server: server.url, access: { type: 'none' } });
const run = async (...argv: readonly string[]) =>
  await runHere(clustersCommand(), [...argv, '--table', folder.at(table)]);
const store = async (entries: object) => await folder.write(table, JSON.stringify(entries));
const stored = async () => await folder.json(table);
const one = { namespace: 'default', name: 'one' };

it('decommission is refused while an object has a finalizer of a controller, and names how many', async () => {
  await store({ a: entry() });
  const tank = { apiVersion: WaterTank.apiVersion, kind: 'WaterTank', spec: { targetLevel: 40, capacity: 100 } };
  await server.apply(
    { ...tank, metadata: { ...one, finalizers: ['outrigger.dev/water-tank'] } },
    { ...tank, metadata: { ...one, name: 'two', finalizers: ['others.example.com/backup'] } },
  );
  expectUserError(await run('decommission', 'a'), '1 watertanks.plant.example.com with a finalizer');
  expect(await stored()).toEqual({ a: entry() });

  await server.patch(WaterTank, one, { metadata: { finalizers: null } });
  const out = expect.stringContaining('clusters remove a');
  expect(await run('decommission', 'a')).toMatchObject({ status: 0, out });
  expect(await stored()).toEqual({ a: { ...entry(), decommissioning: true } });
});

it('decommission counts each of two kinds with the same name, in all namespaces, or where that is forbidden in those of the project', async () => {
  const at = (file: string) => pathToFileURL(path.resolve(file)).href;
  await folder.write(
    'src/controllers/registry.ts',
    `import * as z from '${at('node_modules/zod/index.js')}';
    import { defineKind } from '${at('src/outrigger.ts')}';
    const site = { version: 'v1', kind: 'Site', spec: z.object({}), status: z.object({}), conditions: [] };
    const reconcile = async () => ({ status: {}, conditions: {} });
    export const registry = ['a', 'b'].map((name) =>
      defineKind({ ...site, group: name + '.example.com' }).controller(name, { reconcile }));`,
  );
  await folder.write('package.json', JSON.stringify({ type: 'module', outrigger: { namespaces: ['default'] } }));
  const site = { version: 'v1', kind: 'Site', spec: z.object({}), status: z.object({}), conditions: [] };
  const crds = ['a.example.com', 'b.example.com'].map((group) => defineKind({ ...site, group }));
  await using sites = await startApiServer({ crds });
  const finalizers = ['outrigger.dev/a'];
  const aSite = (group: string, metadata: object) => ({
    apiVersion: `${group}.example.com/v1`,
    kind: 'Site',
    metadata: { ...one, ...metadata },
    spec: {},
  });
  await sites.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'left' } });
  await sites.apply(aSite('a', { finalizers }), aSite('b', { namespace: 'left', finalizers }));
  const decommission = async (url: string) => {
    await store({ a: { ...entry(), server: url } });
    return await runIn(folder.path, ['clusters', 'decommission', 'a', '--table', folder.at(table)]);
  };
  expectUserError(await decommission(sites.url), ': 1 sites.a.example.com, 1 sites.b.example.com with a finalizer');
  const proxy = await startChaosProxy({ url: sites.url });
  onTestFinished(() => proxy.close());
  proxy.rule(({ url }) => (url.includes('/v1/sites') ? { type: 'respond', status: 403 } : undefined));
  expectUserError(await decommission(proxy.url), ': 1 sites.a.example.com with a finalizer');
  await sites.apply(aSite('a', { finalizers: [] }));
  expect((await decommission(proxy.url)).out).toContain('only objects in the namespaces default were read');
});

it('decommission of a cluster that cannot be read needs --leave-objects; a pause ends with it', async () => {
  const gone = { server: 'http://127.0.0.1:9', access: { type: 'none' } };
  await store({ a: { ...gone, paused: true } });
  expectUserError(await run('decommission', 'a'), 'give --leave-objects');
  expect(await stored()).toEqual({ a: { ...gone, paused: true } });
  expect(await run('decommission', 'a', '--leave-objects')).toMatchObject({ status: 0 });
  expect(await stored()).toEqual({ a: { ...gone, decommissioning: true } });
});

it('a cluster on its way to another stage is neither decommissioned, paused nor resumed; list shows the move', async () => {
  const moving = { ...entry(), movingTo: { stage: 'canary', since: '2026-01-01T00:00:00Z' } };
  await store({ a: moving });
  for (const command of ['decommission a --leave-objects', 'pause a', 'resume a'])
    expectUserError(await run(...command.split(' ')), 'finish that first: outrigger clusters move a --to canary');
  expect(await stored()).toEqual({ a: moving });
  expect((await run('list')).out).toBe(`a  none  ${server.url}  MOVING to canary\n`);
});
