// The wake function as AWS starts it: the bundle of a project in a process of its own, with an event of EventBridge.
// Which keys an event has is wake.test.ts, the rule and the permission are test/generate/wakes.test.ts.
import { execFile } from 'node:child_process';
import { readdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { build } from '@outrigger/cli/commands/build';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { parseMessage } from '../../src/sqs/message.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { useFolder } from '../support/folder.ts';

const source = path.resolve(import.meta.dirname, '../..');
/** The sample, with the sensor's event. */
const registry = `
import { WaterTank } from ${JSON.stringify(path.join(source, 'src/controllers/water-tank.ts'))};
import { wake } from ${JSON.stringify(path.join(source, 'src/outrigger.ts'))};
const wakes = [wake({ source: 'plant', detailType: 'LevelChanged' }, ({ detail }) => [detail.tank])];
export const tank = WaterTank.controller('water-tank', { wakes, reconcile: async () => ({}) });
export const registry = [tank];
`;
const program = `
const { handler } = await import(process.argv[1]);
const context = { getRemainingTimeInMillis: () => 10_000 };
for (const event of JSON.parse(process.argv[2])) console.log('result ' + JSON.stringify(await handler(event, context)));
`;
const timeoutMs = 120_000;

const root = useFolder({ shared: true });
let queues: TestQueues;
beforeAll(async () => {
  await root.write('src/controllers/registry.ts', registry);
  const shared = (await readdir(path.join(source, 'src'))).filter((name) => name !== 'controllers');
  for (const name of shared) await symlink(path.join(source, 'src', name), root.at('src', name));
  for (const name of ['node_modules', 'infra', 'package.json']) await symlink(path.join(source, name), root.at(name));
  const entry = { server: 'https://192.0.2.1', access: { type: 'none' } };
  await root.write('clusters.json', JSON.stringify({ alpha: entry, beta: entry }));
  queues = await startTestQueues();
  await queues.create('water-tank.fifo', 'timers');
  await build(root.path);
}, timeoutMs);
afterAll(() => queues.stop());

/** Runs the bundle with these events, and returns its results. */
async function invoke(...events: readonly object[]): Promise<readonly unknown[]> {
  const bundle = root.at('dist/wake/index.mjs');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', program, bundle, JSON.stringify(events)],
    {
      env: {
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'x',
        AWS_SECRET_ACCESS_KEY: 'x',
        AWS_ENDPOINT_URL_SQS: queues.endpoint,
        QUEUE_URL_PREFIX: queues.urlPrefix,
        CLUSTERS: root.at('clusters.json'),
        MONITORING: 'off',
      },
    },
  );
  const lines = stdout.split('\n').filter((line) => line.startsWith('result '));
  return lines.map((line) => z.object({ keys: z.number() }).parse(JSON.parse(line.slice('result '.length))));
}

it(
  'an event of the sensor is one message for the tank in each cluster, also if it is repeated',
  async () => {
    const tank = { namespace: 'default', name: 'north' };
    const event = { id: 'event-1', source: 'plant', 'detail-type': 'LevelChanged', detail: { tank } };
    const other = { ...event, id: 'event-2', source: 'pantry' };
    expect(await invoke(event, event, other)).toEqual([{ keys: 2 }, { keys: 2 }, { keys: 0 }]);
    const messages = (await queues.drain('water-tank.fifo')).map(({ Body = '' }) => parseMessage(Body));
    expect(messages.map(({ cluster }) => cluster).sort()).toEqual(['alpha', 'beta']);
    for (const message of messages)
      expect(message).toMatchObject({
        ...tank,
        controller: 'water-tank',
        cause: { type: 'wake', source: 'plant', id: 'event-1' },
      });
  },
  timeoutMs,
);
