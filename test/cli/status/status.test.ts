// `outrigger status` as a person runs it: its output for clusters, queues and controllers, and for those that cannot be
// read. When watchers count as down is in test/checkpoint/watcher-status.test.ts, what counts as unobserved in
// test/resync/plan.test.ts.

import { rm } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkCluster } from '@outrigger/cli/commands/doctor/check-cluster';
import { readClusterStatus } from '@outrigger/cli/commands/status/cluster-status';
import { overdueLines, statusLines } from '@outrigger/cli/commands/status/status-lines';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { writeCheckpoint } from '../../../src/checkpoint/config-map.ts';
import { formatCheckpoint } from '../../../src/checkpoint/document.ts';
import { registry } from '../../../src/controllers/registry.ts';
import { tenantNetwork } from '../../../src/controllers/tenant-network.ts';
import { waterTank } from '../../../src/controllers/water-tank.ts';
import {
  checkpointName,
  controllerDeadLetterQueue,
  controllerQueue,
  systemNamespace,
} from '../../../src/core/names.ts';
import { applyObject, applyStatus } from '../../../src/kube/apply/apply.ts';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { ApiError } from '../../../src/kube/client/errors.ts';
import { type KubeObject, parseObject } from '../../../src/kube/client/object.ts';
import { getObject, listPages } from '../../../src/kube/client/read.ts';
import { Namespace } from '../../../src/kubernetes.ts';
import { createStatusWriter } from '../../../src/reconciling/status/status-writer.ts';
import { createSend } from '../../../src/sqs/send.ts';
import { owned } from '../../statements/foreign-conditions.ts';
import { useFolder } from '../../support/folder.ts';
import { sampleWatchList } from '../../support/sample-manifests.ts';
import { expectUserError, runIn } from '../command-result.ts';
import { operatedSystem } from '../operated-system.ts';

const system = operatedSystem({ samples: ['water-tanks'] });
const { signal } = new AbortController();
const tanks = waterTank.declaration.resource;

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

/** Writes a watch checkpoint with the time of the watchers' last event. */
async function setLastSeen(lastSeenAtMs: number): Promise<void> {
  const client = system.client();
  const named = (name: string, kind: string, more: object) =>
    parseObject({ apiVersion: 'v1', kind, metadata: { name, ...more } });
  const apply = async (plural: string, object: KubeObject, namespaced: boolean) =>
    await applyObject(client, { group: '', version: 'v1', plural, namespaced }, object, { fieldManager: 'test' });
  await apply('namespaces', named(systemNamespace, 'Namespace', {}), false);
  const shipped = named(checkpointName, 'ConfigMap', { namespace: systemNamespace });
  const { metadata } = await apply('configmaps', shipped, true);
  const text = formatCheckpoint({ cluster: 'uid', lastSeenAtMs, entries: new Map() });
  await writeCheckpoint(client, { text, resourceVersion: metadata.resourceVersion ?? '' });
}

/** Writes the status of a tank, whose current generation it observes. */
async function setStatus(name: string, statusOf: (generation: number) => object): Promise<void> {
  const client = system.client();
  const key = { namespace: 'default', name };
  const { generation = 0, resourceVersion = '' } = (await getObject(client, tanks, key))?.metadata ?? {};
  const target = { apiVersion: tanks.apiVersion, kind: tanks.kind, key, resourceVersion };
  await applyStatus(client, tanks, target, statusOf(generation), { fieldManager: 'outrigger-water-tank' });
}
const setReady = async (name: string) =>
  await setStatus(name, (generation) => {
    const condition = { reason: 'Ready', message: '', lastTransitionTime: '2026-11-21T10:00:00Z' };
    const conditions = [{ type: 'Ready', status: 'True', observedGeneration: generation, ...condition }];
    return { observedGeneration: generation, conditions };
  });
const setFailing = async (name: string, since: Date, reason = 'Retrying') =>
  await setStatus(name, (generation) => {
    const failure = { error: new Error('no pump'), reason, isRetried: reason === 'Retrying' };
    return createStatusWriter(waterTank.declaration).afterFailure(failure, { owned: {}, generation, now: since });
  });

describe('status', () => {
  // Control T62.
  it('status says that the sender check is off on this machine', async () => {
    const { out } = await system.run('status');
    expect(out).toMatch(
      new RegExp(`^sender check: off \\(outrigger doctor${system.at} has the reason\\)\n\nCLUSTER +`),
    );
    expect(JSON.parse((await system.run('status', '--json')).out)).toMatchObject({ senderCheck: 'off' });
  });

  it('status shows the server’s version and when the watchers received an event of every kind', async () => {
    await setLastSeen(Date.now());
    const { clusters, status } = await asJson();
    expect(clusters).toMatchObject([
      { name: 'local', version: expect.stringMatching(/^v1\./), lastSeenSeconds: expect.any(Number) },
    ]);
    expect(clusters[0]).not.toHaveProperty('watcherDown');
    expect(status).toBe(0);
    expect((await system.run('status')).out).toMatch(/^local +v1\S+ +last seen \d+ s ago$/m);
  });

  it('status reports watchers as DOWN, with the reason, when they have received no event for six minutes, and exits with 1', async () => {
    await setLastSeen(Date.now() - 360_000);
    const { out, err, status } = await system.run('status');
    expect(out).toMatch(/^local +v1\S+ +DOWN$/m);
    expect(err).toMatch(
      /^local: its watchers are down: no event received, or no key accepted by one of the queues, for 3\d\d s$/m,
    );
    expect(status).toBe(1);
    await setLastSeen(Date.now());
  });

  it('status without the permission to read the watch checkpoint reports the watchers as unknown, and exits with 0', async () => {
    await system.forbid(`/configmaps/${checkpointName}`);
    const { out, err, status } = await system.run('status');
    expect(out).toMatch(/^local +v1\S+ +not known$/m);
    expect(err).toMatch(/^local: the status of its watchers is unknown: no permission to read the watch checkpoint/m);
    expect(status).toBe(0);
  });

  it('readClusterStatus returns the age of the oldest unobserved change', async () => {
    const client = system.client();
    const touched: number[] = [];
    for await (const { items } of listPages(client, tanks)) {
      for (const { metadata } of items) {
        const times = [metadata.creationTimestamp, ...(metadata.managedFields ?? []).map(({ time }) => time)];
        touched.push(Math.max(...times.map((time) => Date.parse(time ?? ''))));
      }
    }
    const nowMs = Math.min(...touched) + 100_000;
    const { controllers } = await readClusterStatus(client, [waterTank], { project: 'outrigger', nowMs, signal });
    expect(controllers).toMatchObject([{ controller: 'water-tank', unobserved: 3, oldestSeconds: 100 }]);
    const overdueAfter = async (seconds: number) => {
      const later = { project: 'outrigger', nowMs: nowMs + (seconds - 100) * 1000, signal };
      return (await readClusterStatus(client, [waterTank], later)).controllers?.[0]?.overdue;
    };
    expect([await overdueAfter(2_040), await overdueAfter(2_041)]).toEqual([undefined, true]);
  });

  it('a controller of Namespaces counts those that it selects, and neither Ready nor unobserved ones', async () => {
    const client = system.client();
    const metadata = { name: 'blue', labels: { tenant: 'true' } };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata };
    await applyObject(client, Namespace, namespace, { fieldManager: 'user' });
    const options = { project: 'outrigger', nowMs: Date.now(), signal };
    const { controllers = [] } = await readClusterStatus(client, [tenantNetwork], options);
    expect(controllers).toMatchObject([{ controller: 'tenant-network', objects: 1, failing: 0, stalled: 0 }]);
    expect(Object.keys(controllers[0] ?? {})).not.toContain('unobserved');
    const [, , , , , , row] = statusLines([{ name: 'local', controllers }], []);
    expect(row).toMatch(/^local +tenant-network +1 +- +0 +0 +0 +- +-$/);
    const matchLabels = { tenant: 'true' };
    const noted = Namespace.controller('noted', {
      evidence: 'annotation',
      selector: { matchLabels },
      reconcile: async () => ({}),
    });
    // Its annotation is written after a success only: one that fails for long is not overdue.
    const evident = await readClusterStatus(client, [noted], { ...options, nowMs: Date.now() + 3_600_000 });
    expect(evident.controllers).toMatchObject([{ controller: 'noted', objects: 1, unobserved: 1 }]);
    expect(evident.controllers?.[0]).not.toHaveProperty('overdue');
  });

  it('status names a controller whose changes are not reconciled for longer than its alarm waits, unless it is paused', () => {
    const counts = { objects: 9, more: false, failing: 0, stalled: 0, paused: 0, unobserved: 2 };
    const late = { controller: 'tank', ...counts, oldestSeconds: 2_041 };
    const cluster = { name: 'berlin', controllers: [{ ...late, overdue: true as const }] };
    expect(overdueLines(cluster, [])).toEqual([
      'berlin: tank: 2 changes are not reconciled, the oldest for 34 min; outrigger logs has the errors of an object',
    ]);
    expect(overdueLines({ ...cluster, controllers: [late] }, [])).toEqual([]);
    expect([overdueLines(cluster, ['tank']), overdueLines({ ...cluster, paused: true }, [])]).toEqual([[], []]);
  });

  it('status counts unobserved and Ready objects, and shows the age of the oldest unobserved change', async () => {
    await setReady('north');
    const of = async () =>
      (await asJson()).clusters[0]?.controllers?.find(({ controller }) => controller === 'water-tank');
    const before = await of();
    expect(before).toMatchObject({ objects: 3, ready: 1, unobserved: 2, oldestSeconds: expect.any(Number) });
    for (const name of ['south', 'pond']) await setReady(name);
    expect(await of()).toMatchObject({ objects: 3, ready: 3, unobserved: 0, stalled: 0 });
    expect(await of()).not.toHaveProperty('oldestSeconds');
    expect((await system.run('status')).out).toMatch(/^local +water-tank +3 +3 +0 +0 +0 +0 +-$/m);
  });

  it('status of a failing object counts it, names its last error with its age, and ends with status 1; doctor names it too', async () => {
    await setFailing('north', new Date(Date.now() - 90_000));
    const { out, err, status } = await system.run('status');
    expect(out).toMatch(/CONTROLLER +OBJECTS +READY +FAILING +STALLED/);
    expect(out).toMatch(/^local +water-tank +3 +\d +1 +0 +0/m);
    expect(err).toMatch(/local: water-tank: 1 object fails: default\/north \(Retrying, since 9\d s\): no pump/);
    expect(status).toBe(1);
    const client = system.client();
    const { findings } = await checkCluster('local', client, [waterTank], { project: 'outrigger', signal });
    expect(findings).toContainEqual({
      state: 'wrong',
      about: 'cluster local',
      fix: expect.stringContaining('kubectl describe'),
      message: expect.stringMatching(/^water-tank: 1 object fails: default\/north .*no pump$/),
    });
    await setReady('north');
    expect((await system.run('status')).out).toMatch(/^local +water-tank +3 +\d +0 +0/m);
  });

  it('get lists objects by their state, problems first, with filters', async () => {
    await setFailing('south', new Date());
    const { out, status } = await system.run('get', 'WaterTank');
    const rows = out.split('\n').map((line) => line.split(/\s{2,}/).slice(0, 4));
    expect(rows.slice(0, 2)).toEqual([
      ['STATE', 'KIND', 'OBJECT', 'CLUSTER'],
      ['Failed', 'WaterTank', 'default/south', 'local'],
    ]);
    expect([out, status]).toEqual([expect.stringMatching(/^Failed .* Retrying: no pump$/m), 0]);
    const named = async (...argv: readonly string[]) =>
      JSON.parse((await system.run('get', ...argv, '--json')).out).map((row: { name: string }) => row.name);
    expect(await named('water-tank', '--state', 'Failed')).toEqual(['south']);
    expect(await named('WaterTank', '--selector', 'no=such')).toEqual([]);
    expectUserError(await system.run('get', 'Nothing'), 'outrigger get: no controller has the kind "Nothing"');
    await setReady('south');
  });

  it('status and doctor name objects that an admission policy made Stalled, and the command that reconciles them all', async () => {
    await setFailing('north', new Date(), 'PolicyDenied');
    const command =
      'kubectl annotate watertanks.plant.example.com --all --all-namespaces --overwrite ' +
      'outrigger.dev/reconcile-requested-at="$(date)"';
    const { err } = await system.run('status');
    expect(err).toContain(`water-tank: Stalled by PolicyDenied: default/north; after the policy is fixed: ${command}`);
    const options = { project: 'outrigger', signal };
    const { findings } = await checkCluster('local', system.client(), [waterTank], options);
    const about = 'cluster local';
    const message = 'water-tank: Stalled by PolicyDenied: default/north';
    expect(findings).toContainEqual({ state: 'wrong', about, message, fix: `after the policy is fixed: ${command}` });
    await setReady('north');
    expect((await system.run('status')).err).not.toContain('PolicyDenied');
    const team = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'green', labels: { tenant: 'true' } } };
    const { metadata } = await applyObject(system.client(), Namespace, team, { fieldManager: 'user' });
    const { resourceVersion = '' } = metadata;
    const foreign = { apiVersion: 'v1', kind: 'Namespace', key: { name: 'green' }, resourceVersion };
    const condition = { type: 'team.example.com/Owned', status: 'False', reason: 'PolicyDenied', message: '' };
    const conditions = [{ ...condition, lastTransitionTime: '2026-11-21T10:00:00Z' }];
    await applyStatus(system.client(), Namespace, foreign, { conditions }, { fieldManager: 'outrigger-owned' });
    const { controllers } = await readClusterStatus(system.client(), [owned], { ...options, nowMs: Date.now() });
    expect(controllers).toMatchObject([{ policyDenied: { objects: ['green'] } }]);
  });

  it('status counts messages and dead letters of every controller, of timers and of resync', async () => {
    const send = createSend(system.queues.sqs, system.queues.urlPrefix);
    const entry = (id: string) => ({ body: '{}', groupId: id, deduplicationId: `${id}-status` });
    await send(controllerQueue('foo'), [entry('a'), entry('b')], { signal });
    await send(controllerDeadLetterQueue('foo'), [entry('c')], { signal });
    const { queues } = await asJson();
    expect(queues.map(({ name }) => name)).toEqual([...registry.map(({ name }) => name), 'timers', 'resync']);
    const depths = { queued: 2, inFlight: 0, delayed: 0, deadLetters: 1 };
    expect(queues.find(({ name }) => name === 'foo')).toEqual({ name: 'foo', ...depths });
    expect((await system.run('status', '--controller', 'foo')).out).toMatch(/^foo +2 +0 +0 +1 +not known$/m);
  });

  it('status says that a controller of this machine is paused, until it is resumed', async () => {
    const paused = async () => (await system.run('status')).out.match(/^\S+: PAUSED/gm);
    const out = 'foo is paused: its messages wait in foo.fifo\n';
    expect(await system.run('pause', 'foo')).toMatchObject({ out, status: 0 });
    expect(await paused()).toEqual(['foo: PAUSED']);
    expect(await system.run('resume', 'foo')).toMatchObject({ status: 0 });
    expect(await paused()).toBeNull();
  });

  it('status --watch goes on when the system was restarted', async () => {
    const state = await system.folder.read('state.json');
    onTestFinished(async () => await system.folder.write('state.json', state));
    const running = system.run('status', '--watch', '--controller', 'foo');
    const printed = (stream: 'stdout' | 'stderr') => vi.mocked(process[stream].write).mock.calls.join('');
    const tables = () => printed('stdout').match(/^QUEUE /gm)?.length ?? 0;
    await vi.waitFor(() => expect(tables()).toBeGreaterThan(0), { timeout: 20_000 });
    await rm(system.folder.at('state.json'));
    await vi.waitFor(() => expect(printed('stderr')).toContain('nothing runs here'), { timeout: 20_000 });
    const before = tables();
    await system.folder.write('state.json', state);
    await vi.waitFor(() => expect(tables()).toBeGreaterThan(before), { timeout: 20_000 });
    const [interrupt] = process.rawListeners('SIGINT').slice(-1);
    interrupt?.('SIGINT');
    await running;
  });

  it('status --controller shows only the queue and objects of that controller', async () => {
    const { queues, clusters } = await asJson('--controller', 'foo');
    expect(queues.map(({ name }) => name)).toEqual(['foo']);
    expect(clusters[0]?.controllers?.map(({ controller }) => controller)).toEqual(['foo']);
  });
});

describe('a project with namespaces', () => {
  const project = useFolder();

  it('no command lists a kind in the whole cluster, which the functions may not', async () => {
    const registryFile = pathToFileURL(path.resolve('src/controllers/registry.ts')).href;
    await project.write('src/controllers/registry.ts', `export { registry } from '${registryFile}';`);
    const outrigger = { namespaces: ['default'] };
    await project.write('package.json', JSON.stringify({ type: 'module', outrigger }));
    await project.write('dist/kubernetes/watch-list.json', JSON.stringify(sampleWatchList));
    await system.folder.write('log.jsonl', '');
    await system.forbid(/\/v1\w*\/watertanks\b/);
    const run = async (...argv: readonly string[]) =>
      await runIn(project.path, [...argv, '--folder', system.folder.path]);
    const { clusters } = shown.parse(JSON.parse((await run('status', '--json')).out));
    const tank = clusters[0]?.controllers?.find(({ controller }) => controller === 'water-tank');
    expect(tank).toMatchObject({ objects: 3 });
    expect(tank).not.toHaveProperty('problem');
    expect((await run('get', 'WaterTank')).out).toContain('default/north');
    expect((await run('history', 'north')).err).not.toMatch(/\b403\b/);
    const { out } = await run('doctor', '--json');
    expect(out).not.toContain('objects of water-tank fail is not known');
  });
});

describe('status of what cannot be read', () => {
  const table = 'clusters.json';

  it('doctor does not say that no object fails where it cannot list the objects', async () => {
    const client = system.client();
    const request: KubeClient['request'] = async (asked) => {
      if (asked.path.endsWith('/watertanks')) throw new ApiError(asked.path, 403, undefined);
      return await client.request(asked);
    };
    const options = { project: 'outrigger', signal };
    const { findings } = await checkCluster('local', { ...client, request }, [waterTank], options);
    expect(findings).toContainEqual({
      state: 'warning',
      about: 'cluster local',
      fix: expect.stringContaining('403'),
      message: 'whether objects of water-tank fail is not known',
    });
    expect(findings.map(({ message }) => message)).not.toContain('no object fails to reconcile');
  });

  it('status shows the readable clusters, names unreachable ones and invalid entries on the last lines, and exits with 1', async () => {
    const before = await system.folder.read(table);
    onTestFinished(async () => await system.folder.write(table, before));
    const dark = { server: 'http://127.0.0.1:9', access: { type: 'none' } };
    const more = {
      dark,
      'prod eu': dark,
      odd: { access: { type: 'token' } },
      gone: { ...dark, decommissioning: true },
      idle: { ...dark, paused: true },
      leaving: { ...dark, movingTo: { stage: 'canary', since: '2026-01-01T00:00:00Z' } },
    };
    await system.folder.write(table, JSON.stringify({ ...JSON.parse(before), ...more }));
    const { out, err, status } = await system.run('status', '--controller', 'foo');
    expect(out).toMatch(/^local +v1/m);
    expect(out).toMatch(/^gone +- +decommissioning$/m);
    expect(out).toMatch(/^dark +- +unreachable$/m);
    expect(out).toMatch(/^idle +- +PAUSED, unreachable$/m);
    expect(out).toMatch(/^leaving +- +MOVING to canary, unreachable$/m);
    expect(err).toMatch(
      /^dark, idle, leaving: GET \/version: connect ECONNREFUSED.*; no server listens there; check that it still runs$/m,
    );
    expect(err).toMatch(/^odd: cluster "odd": access\.token missing/m);
    expect(err).toMatch(/^cluster "prod eu": not a name of letters/m);
    expect(err).not.toContain('    at ');
    expect(status).toBe(1);
  });

  it('status names a deleted queue on the last line, and exits with 1', async () => {
    await system.queues.remove(controllerDeadLetterQueue('foo'));
    const { err, status } = await system.run('status', '--controller', 'foo');
    expect(err).toMatch(
      new RegExp(
        `^foo: its queues cannot be read: .*; outrigger doctor${system.at} prints the command that creates it again$`,
        'm',
      ),
    );
    expect(status).toBe(1);
    await system.queues.create(controllerDeadLetterQueue('foo'));
  });

  it.each([
    [['--cluster', 'nowhere'], 'outrigger status: cluster "nowhere": is not in the clusters table; name one of local'],
    [['--controller', 'tank'], 'outrigger status: there is no controller "tank"; the controllers are water-tank, '],
    [['--folder', '/nowhere'], 'nothing runs here (no /nowhere/state.json): start outrigger dev, or name'],
  ])('status %j prints one line with the next step, and exits with 1', async (argv, line) => {
    expectUserError(await system.run('status', ...argv), line);
  });
});
