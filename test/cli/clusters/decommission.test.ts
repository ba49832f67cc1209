// `outrigger clusters decommission` as a person runs it. What functions do then is in test/reconciling and test/fleet.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { clustersCommand } from '../../../src/cli/clusters/clusters.ts';
import { WaterTank } from '../../../src/controllers/water-tank.ts';
import { startApiServer, type TestApiServer } from '../../../src/testing.ts';
import { runHere } from '../operated-system.ts';

let server: TestApiServer;
let folder: string;
let table: string;
beforeEach(async () => {
  server = await startApiServer({ crds: [WaterTank] });
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-decommission-'));
  table = path.join(folder, 'clusters.json');
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const entry = () => ({ server: server.url, access: { type: 'none' } });
const run = async (...argv: readonly string[]) => await runHere(clustersCommand(), [...argv, '--table', table]);
const stored = async () => JSON.parse(await readFile(table, 'utf8'));
const one = { namespace: 'default', name: 'one' };

it('decommission is refused while an object has a finalizer of a controller, and names how many', async () => {
  await writeFile(table, JSON.stringify({ a: entry() }));
  const tank = { apiVersion: WaterTank.apiVersion, kind: 'WaterTank', spec: { targetLevel: 40, capacity: 100 } };
  await server.apply(
    { ...tank, metadata: { ...one, finalizers: ['outrigger.dev/water-tank'] } },
    { ...tank, metadata: { ...one, name: 'two', finalizers: ['others.example.com/backup'] } },
  );
  const refused = await run('decommission', 'a');
  expect(refused).toMatchObject({ status: 1, err: expect.stringContaining('1 WaterTank with a finalizer') });
  expect(await stored()).toEqual({ a: entry() });

  await server.patch(WaterTank, one, { metadata: { finalizers: null } });
  expect(await run('decommission', 'a')).toMatchObject({
    status: 0,
    out: expect.stringContaining('clusters remove a'),
  });
  expect(await stored()).toEqual({ a: { ...entry(), decommissioning: true } });
});

it('decommission of a cluster that cannot be read needs --leave-objects; a pause ends with it', async () => {
  const gone = { server: 'http://127.0.0.1:9', access: { type: 'none' } };
  await writeFile(table, JSON.stringify({ a: { ...gone, paused: true } }));
  expect(await run('decommission', 'a')).toMatchObject({
    status: 1,
    err: expect.stringContaining('give --leave-objects'),
  });
  expect(await stored()).toEqual({ a: { ...gone, paused: true } });
  expect(await run('decommission', 'a', '--leave-objects')).toMatchObject({ status: 0 });
  expect(await stored()).toEqual({ a: { ...gone, decommissioning: true } });
});

it('a cluster on its way to another stage is neither decommissioned, paused nor resumed; list shows the move', async () => {
  const moving = { ...entry(), movingTo: { stage: 'canary', since: '2026-01-01T00:00:00Z' } };
  await writeFile(table, JSON.stringify({ a: moving }));
  for (const command of [
    ['decommission', 'a', '--leave-objects'],
    ['pause', 'a'],
    ['resume', 'a'],
  ])
    expect(await run(...command)).toMatchObject({ status: 1, err: expect.stringContaining('outrigger clusters move') });
  expect(await stored()).toEqual({ a: moving });
  expect((await run('list')).out).toBe(`a  none  ${server.url}  MOVING to canary\n`);
});
