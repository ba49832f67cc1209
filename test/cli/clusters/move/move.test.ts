// A move of a cluster between two stages under load, on a clock that only the test moves: no key is lost, no object is
// reconciled by both stages at once, and a move that is killed between any two steps is finished by running it again.
// Excluded: AWS (command.test.ts), and real RBAC (test/cluster/move.test.ts).
import { setImmediate } from 'node:timers/promises';
import { eksAccessEntries } from '@outrigger/cli/commands/clusters/move/eks-access-entries';
import { createFence } from '@outrigger/cli/commands/clusters/move/fence';
import type { MoveTiming } from '@outrigger/cli/commands/clusters/move/plan';
import { type MoveDeps, moveCluster } from '@outrigger/cli/commands/clusters/move/run';
import { sendEveryKey } from '@outrigger/cli/commands/clusters/move/send-keys';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { type ClusterEntry, parseEntry } from '../../../../src/clusters/registry/entry.ts';
import { defineKind } from '../../../../src/outrigger.ts';
import { createSeededRandom } from '../../../../tools/chaos/random.ts';
import { adminToken, startGuardedServer } from './guarded-server.ts';
import { createStage } from './stage.ts';

const Gauge = defineKind({
  group: 'moves.example.com',
  version: 'v1',
  kind: 'Gauge',
  spec: z.object({ level: z.number() }),
  status: z.object({ level: z.number() }),
  conditions: [],
});
const cluster = 'test';
const names = { name: cluster, from: 'prod', to: 'canary' };
const timeoutSeconds = 10;
// A stage reads its table within 18 seconds (stage.ts).
const timing: MoveTiming = { drainSeconds: 22 + 15, fenceSeconds: 15, refreshSeconds: 22 };
const objectCount = 12;
const never = new AbortController().signal;
const objectName = (index: number) => `gauge-${index}`;

/** Kills a move after each of its effects, once in each state. */
class Killed extends Error {}

/** Two stages of one project, and a cluster that the first has. */
async function openStages({ isFenced = true } = {}) {
  const parts = new AsyncDisposableStack();
  const guarded = parts.use(await startGuardedServer({ crds: [Gauge] }));
  const { server } = guarded;
  const seeded = createSeededRandom(20_261_125);
  const random = () => seeded.number();
  let nowMs = Date.parse('2026-01-01T00:00:00Z');
  const clock = () => nowMs;
  const blocked = new Set<{ readonly at: number; readonly go: () => void }>();
  const until = (at: number) => new Promise<void>((go) => blocked.add({ at, go }));

  // The judge: every reconcile, when it begins and when it ends.
  type Run = { readonly stage: string; readonly object: string; readonly from: number; to?: number };
  const runs: Run[] = [];
  const concurrent: string[] = [];
  const controllerOf = (stage: string) =>
    Gauge.controller('gauge', {
      timeoutSeconds,
      reconcile: async ({ metadata: { name }, spec: { level } }) => {
        const others = runs.filter((one) => one.object === name && one.to === undefined && one.stage !== stage);
        if (others.length > 0) concurrent.push(`${name} by ${stage} at ${nowMs}`);
        const run: Run = { stage, object: name, from: nowMs };
        runs.push(run);
        // Some reconciles take as long as they may.
        if (random() < 0.2) await until(nowMs + random() * (timeoutSeconds - 2) * 1000);
        run.to = nowMs;
        return { status: { level }, conditions: {}, requeueAfterSeconds: 40 };
      },
    });
  const controllers = { prod: controllerOf('prod'), canary: controllerOf('canary') };
  await guarded.bind('prod-user', 'outrigger-gauge');
  await guarded.bind('canary-user', 'outrigger-gauge');
  for (let index = 0; index < objectCount; index += 1)
    await server.apply({
      apiVersion: Gauge.apiVersion,
      kind: 'Gauge',
      metadata: { name: objectName(index), namespace: 'default' },
      spec: { level: 0 },
    });

  const entryOf = (user: string): ClusterEntry => ({ server: guarded.url, access: { type: 'token', token: user } });
  const watched = guarded.client(adminToken);
  parts.defer(() => watched.close());
  const shared = { nowMs: clock, random, version: server.version };
  const prod = createStage(controllers.prod, { ...shared, watcher: () => watched, hasStale: true });
  // Its fleet watcher follows the table.
  const canary = createStage(controllers.canary, {
    ...shared,
    hasStale: false,
    watcher: () => (canary.table.has(cluster) ? watched : undefined),
  });
  const stages = [prod, canary];
  prod.table.set(cluster, entryOf('prod-user'));

  let edits = 0;
  /** Lets time pass, with an edit every second. */
  async function pass(seconds: number, { editing = true } = {}): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      nowMs += 1_000;
      for (const one of [...blocked].filter(({ at }) => at <= nowMs)) {
        blocked.delete(one);
        one.go();
      }
      if (editing) {
        edits += 1;
        const name = objectName(Math.floor(random() * objectCount));
        await server.patch(Gauge, { namespace: 'default', name }, { spec: { level: edits } });
      }
      await Promise.all(stages.map(async (stage) => await stage.pump()));
      // Requests end in real time. A batch may wait for the clock.
      for (let turns = 0; turns < 2_000 && stages.some((one) => one.isBusy()) && blocked.size === 0; turns += 1)
        await setImmediate();
    }
  }

  const entryIn = (table: ReadonlyMap<string, unknown>) =>
    table.has(cluster) ? parseEntry(cluster, table.get(cluster)) : undefined;
  const admin = guarded.client(adminToken);
  parts.defer(() => admin.close());
  const registry = [controllers.canary];
  const fence = createFence(
    {
      admin,
      registry,
      project: 'outrigger',
      namespaces: undefined,
      at: '',
      connect: async ({ access }) => guarded.client(access.type === 'token' ? access.token : ''),
      eks: (access) =>
        eksAccessEntries(access, {
          credentials: async () => ({ accessKeyId: '', secretAccessKey: '' }),
          now: () => new Date(nowMs),
        }),
      functions: { source: [], target: [] },
      wait: async (seconds) => await pass(seconds),
    },
    never,
  );
  const deps: MoveDeps = {
    ...fence,
    ...(isFenced ? {} : { takePermissions: async () => undefined }),
    read: async () => ({ source: entryIn(prod.table), target: entryIn(canary.table) }),
    changeSource: async (change) => {
      const entry = entryIn(prod.table);
      if (entry !== undefined) prod.table.set(cluster, change(entry));
    },
    changeTarget: async (change) => void canary.table.set(cluster, change(entryIn(canary.table))),
    targetEntry: () => entryOf('canary-user'),
    untilWatched: async () => await pass(5),
    sendEveryKey: async () =>
      await sendEveryKey(
        { client: admin, send: canary.queues.send, registry },
        { cluster, project: 'outrigger', namespaces: undefined, nowMs, signal: never },
      ),
    now: clock,
    wait: async (seconds) => await pass(seconds),
    report: () => undefined,
  };
  return {
    prod,
    canary,
    deps,
    runs,
    concurrent,
    pass,
    entryOf,
    edits: () => edits,
    close: async () => {
      while (stages.some((one) => one.isBusy())) {
        for (const one of blocked) one.go();
        blocked.clear();
        await setImmediate();
      }
      await parts.disposeAsync();
    },
    levels: async () =>
      (await server.list(Gauge)).map(({ metadata: { name }, spec, status }) => ({
        name,
        isObserved: status?.level === spec.level,
      })),
  };
}
type Stages = Awaited<ReturnType<typeof openStages>>;

/** Runs the move again and again, each time until it is killed after an effect. Returns how often it was killed. */
async function moveKilled({ deps, pass }: Stages): Promise<number> {
  const killedAfter = new Set<string>();
  const permissions = ['checkPermissions', 'takePermissions', 'grantPermissions'] as const;
  const effects = ['changeSource', 'changeTarget', ...permissions, 'untilWatched', 'sendEveryKey', 'wait'] as const;
  const stateOf = async () => JSON.stringify(await deps.read()).replaceAll(/\d{4}-[\d-]+T[\d:.]+Z/g, 'then');
  const kill = async (effect: string) => {
    const where = `${effect} ${await stateOf()}`;
    if (killedAfter.has(where)) return;
    killedAfter.add(where);
    throw new Killed(where);
  };
  const mortal = { ...deps };
  for (const effect of effects)
    Object.assign(mortal, {
      [effect]: async (...given: readonly unknown[]) => {
        const result: unknown = await Reflect.apply(deps[effect], undefined, given);
        await kill(effect);
        return result;
      },
    });
  for (;;) {
    try {
      await moveCluster(mortal, names, timing, never);
      return killedAfter.size;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      await pass(3);
    }
  }
}

it('a cluster moves under load, killed after every step: no key is lost, and no object is reconciled by both at once', async ({
  annotate,
}) => {
  const stages = await openStages();
  await using _ = { [Symbol.asyncDispose]: stages.close };
  const { prod, canary, runs, concurrent, pass } = stages;
  await pass(30);
  expect(new Set(runs.map(({ stage }) => stage))).toEqual(new Set(['prod']));

  expect(await moveKilled(stages)).toBeGreaterThanOrEqual(12);
  await pass(30);
  await pass(60, { editing: false });

  expect(concurrent).toEqual([]);
  const first = runs.filter(({ stage }) => stage === 'prod');
  const second = runs.filter(({ stage }) => stage === 'canary');
  const lastEnd = Math.max(...first.map(({ to = Number.POSITIVE_INFINITY }) => to));
  expect(lastEnd).toBeLessThanOrEqual(Math.min(...second.map(({ from }) => from)));
  // Every object, and not only those that were edited since.
  expect(new Set(second.map(({ object }) => object)).size).toBe(objectCount);
  expect((await stages.levels()).filter(({ isObserved }) => !isObserved)).toEqual([]);
  expect(canary.deadLetters()).toBe(0);
  expect(prod.table.get(cluster)).toEqual({ ...stages.entryOf('prod-user'), decommissioning: true });
  expect(canary.table.get(cluster)).toEqual(stages.entryOf('canary-user'));
  await annotate(
    `${stages.edits()} edits, ${first.length} + ${second.length} reconciles, ${concurrent.length} concurrent, 0 lost`,
  );
}, 120_000);

it('without the fence, an environment that cannot read the table reconciles what the other stage reconciles', async () => {
  const stages = await openStages({ isFenced: false });
  await using _ = { [Symbol.asyncDispose]: stages.close };
  await stages.pass(30);
  await moveCluster(stages.deps, names, timing, never);
  await stages.pass(60);
  const started = Math.min(...stages.runs.filter(({ stage }) => stage === 'canary').map(({ from }) => from));
  expect(stages.runs.filter(({ stage, from }) => stage === 'prod' && from > started).length).toBeGreaterThan(0);
}, 120_000);
