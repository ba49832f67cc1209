// `outrigger clusters decommission` as a person runs it. What functions do then is in test/reconciling and test/fleet.

import { clustersCommand } from '@outrigger/cli/commands/clusters/clusters';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WaterTank } from '../../../src/controllers/water-tank.ts';
import { startApiServer, type TestApiServer } from '../../../src/testing.ts';
import { useFolder } from '../../support/folder.ts';
import { expectUserError, runHere } from '../command-result.ts';

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
  expectUserError(await run('decommission', 'a'), '1 WaterTank with a finalizer');
  expect(await stored()).toEqual({ a: entry() });

  await server.patch(WaterTank, one, { metadata: { finalizers: null } });
  const out = expect.stringContaining('clusters remove a');
  expect(await run('decommission', 'a')).toMatchObject({ status: 0, out });
  expect(await stored()).toEqual({ a: { ...entry(), decommissioning: true } });
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
    expectUserError(await run(...command.split(' ')), 'outrigger clusters move');
  expect(await stored()).toEqual({ a: moving });
  expect((await run('list')).out).toBe(`a  none  ${server.url}  MOVING to canary\n`);
});
