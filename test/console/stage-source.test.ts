// Only the source of a stage: that it goes on when a part of the stage does not respond, with a note while it lasts. The
// whole command is test/deploy/console.test.ts.
import { SQSClient } from '@aws-sdk/client-sqs';
import { startApiServer } from '@outrigger/apiserver';
import { createStageSource } from '@outrigger/cli/console/stage/stage-source';
import { expect, it, vi } from 'vitest';
import { Foo, foo } from '../../src/controllers/foo.ts';
import { waterTank } from '../../src/controllers/water-tank.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { applySamples } from '../cli/operated-system.ts';

const id = 'lab:foos.samples.example.com/default/example';
const at = Date.now() - 3_600_000;
const line = { message: 'reconciled', key: `foo:${id}`, cause: 'change', outcome: 'done', durationMs: 3, writes: 1 };

it('a past that cannot be read is noted with its object, read again, and the note goes when it was read', async () => {
  await using parts = new AsyncDisposableStack();
  const server = await startApiServer();
  parts.defer(() => server.close());
  const client = createClient({ server: new URL(server.url) });
  parts.defer(async () => client.close());
  const ending = new AbortController();
  parts.defer(async () => ending.abort());
  const { signal } = ending;
  await applySamples(server, ['foo']);
  // Nothing listens there: the depths of its queues are unknown.
  const sqs = new SQSClient({ region: 'eu-west-1', endpoint: 'http://127.0.0.1:9', maxAttempts: 1 });
  parts.defer(async () => sqs.destroy());

  let fails = true;
  const never = async () => await Promise.reject(new Error('not in this test'));
  const { wakes } = waterTank.declaration;
  const source = createStageSource([{ ...foo, declaration: { ...foo.declaration, wakes } }], {
    name: 'prod',
    project: 'outrigger',
    at: ' --stage prod',
    sqs,
    urlPrefix: 'http://127.0.0.1:9/111122223333/outrigger-prod-',
    signal,
    aws: undefined,
    operator: {
      dryRun: never,
      pauseController: never,
      pauseCluster: never,
      pausedControllers: async () => new Set<string>(),
    },
    clusters: async () => [
      { name: 'lab', connect: async () => client },
      { name: 'gone', connect: async () => await Promise.reject(new Error('no route to host')) },
    ],
    watcherOf: async () => ({ lastSeenSeconds: 4 }),
    newLines: async () => [],
    throttlesOf: async () => new Map(),
    readHidden: async () => undefined,
    readVersion: async () => '1.4.0 (3fa9c1d)',
    linesBetween: async (_, { from, to }) => {
      if (fails) throw new Error('AccessDeniedException');
      return at >= from && at <= to ? [{ text: JSON.stringify(line), at }] : [];
    },
    countsOf: never,
    deploymentOf: never,
    actions: async () => [{ at: at + 1, type: 'action', id, text: 'pause by ada: Sent.' }],
  });
  await expect.poll(() => source.rows().map((row) => row.id)).toEqual([id]);
  expect(source.rows()[0]?.kind).toBe(Foo.kind);
  expect((await source.past?.({ from: at, to: at + 1 }, signal))?.functions.map(({ name }) => name)).toEqual([
    ...['foo', 'timers', 'resync', 'wake'],
  ]);
  const past = async () =>
    (await source.detail(id, signal))?.timeline.filter(({ type }) => type === 'reconcile').map(({ at }) => at);
  // The flow is read again after five seconds.
  let nowMs = Date.now();
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => nowMs);
  parts.defer(() => clock.mockRestore());
  const notes = async () => {
    nowMs += 5_001;
    return (await source.flow(signal)).notes?.filter((note) => !note.startsWith('Queues cannot be read: '));
  };
  const noted = async () => (await source.detail(id, signal))?.timelineNote;
  expect(await past()).toEqual([]);
  await expect.poll(noted).toBe('The log cannot be read: AccessDeniedException');
  fails = false;
  await expect.poll(past).toEqual([at]);
  await expect.poll(noted).toBeUndefined();
  const range = { from: at + 1, to: at + 2 };
  const types = async () => (await source.detail(id, signal, range))?.timeline.map(({ type }) => type);
  expect(await types()).toEqual(['action']);
  await expect.poll(notes, { timeout: 15_000 }).toEqual([]);
  const read = async () => {
    nowMs += 5_001;
    return (await source.flow(signal)).clusters;
  };
  await expect.poll(read, { timeout: 15_000 }).toMatchObject([
    { name: 'lab', health: { state: 'working', text: 'last seen 4 s ago' } },
    { name: 'gone', health: { state: 'unreachable', text: 'no route to host' } },
  ]);
  const { controllers } = await source.flow(signal);
  expect(controllers[0]).not.toHaveProperty('queued');
}, 60_000);
