// startSystem as an author uses it: whole controllers, a cluster and a clock that only the test moves. Excluded: the
// parts themselves, which have tests of their own.

import { startPantry } from '@outrigger/cli/simulators/pantry';
import { startPlant } from '@outrigger/cli/simulators/plant';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import type { Allows } from '../../src/api/allows.ts';
import { dinner } from '../../src/controllers/dinner.ts';
import { ingredient } from '../../src/controllers/ingredient.ts';
import { WaterTank, waterTank } from '../../src/controllers/water-tank.ts';
import { ConfigMap, Job, Namespace, Service } from '../../src/kubernetes.ts';
import { defineKind, wake } from '../../src/outrigger.ts';
import { startSystem } from '../../src/testing.ts';

const Note = defineKind({
  group: 'notes.example.com',
  version: 'v1',
  kind: 'Note',
  spec: z.object({ text: z.string() }),
  status: z.object({ length: z.number() }),
  conditions: [],
});
const aNote = (text: string) => ({
  apiVersion: Note.apiVersion,
  kind: 'Note',
  metadata: { name: 'one', namespace: 'default' },
  spec: { text },
});
const one = { namespace: 'default', name: 'one' };
/** Owns a ConfigMap with the text. Fails for the text `fail`. */
const note = Note.controller('note', {
  owns: [ConfigMap],
  wakes: [wake({ source: 'editor', detailType: 'Saved' }, () => [one])],
  reconcile: async ({ metadata: { name }, spec: { text } }, { apply }) => {
    if (text === 'fail') throw new Error('no paper');
    await apply(ConfigMap, { metadata: { name }, data: { text } });
    return { status: { length: text.length }, conditions: {} };
  },
});

const Team = defineKind({
  group: 'notes.example.com',
  version: 'v1',
  kind: 'Team',
  scope: 'Cluster',
  conditions: [],
  spec: z.object({ namespaces: z.array(z.string()) }),
  status: z.object({}),
});
/** Owns Namespaces, and a ConfigMap in each. */
const team = Team.controller('team', {
  owns: [Namespace, ConfigMap],
  reconcile: async ({ spec: { namespaces } }, { applyAll }) => {
    await applyAll(
      Namespace,
      namespaces.map((name) => ({ metadata: { name } })),
    );
    await applyAll(
      ConfigMap,
      namespaces.map((namespace) => ({ metadata: { name: 'one', namespace } })),
    );
    return { status: {}, conditions: {} };
  },
});
const aTeam = {
  apiVersion: Team.apiVersion,
  kind: 'Team',
  metadata: { name: 'one' },
  spec: { namespaces: ['slow', 'other'] },
};

it('minutes of a tank that fills take no time, and it holds its level at the end', async () => {
  let now = 0;
  const plant = await startPlant({ nowMilliseconds: () => now });
  onTestFinished(async () => await plant.close());
  await using system = await startSystem({ controllers: [waterTank], environment: { PLANT_URL: plant.url } });
  await system.cluster.apply({
    apiVersion: WaterTank.apiVersion,
    kind: 'WaterTank',
    metadata: { name: 'one', namespace: 'default' },
    spec: { targetLevel: 60, capacity: 100 },
  });
  const begun = system.now().getTime();
  await system.settled();
  const read = async () => await system.cluster.get(WaterTank, one);
  expect((await read())?.status).toMatchObject({ action: 'Filling', observedLevel: 0 });
  for (let seconds = 0; seconds < 60; seconds += 2) {
    now += 2_000;
    await system.advance(2 / 60);
  }
  expect((await read())?.status?.action).toBe('Holding');
  expect(system.now().getTime() - begun).toBe(60_000);
});

it('a child that a function of applyAll returns as it exists is not written, and keeps its field managers', async () => {
  const containers = [{ name: 'main', image: 'busybox' }];
  const pod = { automountServiceAccountToken: false, restartPolicy: 'Never', containers } as const;
  const job = { metadata: { name: 'one' }, spec: { template: { spec: pod } } };
  const runOnce = Note.controller('run-once', {
    owns: [Job],
    reconcile: async (_, { applyAll }) => {
      const jobs = await applyAll(Job, (existing) => (existing.length === 0 ? [job] : existing));
      return { status: { length: jobs.length }, conditions: {} };
    },
  });
  await using system = await startSystem({ controllers: [runOnce] });
  await system.cluster.apply(aNote('a'));
  await system.settled();
  const before = await system.cluster.get(Job, one);
  await system.cluster.apply(aNote('b'));
  await system.settled();
  expect(await system.cluster.get(Job, one)).toEqual(before);
  expect(before?.metadata.generation).toBe(1);
  expect(JSON.stringify(before)).not.toContain('f:parallelism');
  expect(await system.cluster.get(Note, one)).toMatchObject({ status: { length: 1 } });
});

it('K14: a child that `allows` does not permit is refused as in a cluster, unless a user makes it or it is declared', async () => {
  const metadata = { name: 'one', namespace: 'default' };
  const balanced = { metadata, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } } as const;
  const exposed = (allows: Allows) =>
    Team.controller('exposed', {
      owns: [Service],
      allows,
      reconcile: async (_, { apply }) => {
        await apply(Service, balanced);
        return { status: {}, conditions: {} };
      },
    });
  await using system = await startSystem({ controllers: [exposed({})], objects: [aTeam] });
  await system.settled();
  const refusal =
    `services "one" is forbidden: ValidatingAdmissionPolicy 'outrigger-exposed-children' with binding ` +
    `'outrigger-exposed-children' denied request: exposed does not declare allows.serviceTypes`;
  const stalled = { type: 'Stalled', status: 'True', message: expect.stringContaining(refusal) };
  const found = await system.cluster.get(Team, { name: 'one' });
  expect(found?.conditions).toContainEqual(expect.objectContaining(stalled));
  expect(await system.cluster.get(Service, one)).toBeUndefined();
  await system.cluster.apply({ apiVersion: 'v1', kind: 'Service', ...balanced });
  expect((await system.cluster.get(Service, one))?.spec?.type).toBe('LoadBalancer');

  await using declared = await startSystem({
    controllers: [exposed({ serviceTypes: ['LoadBalancer'] })],
    objects: [aTeam],
  });
  await declared.settled();
  expect((await declared.cluster.get(Service, one))?.spec?.type).toBe('LoadBalancer');
});

it('W11: a tank at rest is polled every five minutes, and an event of its sensor has it reconciled at once', async () => {
  let now = 0;
  const plant = await startPlant({ nowMilliseconds: () => now, initialLevel: () => 60 });
  onTestFinished(async () => await plant.close());
  await using system = await startSystem({ controllers: [waterTank], environment: { PLANT_URL: plant.url } });
  await system.cluster.apply({
    apiVersion: WaterTank.apiVersion,
    kind: 'WaterTank',
    metadata: { name: 'one', namespace: 'default' },
    spec: { targetLevel: 60, capacity: 100 },
  });
  await system.settled();
  const id = (await system.cluster.get(WaterTank, one))?.metadata.uid ?? '';
  const advance = async (minutes: number) => {
    now += minutes * 60_000;
    await system.advance(minutes);
  };
  // The first wait is half to one and a half times the period.
  const before = system.reconciles.length;
  await advance(27.5);
  const polls = system.reconciles.slice(before);
  expect(new Set(polls.map(({ cause }) => cause))).toEqual(new Set(['requeue']));
  expect([5, 6]).toContain(polls.length);

  plant.disturb(id, 20);
  expect(plant.tank(id).inlet.open).toBe(false);
  const event = { source: 'plant.example.com', detailType: 'LevelChanged', detail: { tank: one } };
  expect(await system.wake(event)).toBe(1);
  await system.settled();
  expect(plant.tank(id).inlet.open).toBe(true);
  expect(system.reconciles.at(-1)).toMatchObject({ cause: 'wake', outcome: 'done' });
});

it('a deleted child is made again, an event wakes its object, and each reconcile says why it ran', async () => {
  await using system = await startSystem({ controllers: [note], objects: [aNote('hello')] });
  await system.settled();
  await system.cluster.delete(ConfigMap, one);
  await system.settled();
  expect((await system.cluster.get(ConfigMap, one))?.data).toEqual({ text: 'hello' });
  expect(system.reconciles.map(({ causedBy }) => causedBy)).toContain(
    'configmaps/default/one (deleted or no longer selected)',
  );
  const before = system.reconciles.length;
  expect(await system.wake({ source: 'editor', detailType: 'Saved', detail: {} })).toBe(1);
  await system.settled();
  expect(system.reconciles.slice(before)).toMatchObject([{ cause: 'wake', outcome: 'done', writes: 0 }]);
  const rested = system.reconciles.length;
  await system.settled();
  expect(system.reconciles).toHaveLength(rested);
});

it.each([
  ['K12: a child that lost its labels gets them back as the same object', 'a b', ['a', 'b']],
  ['K19: a child that lost its labels and is dropped by the spec goes', 'b', ['b']],
])('%s, without a resync', async (_, text, names) => {
  const seen: number[] = [];
  const words = Note.controller('words', {
    owns: [ConfigMap],
    reconcile: async ({ spec }, { applyAll }) => {
      const made = await applyAll(ConfigMap, (existing) => {
        seen.push(existing.length);
        return spec.text.split(' ').map((name) => ({ metadata: { name } }));
      });
      return { status: { length: made.length }, conditions: {} };
    },
  });
  await using system = await startSystem({ controllers: [words], objects: [aNote('a b')] });
  await system.settled();
  const list = async () => await system.cluster.list(ConfigMap, { namespace: 'default' });
  const before = await list();
  const labels = { 'outrigger.dev/controller': null, 'outrigger.dev/owner-uid': null };
  seen.length = 0;
  await system.cluster.patch(ConfigMap, { ...one, name: 'a' }, { metadata: { labels } });
  await system.cluster.apply(aNote(text));
  await system.settled();
  const shown = (found: typeof before) => found.map(({ metadata: { name, uid, labels } }) => ({ name, uid, labels }));
  expect(shown(await list())).toEqual(shown(before.filter(({ metadata: { name } }) => names.includes(name))));
  expect(seen[0]).toBe(2);
  expect(system.reconciles.map(({ cause }) => cause)).not.toContain('resync');
});

it('a run of a mapping function is no reconcile of the object, and has a list of its own', async () => {
  const themed = Note.controller('themed', {
    watches: [ConfigMap, Job].map((kind) => ({ kind, mapToKeys: async () => [one] })),
    reconcile: async ({ spec: { text } }) => ({ status: { length: text.length }, conditions: {} }),
  });
  await using system = await startSystem({ controllers: [themed], objects: [aNote('hello')] });
  await system.settled();
  expect(system.mappings).toEqual([]);
  const before = system.reconciles.length;
  await system.cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...one, name: 'theme' } });
  await system.settled();
  const mapped = { kind: 'ConfigMap', object: 'default/theme', cause: 'change', outcome: 'done' };
  expect(system.mappings).toMatchObject([mapped]);
  const reconciled = { kind: 'Note', object: 'default/one', cause: 'change', writes: 0 };
  expect(system.reconciles.slice(before)).toMatchObject([reconciled]);
});

it('a failing reconcile is retried with backoff as time passes, and is a dead letter after its attempts', async () => {
  await using system = await startSystem({ controllers: [note], objects: [aNote('fail')] });
  await system.settled();
  expect(system.reconciles).toMatchObject([{ outcome: 'failed', error: expect.stringContaining('no paper') }]);
  await system.advance(3 * 60);
  expect(system.reconciles.filter(({ cause }) => cause === 'retry')).toHaveLength(9);
  expect(system.deadLetters('note')).toEqual([expect.stringContaining('no paper')]);
  await system.cluster.apply(aNote('hello'));
  await system.settled();
  expect((await system.cluster.get(Note, one))?.status).toMatchObject({ length: 5 });
});

it('a failing reconcile of a foreign kind with evidence has its attempts once, and the resync adds none', async () => {
  const strict = Namespace.controller('strict', {
    evidence: 'annotation',
    reconcile: async () => {
      throw new Error('no paper');
    },
  });
  const objects = [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } }];
  await using system = await startSystem({ controllers: [strict], objects });
  await system.advance(3 * 60);
  expect(system.reconciles.filter(({ object, cause }) => object === 'team' && cause === 'retry')).toHaveLength(9);
});

it('a child in a terminating Namespace waits for its end without an attempt for half an hour, and is one dead letter after hours', async () => {
  await using system = await startSystem({ controllers: [team], objects: [aTeam] });
  const ready = async () => (await system.cluster.get(Team, { name: 'one' }))?.conditions;
  const configMap = async (namespace: string) => await system.cluster.get(ConfigMap, { ...one, namespace });
  await system.settled();
  const held = { namespace: 'slow', name: 'held', finalizers: ['example.com/slow'] };
  await system.cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: held });
  await system.cluster.delete(Namespace, { name: 'slow' });
  await system.settled();
  await system.cluster.delete(ConfigMap, { ...one, namespace: 'other' });
  await system.advance(25);
  expect(await configMap('slow')).toBeUndefined();
  expect(await configMap('other')).toBeDefined();
  const waiting = { reason: 'NamespaceTerminating', message: expect.stringContaining('namespace slow') };
  expect(await ready()).toMatchObject([
    { type: 'Ready', status: 'Unknown', ...waiting },
    { type: 'Reconciling', status: 'True', ...waiting },
  ]);
  expect(system.reconciles.map(({ outcome }) => outcome)).not.toContain('failed');
  await system.advance(20 * 60);
  expect(system.deadLetters('team')).toEqual([expect.stringContaining('namespace slow')]);
  await system.cluster.patch(ConfigMap, held, { metadata: { finalizers: [] } });
  await system.settled();
  expect(await configMap('slow')).toBeDefined();
  expect(await ready()).toMatchObject([{ type: 'Ready', status: 'True' }]);
});

it('the status of an applied object of an own kind is its controller’s to write', async () => {
  await using system = await startSystem({
    controllers: [note],
    objects: [{ ...aNote('hello'), status: { old: 1 } }],
  });
  await system.settled();
  await system.cluster.apply({ ...aNote('hello'), status: { length: 99 } });
  expect((await system.cluster.get(Note, one))?.status).toMatchObject({ length: 5 });
});

it('the status of an applied object of an own kind that no controller of the system reconciles is applied', async () => {
  const reader = ConfigMap.controller('reader', { reads: [Note], reconcile: async () => {} });
  await using system = await startSystem({ controllers: [reader] });
  await system.cluster.apply({ ...aNote('hello'), status: { length: 99 } });
  expect((await system.cluster.get(Note, one))?.status).toMatchObject({ length: 99 });
});

it('the resync reconciles every object once in its period, though nothing happened', async () => {
  await using system = await startSystem({ controllers: [note], objects: [aNote('hello')] });
  await system.settled();
  const before = system.reconciles.length;
  await system.advance(11 * 60);
  const later = system.reconciles.slice(before);
  expect(later.map(({ cause }) => cause)).toEqual(['resync']);
  expect(later[0]?.writes).toBe(0);
});

it('a reconcile whose writes cause its own next change is an error that names the key and the cause', async () => {
  let count = 0;
  const busy = Note.controller('busy', {
    owns: [ConfigMap],
    reconcile: async ({ metadata: { name } }, { apply }) => {
      count += 1;
      await apply(ConfigMap, { metadata: { name }, data: { count: `${count}` } });
      return { status: { length: 0 }, conditions: {} };
    },
  });
  await using system = await startSystem({ controllers: [busy], objects: [aNote('x')] });
  await expect(system.settled()).rejects.toThrow(
    /busy reconciles default\/one again and again.*configmaps\/default\/one \(1 writes\)/,
  );
});

it('several controllers and their children settle together', async () => {
  const pantry = await startPantry();
  onTestFinished(async () => await pantry.close());
  await using system = await startSystem({
    controllers: [ingredient, dinner],
    environment: { PANTRY_URL: pantry.url },
    objects: ['infra/kubernetes/samples/dinner.yaml'],
  });
  await system.settled();
  await system.advance(5);
  const dinners = await system.cluster.list(dinner.declaration.resource, { namespace: 'default' });
  expect(JSON.stringify(dinners)).toContain('"type":"Ready","status":"True"');
});
