// Only the battery's check of a changed spec, TerminalErrors, fields that are not compared, children that are created once
// and orphaned children. The other checks are in battery.test.ts.
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ConfigMap, Job, Pod, Secret } from '../../src/kubernetes.ts';
import { defineKind, notOk, ok, type ResultOf, TerminalError } from '../../src/outrigger.ts';
import { battery } from '../../src/testing.ts';

const List = defineKind({
  group: 'test.example.com',
  version: 'v1',
  kind: 'List',
  spec: z.object({ entries: z.record(z.string(), z.string()), zone: z.string().optional() }).meta({
    'x-kubernetes-validations': [
      { rule: '!has(oldSelf.zone) || (has(self.zone) && self.zone == oldSelf.zone)', message: 'zone is immutable' },
    ],
  }),
  status: z.object({ writes: z.number().int().optional(), first: z.record(z.string(), z.string()).optional() }),
  conditions: ['Written', 'Long'],
});
type Entries = Readonly<Record<string, string>>;
const listOf = (entries: Entries, zone?: string) => ({
  apiVersion: List.apiVersion,
  kind: 'List',
  metadata: { name: 'one' },
  spec: { entries, ...(zone === undefined ? {} : { zone }) },
});
const samples = [listOf({ a: '1', b: '2' }), { ...listOf({ a: '3' }), metadata: { name: 'two' } }];
const changed = 'an object whose spec changes ends like one that had it from the start';
const both = `${changed} (sample 1 to sample 2 and back)`;
const missed = 'a child whose ';
const ofMissedChanges = ['deletion was missed is created again', 'change was missed is corrected'].flatMap((check) =>
  [1, 2].map((sample) => `${missed}${check} (sample ${sample})`),
);
const outsideDown = 'an outside system that is down between any two calls ends the same';

const childrenOf = (name: string, entries: Entries) =>
  Object.entries(entries).map(([entry, text]) => ({ metadata: { name: `${name}-${entry}` }, data: { text } }));
const written = { Written: ok('Written'), Long: ok('Long') };

/** Runs the checks whose names start so, or all, and returns the messages of those that fail or are skipped. */
async function resultsOf(controller: Parameters<typeof battery>[0], options: Parameters<typeof battery>[1], only = '') {
  const failed: Record<string, string> = {};
  const skipped: Record<string, string> = {};
  for (const { name, run } of battery(controller, options)) {
    if (!name.startsWith(only)) continue;
    const skip = (note: string) => {
      skipped[name] = note;
    };
    await run({ skip }).catch((error: Error) => {
      failed[name] = error.message;
    });
  }
  return { failed, skipped };
}

const right = List.controller('list', {
  owns: [ConfigMap],
  // The number of writes is a history: it is not the same after a change.
  async reconcile({ metadata: { name, generation }, spec }, { applyAll }): Promise<ResultOf<typeof List>> {
    await applyAll(ConfigMap, childrenOf(name, spec.entries));
    return { status: { writes: generation }, conditions: written };
  },
});

describe('a controller that is right', () => {
  // The second sample is there for the change between the two.
  for (const { name, run } of battery(right, { samples })) if (!name.endsWith('(sample 2)')) it(name, run);
});

const unpruned = List.controller('unpruned', {
  owns: [ConfigMap],
  async reconcile({ metadata: { name }, spec }, { apply }): Promise<ResultOf<typeof List>> {
    for (const child of childrenOf(name, spec.entries)) await apply(ConfigMap, child);
    return { status: {}, conditions: written };
  },
});
const firstByName = new Map<string, Entries>();

it.each<[string, ReturnType<typeof List.controller>, RegExp]>([
  [
    'a child that is not deleted when its entry is removed',
    unpruned,
    /^after List one was changed from sample 1 to sample 2, ConfigMap\/one-b is \{.* instead of absent\. What to change: .* let applyAll delete/,
  ],
  [
    'the first spec, which is kept in the status',
    List.controller('first-in-status', {
      owns: [ConfigMap],
      async reconcile({ metadata: { name }, spec, status }, { applyAll }): Promise<ResultOf<typeof List>> {
        const first = status?.first ?? spec.entries;
        await applyAll(ConfigMap, childrenOf(name, first));
        return { status: { first }, conditions: written };
      },
    }),
    /^after List one was changed from sample 1 to sample 2, ConfigMap\/one-a\.owned\.data\.text is "1" instead of "3"\. What to change: .* keep nothing of an earlier spec/,
  ],
  [
    'the first spec of a name, which is kept in the module',
    List.controller('first-in-module', {
      owns: [ConfigMap],
      async reconcile({ metadata: { name }, spec }, { applyAll }): Promise<ResultOf<typeof List>> {
        const first = firstByName.get(name) ?? spec.entries;
        firstByName.set(name, first);
        await applyAll(ConfigMap, childrenOf(name, first));
        return { status: {}, conditions: written };
      },
    }),
    /^sample 1 and sample 2 differ, but their children and status are the same for List one\. What to change: .* keep nothing of an earlier spec/,
  ],
  [
    'a spec whose only effect may be in a value that varies',
    List.controller('varying', {
      owns: [Secret],
      async reconcile({ metadata: { name } }, { get, apply }): Promise<ResultOf<typeof List>> {
        const token = (await get(Secret, { name }))?.data?.token ?? randomBytes(8).toString('base64');
        await apply(Secret, { metadata: { name }, data: { token } });
        return { status: {}, conditions: written };
      },
    }),
    /^sample 1 and sample 2 differ, but their children and status are the same for List one, apart from what varies between two runs of a sample, such as Secret\/one\.owned\.data\.token\. What/,
  ],
  [
    'a condition of an earlier spec',
    List.controller('stale-condition', {
      owns: [ConfigMap],
      async reconcile({ metadata: { name }, spec, conditions }, { applyAll }): Promise<ResultOf<typeof List>> {
        await applyAll(ConfigMap, childrenOf(name, spec.entries));
        const wasLong = conditions?.some(({ type, status }) => type === 'Long' && status === 'True') === true;
        const isLong = wasLong || Object.keys(spec.entries).length > 1;
        return { status: {}, conditions: { Written: ok('Written'), Long: isLong ? ok('Long') : notOk('Short') } };
      },
    }),
    /^after List one was changed from sample 1 to sample 2, List\/one\.conditions\.(Long|Ready) is "True" instead of "False"/,
  ],
])('%s is caught by a change of the spec, with the object, the child and the field', async (_, controller, message) => {
  const { failed } = await resultsOf(controller, { samples }, changed);
  expect(failed).toEqual({ [both]: expect.stringMatching(message) });
});

it('a TerminalError of every reconcile fails one of the checks that need a converged object, unless it is declared', async () => {
  const hopeless = List.controller('hopeless', {
    reconcile: () => Promise.reject(new TerminalError('never')),
  });
  const { failed, skipped } = await resultsOf(hopeless, { samples: samples.slice(0, 1) });
  const messages = Object.values(failed).filter((one) => !one.startsWith('call 1 of the reconcile'));
  expect(messages).toEqual([expect.stringMatching(/^List one ends in a TerminalError: never\. What to change:/)]);
  const [reported] = Object.keys(failed);
  const asFirst = Object.values(skipped).filter((note) => note.endsWith(`it fails as this check does: ${reported}`));
  expect(asFirst.length).toBeGreaterThan(10);
  const declared = await resultsOf(hopeless, { samples, allowTerminalErrors: true });
  expect(declared.failed).toEqual({});
  expect(declared.skipped[both]).toMatch(/both may end in a TerminalError$/);
});

it('labels that a controller copies to its child are followed only if it is sent their changes', async () => {
  const copying = (options: { readonly changes?: 'metadata' }) =>
    List.controller('copying', {
      ...options,
      owns: [ConfigMap],
      async reconcile({ metadata: { name, labels } }, { apply }): Promise<ResultOf<typeof List>> {
        await apply(ConfigMap, { metadata: { name, labels } });
        return { status: {}, conditions: written };
      },
    });
  const sampleOf = (team: string) => ({ ...listOf({}), metadata: { name: 'one', labels: { team } } });
  const labelled = [sampleOf('blue'), sampleOf('red')];
  const { failed } = await resultsOf(copying({}), { samples: labelled }, both);
  expect(failed).toEqual({
    [both]: expect.stringMatching(
      /ConfigMap\/one\.owned.*team.* is "blue" instead of "red"\. What.*changes: 'metadata'/,
    ),
  });
  expect((await resultsOf(copying({ changes: 'metadata' }), { samples: labelled }, both)).failed).toEqual({});
});

it('a child of a kind that the author keeps may stay after a change', async () => {
  const { failed } = await resultsOf(unpruned, { samples, keeps: [ConfigMap] }, changed);
  expect(failed).toEqual({});
});

describe('U11: children of which one keeps the content of an earlier spec, as of a blue-green deployment', () => {
  /** Gives a changed spec to the idle one of two children, and makes it the active one. */
  const blueGreen = List.controller('list', {
    owns: [ConfigMap],
    async reconcile({ metadata: { name }, spec }, { apply, get }): Promise<ResultOf<typeof List>> {
      const text = JSON.stringify(spec.entries);
      const active = (await get(ConfigMap, { name: `${name}-active` }))?.data?.colour ?? 'blue';
      const held = (await get(ConfigMap, { name: `${name}-${active}` }))?.data?.text ?? text;
      const colour = held === text ? active : active === 'blue' ? 'green' : 'blue';
      await apply(ConfigMap, { metadata: { name: `${name}-${colour}` }, data: { text } });
      await apply(ConfigMap, { metadata: { name: `${name}-active` }, data: { colour } });
      return { status: {}, conditions: written };
    },
  });
  const loses = List.controller('list', {
    owns: [ConfigMap],
    async reconcile({ metadata: { name, generation }, spec }, { applyAll }): Promise<ResultOf<typeof List>> {
      await applyAll(ConfigMap, generation === 1 ? childrenOf(name, spec.entries) : []);
      return { status: {}, conditions: written };
    },
  });

  it('keeps accepts it, and without keeps the message names it', async () => {
    expect(await resultsOf(blueGreen, { samples, keeps: [ConfigMap] }, changed)).toEqual({ failed: {}, skipped: {} });
    const { failed } = await resultsOf(blueGreen, { samples }, changed);
    expect(failed[both]).toMatch(/ConfigMap\/one-.*for children that stay, or keep their content, on purpose, give/);
  });

  it('fewer than a new object has are caught', async () => {
    const { failed } = await resultsOf(loses, { samples, keeps: [ConfigMap] }, changed);
    expect(failed[both]).toMatch(/^after List one was changed .*, ConfigMap: 0 are there instead of 1\./);
  });
});

describe('a check that cannot be made', () => {
  it('U11: each check that finds nothing to check is skipped with its reason', async () => {
    const idle = List.controller('list', { reconcile: async () => ({ status: {}, conditions: written }) });
    const { failed, skipped } = await resultsOf(idle, { samples: samples.slice(0, 1), changesWithTime: true });
    expect(failed).toEqual({});
    expect(Map.groupBy(Object.keys(skipped), (name) => skipped[name])).toEqual(
      new Map([
        ['not checked: changesWithTime is given', ['a converged object is reconciled a day later without a write']],
        ['not checked: the controller owns no kind', expect.any(Array)],
        ['not checked: the controller has no finalize, or no selector', [expect.stringContaining('selection')]],
        ['not checked: the controller has no finalize', expect.any(Array)],
        ['not checked: no sample calls an outside system by fetch', expect.any(Array)],
        ['not checked: give a second sample, whose spec is another one', [changed]],
      ]),
    );
  });

  it('a change that the API server refuses is skipped with its reason', async () => {
    const zoned = [listOf({ a: '1' }, 'north'), listOf({ b: '2' }, 'south')];
    const { failed, skipped } = await resultsOf(right, { samples: zoned }, changed);
    expect(failed).toEqual({});
    expect(skipped).toEqual({
      [both]: expect.stringMatching(
        /^not checked: the API server refuses that List one was changed from sample 1 to sample 2: .*zone is immutable/,
      ),
    });
  });

  it('samples that differ by their names alone are skipped', async () => {
    const equal = [listOf({ a: '1' }), { ...listOf({ a: '1' }), metadata: { name: 'two' } }];
    expect(await resultsOf(right, { samples: equal }, changed)).toEqual({
      failed: {},
      skipped: { [both]: 'not checked: sample 1 and sample 2 are equal' },
    });
  });

  it('a single sample is skipped with a note that asks for a second one', async () => {
    expect(await resultsOf(right, { samples: samples.slice(0, 1) }, changed)).toEqual({
      failed: {},
      skipped: { [changed]: 'not checked: give a second sample, whose spec is another one' },
    });
  });

  it('checks of children and of calls that no sample has are skipped with a note that asks for such a sample', async () => {
    const outside = async () => ({});
    const without = { samples: [listOf({}), listOf({})], outside };
    const [children, calls] = [await resultsOf(right, without, missed), await resultsOf(right, without, outsideDown)];
    const noChildren = expect.stringMatching(
      /^not checked: no sample has a child of ConfigMap, .* give a sample with one$/,
    );
    const noCalls = expect.stringMatching(
      /^not checked: no sample calls the outside system by fetch; give a sample that/,
    );
    expect(children).toEqual({
      failed: {},
      skipped: Object.fromEntries(ofMissedChanges.map((name) => [name, noChildren])),
    });
    expect(calls).toEqual({
      failed: {},
      skipped: { [`${outsideDown} (sample 1)`]: noCalls, [`${outsideDown} (sample 2)`]: noCalls },
    });
    const some = await resultsOf(right, { samples: [listOf({}), listOf({ a: '1' })] }, missed);
    expect(some).toEqual({ failed: {}, skipped: {} });
  });

  it('a runner that passes no context gets a check that passes', async () => {
    const check = battery(right, { samples: samples.slice(0, 1) }).find(({ name }) => name === changed);
    await check?.run();
    expect(check?.run).toHaveLength(0);
  });
});

describe('a status with a version that other writes raise', () => {
  const Copy = defineKind({
    group: 'test.example.com',
    version: 'v1',
    kind: 'Copy',
    spec: z.object({}),
    conditions: ['Made'],
    status: z.object({ copies: z.array(z.object({ name: z.string(), etag: z.number() })) }),
  });
  const sample = { apiVersion: Copy.apiVersion, kind: 'Copy', metadata: { name: 'one' }, spec: {} };
  const copy = Copy.controller('copy', {
    owns: [ConfigMap],
    async reconcile({ metadata: { name } }, { apply }): Promise<ResultOf<typeof Copy>> {
      const { metadata } = await apply(ConfigMap, { metadata: { name } });
      const copies = [{ name, etag: Number(metadata.resourceVersion) }];
      return { status: { copies }, conditions: { Made: ok('Made') } };
    },
  });

  it('such a status fails a check unless its field is ignored, and the message names the option', async () => {
    const check = 'a child whose deletion was missed is created again';
    const { failed } = await resultsOf(copy, { samples: [sample] }, check);
    expect(failed[check]).toMatch(/Copy\/one\.owned\.status\.copies\.0\.etag is .* give the battery ignoreStatus\.$/);
    const ignored = await resultsOf(copy, { samples: [sample], ignoreStatus: ['copies.etag'] }, check);
    expect(ignored.failed).toEqual({});
    const other = await resultsOf(copy, { samples: [sample], ignoreStatus: ['copies.name'] }, check);
    expect(Object.keys(other.failed)).toEqual([check]);
  });

  it('a field that the kind does not have is refused before a check runs', () => {
    const from = (ignoreStatus: string[]) => () => battery(copy, { samples: [sample], ignoreStatus });
    expect(from(['copies.version'])).toThrow('the status of Copy has no field copies.version (there is no version)');
    expect(from([''])).toThrow('the status of Copy has no field ');
    const pods = Pod.controller('pods', { changes: 'any', reconcile: async () => undefined });
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one' } };
    expect(() => battery(pods, { samples: [pod], ignoreStatus: ['phase'] })).toThrow('Pod is not a kind of defineKind');
  });
});

describe('a child that is created once, such as the Job of a schedule', () => {
  const Schedule = defineKind({
    group: 'test.example.com',
    version: 'v1',
    kind: 'Schedule',
    conditions: ['Scheduled'],
    spec: z.object({ image: z.string() }),
    status: z.object({ lastRun: z.string().optional() }),
  });
  const sampleOf = (image: string) => ({
    apiVersion: Schedule.apiVersion,
    kind: 'Schedule',
    metadata: { name: 'one' },
    spec: { image },
  });
  const schedule = (hasRun: (lastRun: string, due: string) => boolean) =>
    Schedule.controller('schedule', {
      owns: [Job],
      async reconcile({ metadata, spec: { image }, status }, { applyAll }): Promise<ResultOf<typeof Schedule>> {
        const due = metadata.creationTimestamp ?? '';
        const name = `${metadata.name}-${Date.parse(due)}`;
        const containers = [{ name: 'main', image }];
        const template = { spec: { automountServiceAccountToken: false, restartPolicy: 'Never', containers } };
        await applyAll(Job, (existing) =>
          hasRun(status?.lastRun ?? '', due) || existing.some((one) => one.metadata.name === name)
            ? existing
            : [...existing, { metadata: { name }, spec: { backoffLimit: 2, template } }],
        );
        return { status: { lastRun: due }, conditions: { Scheduled: ok('Scheduled') } };
      },
    });
  const once = schedule((lastRun, due) => lastRun >= due);
  const samples = [sampleOf('a'), sampleOf('b')];
  const repeated = 'a child that is created once is not created again after its deletion';

  it('a controller that does not write it again passes all checks if createdOnce names its kind', async () => {
    const createdOnce = [Job];
    expect((await resultsOf(once, { samples: samples.slice(0, 1), createdOnce })).failed).toEqual({});
    expect(await resultsOf(once, { samples, createdOnce }, changed)).toEqual({ failed: {}, skipped: {} });
  });

  it('without createdOnce the checks of missed changes and of a changed spec fail, and each message names it', async () => {
    const results = [await resultsOf(once, { samples }, missed), await resultsOf(once, { samples }, changed)];
    const named = expect.stringMatching(/created once.* give the battery .*createdOnce\.$/);
    expect(results.map(({ failed }) => failed)).toEqual([
      // That of the second sample has the words of the first one, and is skipped.
      Object.fromEntries(ofMissedChanges.filter((_, index) => index !== 1).map((name) => [name, named])),
      { [both]: named },
    ]);
  });

  it('a controller that runs it again after its deletion is caught if createdOnce names its kind', async () => {
    const { failed } = await resultsOf(
      schedule(() => false),
      { samples: samples.slice(0, 1), createdOnce: [Job] },
      'a child ',
    );
    expect(failed).toEqual({ [repeated]: expect.stringMatching(/^Job one-\d+ was deleted and is created again/) });
  });
});

it('a finalize that waits for children by a label alone is caught by a deletion that orphans them', async () => {
  const waiting = (isOwn: (uids: readonly string[], uid: string) => boolean) =>
    List.controller('list', {
      owns: [ConfigMap],
      async reconcile({ metadata: { name } }, { apply }): Promise<ResultOf<typeof List>> {
        await apply(ConfigMap, { metadata: { name, labels: { list: name } } });
        return { status: {}, conditions: written };
      },
      async finalize({ metadata: { name, uid } }, { applyAll, list }) {
        await applyAll(ConfigMap, []);
        const owners = (await list(ConfigMap, { list: name })).map(({ metadata }) => metadata.ownerReferences ?? []);
        const isLeft = owners.some((references) =>
          isOwn(
            references.map((one) => one.uid),
            uid,
          ),
        );
        return isLeft ? { requeueAfterSeconds: 5, reason: 'Waiting' } : 'done';
      },
    });
  const check = 'an object that is deleted with --cascade=orphan does not wait for its former children';
  const resultOf = async (...[isOwn]: Parameters<typeof waiting>) =>
    (await resultsOf(waiting(isOwn), { samples: samples.slice(0, 1) }, check)).failed;
  expect(await resultOf((uids, uid) => uids.includes(uid))).toEqual({});
  expect((await resultOf(() => true))[check]).toMatch(
    /^the deleted object stays with outrigger\.dev\/list; .* in finalize wait for children with the owner reference/,
  );
});
