// `outrigger status` as a person runs it: what it says of clusters, queues and controllers, and what it says when one of them cannot
// be asked. What counts as silence is in test/runtime/watchers-silent.test.ts, what as unobserved in resync-plan.test.ts.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readCluster } from '../../../src/cli/status/cluster-status.ts';
import { registry } from '../../../src/controllers/registry.ts';
import { waterTank } from '../../../src/controllers/water-tank.ts';
import { controllerDeadLetters, controllerQueue, cursorName, systemNamespace } from '../../../src/core/names.ts';
import { applyObject, applyStatus } from '../../../src/kube/apply/apply.ts';
import { type KubeObject, parseObject } from '../../../src/kube/client/object.ts';
import { getObject, listPages } from '../../../src/kube/client/read.ts';
import { createSend } from '../../../src/queue/send.ts';
import { formatCursor } from '../../../src/runtime/cursor-document.ts';
import { writeCursorObject } from '../../../src/runtime/cursor-object.ts';
import { operatedSystem } from '../operated-system.ts';

const system = operatedSystem({ samples: ['water-tanks'] });
const { signal } = new AbortController();
const tanks = waterTank.declares.resource;

const shown = z.object({
  clusters: z.array(
    z.looseObject({ name: z.string(), controllers: z.array(z.looseObject({ controller: z.string() })).optional() }),
  ),
  queues: z.array(z.looseObject({ name: z.string() })),
});

async function asJson(...argv: readonly string[]) {
  const { out, err, status } = await system.run('status', '--output', 'json', ...argv);
  return { ...shown.parse(JSON.parse(out)), err, status };
}

/** Makes the cursor say when the watchers last heard anything. */
async function hear(framesAtMs: number): Promise<void> {
  const client = system.client();
  const named = (name: string, kind: string, more: object) =>
    parseObject({ apiVersion: 'v1', kind, metadata: { name, ...more } });
  const apply = async (plural: string, object: KubeObject, namespaced: boolean) =>
    await applyObject(client, { group: '', version: 'v1', plural, namespaced }, object, { fieldManager: 'test' });
  await apply('namespaces', named(systemNamespace, 'Namespace', {}), false);
  const shipped = named(cursorName, 'ConfigMap', { namespace: systemNamespace });
  const { metadata } = await apply('configmaps', shipped, true);
  const text = formatCursor({ cluster: 'uid', framesAtMs, entries: new Map() });
  await writeCursorObject(client, { text, resourceVersion: metadata.resourceVersion ?? '' });
  client.close();
}

/** Says of a tank that its present generation was observed, and that it is Ready. */
async function settle(name: string): Promise<void> {
  const client = system.client();
  const key = { namespace: 'default', name };
  const tank = await getObject(client, tanks, key);
  const { generation = 0, resourceVersion = '' } = tank?.metadata ?? {};
  const condition = { reason: 'Ready', message: '', lastTransitionTime: '2026-11-21T10:00:00Z' };
  const conditions = [{ type: 'Ready', status: 'True', observedGeneration: generation, ...condition }];
  const target = { apiVersion: tanks.apiVersion, kind: tanks.kind, key, resourceVersion };
  const status = { observedGeneration: generation, conditions };
  await applyStatus(client, tanks, target, status, { fieldManager: 'outrigger-water-tank' });
  client.close();
}

describe('status', () => {
  it('shows the server’s version and when the watchers heard of every kind', async () => {
    await hear(Date.now());
    const { clusters, status } = await asJson();
    expect(clusters).toMatchObject([
      { name: 'local', version: expect.stringMatching(/^v1\./), heardSeconds: expect.any(Number) },
    ]);
    expect(clusters[0]).not.toHaveProperty('silent');
    expect(status).toBe(0);
    expect((await system.run('status')).out).toMatch(/^local +v1\S+ +heard \d+ s ago$/m);
  });

  it('says SILENT of watchers that heard nothing for six minutes, and why', async () => {
    await hear(Date.now() - 360_000);
    expect((await system.run('status')).out).toMatch(/^local .*SILENT: they have heard nothing for 3\d\d s$/m);
  });

  it('says of a lag how long ago the oldest unobserved change was made', async () => {
    const client = system.client();
    const touched: number[] = [];
    for await (const { items } of listPages(client, tanks)) {
      for (const { metadata } of items) {
        const times = [metadata.creationTimestamp, ...(metadata.managedFields ?? []).map(({ time }) => time)];
        touched.push(Math.max(...times.map((time) => Date.parse(time ?? ''))));
      }
    }
    const nowMs = Math.min(...touched) + 100_000;
    const { controllers } = await readCluster(client, [waterTank], { nowMs, signal });
    expect(controllers).toMatchObject([{ controller: 'water-tank', unobserved: 3, lagSeconds: 100 }]);
    client.close();
  });

  it('counts what was not observed yet, how long the oldest waits, and what is Ready', async () => {
    await settle('north');
    const of = async () =>
      (await asJson()).clusters[0]?.controllers?.find(({ controller }) => controller === 'water-tank');
    const before = await of();
    expect(before).toMatchObject({ objects: 3, ready: 1, unobserved: 2, lagSeconds: expect.any(Number) });
    for (const name of ['south', 'pond']) await settle(name);
    expect(await of()).toMatchObject({ objects: 3, ready: 3, unobserved: 0, stalled: 0 });
    expect(await of()).not.toHaveProperty('lagSeconds');
    expect((await system.run('status')).out).toMatch(/^local +water-tank +3 +3 +0 +0 +0 +-$/m);
  });

  it('counts messages and dead letters of every controller, of timers and of resync', async () => {
    const send = createSend(system.queues.sqs, system.queues.urlPrefix);
    const entry = (id: string) => ({ body: '{}', groupId: id, deduplicationId: `${id}-status` });
    await send(controllerQueue('foo'), [entry('a'), entry('b')], { signal });
    await send(controllerDeadLetters('foo'), [entry('c')], { signal });
    const { queues } = await asJson();
    expect(queues.map(({ name }) => name)).toEqual([...registry.map(({ name }) => name), 'timers', 'resync']);
    expect(queues.find(({ name }) => name === 'foo')).toEqual({
      name: 'foo',
      queued: 2,
      inHand: 0,
      delayed: 0,
      deadLetters: 1,
    });
    expect((await system.run('status', '--controller', 'foo')).out).toMatch(/^foo +2 +0 +0 +1$/m);
  });

  it('of one controller shows nothing of the others', async () => {
    const { queues, clusters } = await asJson('--controller', 'foo');
    expect(queues.map(({ name }) => name)).toEqual(['foo']);
    expect(clusters[0]?.controllers?.map(({ controller }) => controller)).toEqual(['foo']);
  });
});

describe('what cannot be asked is named on the last line, the rest is shown, and the exit status is 1:', () => {
  const table = () => path.join(system.folder, 'clusters.json');
  let before: string | undefined;
  afterEach(async () => {
    if (before !== undefined) await writeFile(table(), before);
  });

  it('clusters that do not answer, that are leaving, and whose entry is not valid', async () => {
    before = await readFile(table(), 'utf8');
    const more = {
      dark: { server: 'http://127.0.0.1:9', access: { type: 'none' } },
      gone: { server: 'http://127.0.0.1:9', access: { type: 'none' }, leaving: true },
      odd: { access: { type: 'token' } },
    };
    await writeFile(table(), JSON.stringify({ ...z.looseObject({}).parse(JSON.parse(before)), ...more }));
    const { out, err, status } = await system.run('status', '--controller', 'foo');
    expect(out).toMatch(/^local +v1/m);
    expect(out).toMatch(/^gone +- +leaving$/m);
    expect(out).toMatch(/^dark +- +cannot be asked$/m);
    expect(err).toMatch(/^dark: GET \/version: connect ECONNREFUSED.*; nothing answers there; does it still run\?$/m);
    expect(err).toMatch(/^odd: cluster "odd": access\.token missing/m);
    expect(err).not.toContain('    at ');
    expect(status).toBe(1);
  });

  it('a queue that is gone', async () => {
    await system.queues.remove(controllerDeadLetters('foo'));
    const { err, status } = await system.run('status', '--controller', 'foo');
    expect(err).toMatch(/^foo: its queues cannot be asked: .*; outrigger doctor says how to have it again$/m);
    expect(status).toBe(1);
    await system.queues.create(controllerDeadLetters('foo'));
  });

  it.each([
    [['--cluster', 'nowhere'], 'nowhere: cluster "nowhere" is not in the clusters table; name one with --cluster'],
    [['--controller', 'tank'], 'outrigger status: there is no controller "tank"; there are water-tank, '],
    [
      ['--folder', '/nowhere'],
      'outrigger status: nothing runs here (no /nowhere/state.json): start outrigger dev, or name',
    ],
  ])('status %j', async (argv, line) => {
    const { err, status } = await system.run('status', ...argv);
    expect(err.trimEnd().split('\n').at(-1)).toContain(line);
    expect(err).not.toContain('    at ');
    expect(status).toBe(1);
  });
});
