// Several clusters and one set of functions: that a bad cluster harms only itself, and that clusters come and go while everything
// runs. What must hold without a clock; how long the others wait meanwhile is a figure of the bench.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Checker, startChecker } from '../../tools/chaos/checker.ts';
import { createEditor, type Editor, type EditorOptions } from '../../tools/chaos/editor.ts';
import { createSeededRandom } from '../../tools/chaos/random.ts';
import { type Entry, type Fleet, openFleet } from './fleet.ts';
import type { EntryFields, Member } from './member.ts';

const startSeconds = 170;
const caseSeconds = 200;
const seed = 20_261;
const usual: EditorOptions = { objects: 10, pauseMilliseconds: 60 };

/** A cluster with its users and its judge. */
type Place = { readonly member: Member; readonly editor: Editor; readonly judge: Checker };

describe('a fleet', { timeout: caseSeconds * 1000 }, () => {
  const parts = new AsyncDisposableStack();
  let fleet: Fleet;
  let good: Place;
  let fine: Place;
  let bad: Place;
  let slow: Place;
  let fleeting: Place;
  let paused: Place;
  let processes: readonly number[] = [];

  const limit = () => AbortSignal.timeout((caseSeconds - 10) * 1000);
  const found = async (
    name: string,
    {
      watcher,
      users,
      entry,
    }: { watcher?: Readonly<Record<string, string>>; users?: EditorOptions; entry?: EntryFields } = {},
  ): Promise<Place> => {
    const member = await fleet.add(name, watcher, entry);
    const { pantry, sqs, queueUrl, visits: requests } = fleet;
    const judge = await startChecker({ api: member.api, pantry, sqs, queueUrl, requests });
    parts.defer(() => judge.close());
    const random = createSeededRandom(seed + name.length);
    return { member, judge, editor: createEditor({ api: member.api, random }, users ?? usual) };
  };
  /** Objects that have not converged, independent of messages: none, or a change was lost. */
  const unfinished = async (...places: readonly Place[]) =>
    (await Promise.all(places.map(({ judge }) => judge.untilConverged(caseSeconds - 20, { except: '' })))).flat();
  /** Changes in the good clusters, and until they are done. */
  const othersAtWork = async () => {
    await Promise.all([good.editor.edit(12), fine.editor.edit(12)]);
    return await unfinished(good, fine);
  };
  const untilEmpty = async () =>
    await expect.poll(() => fleet.depth('ingredient.fifo'), { timeout: caseSeconds * 1000 }).toBe(0);
  const putOff = (from = 0) =>
    fleet.entries.slice(from).filter(({ cluster, outcome }) => cluster === 'bad' && outcome === 'postponed');

  beforeAll(async () => {
    fleet = parts.use(await openFleet({}, AbortSignal.timeout(startSeconds * 1000)));
    [good, fine, bad] = await Promise.all([found('good'), found('fine'), found('bad')]);
    await Promise.all([good, fine, bad].map(({ editor }) => editor.edit(10)));
    expect(await unfinished(good, fine, bad)).toEqual([]);
  }, startSeconds * 1000);
  afterEach(async () => {
    expect(await fleet.deadLetters()).toEqual([]);
  });
  afterAll(async () => await parts.disposeAsync());

  it('a cluster that enters the table is served by the functions that run', async () => {
    processes = fleet.pids();
    fleeting = await found('fleeting');
    await fleeting.editor.edit(12);
    expect(await unfinished(fleeting)).toEqual([]);
    // Functions may remember for a minute that it was not leaving: meanwhile there are other cases.
    fleeting.member.enter({ decommissioning: true });
  });

  it('a slow cluster harms no other', async () => {
    slow = await found('slow');
    slow.member.inject('slow');
    await slow.editor.edit(20);
    expect(await othersAtWork()).toEqual([]);
    // It stays slow, and its keys are done one after the other: meanwhile there are other cases.
  });

  it('a paused cluster is not reconciled while the others are', async () => {
    paused = await found('resting', { entry: { paused: true } });
    const of = () => fleet.entries.filter(({ cluster, outcome }) => cluster === 'resting' && outcome !== undefined);
    const postponed = fleet.untilEntry((entry) => of().includes(entry), limit());
    await paused.editor.edit(12);
    await postponed;
    expect(await othersAtWork()).toEqual([]);
    expect(new Set(of().map(({ outcome, reason }) => `${outcome} ${reason}`))).toEqual(new Set(['postponed paused']));
    // Functions may remember for a minute that it is paused, and its keys wait: meanwhile there are other cases.
    paused.member.enter();
  });

  it('an unreachable cluster harms no other: its keys are postponed, most of them without a call, and none is lost', async () => {
    const from = fleet.entries.length;
    bad.member.faultCount();
    bad.member.inject('down');
    const untried = fleet.untilEntry(isUntried, limit());
    let known = false;
    void untried.then(() => {
      known = true;
    });
    while (!known) await bad.editor.edit(5);
    expect(await othersAtWork()).toEqual([]);
    bad.member.heal();
    expect(await unfinished(bad)).toEqual([]);
    const calls = bad.member.faultCount();
    const tried = putOff(from).filter((entry) => !isUntried(entry));
    expect(putOff(from).length).toBeGreaterThan(tried.length);
    // One call each; a connection that was open before is retried once.
    expect(calls).toBeGreaterThanOrEqual(tried.length);
    expect(calls).toBeLessThanOrEqual(2 * tried.length);
  });

  it('a cluster whose token has expired harms no other, and is served again as soon as the table has a new one', async () => {
    const from = fleet.entries.length;
    bad.member.inject('expired');
    await bad.editor.edit(20);
    await fleet.untilEntry((entry) => putOff(from).includes(entry), limit());
    expect(await othersAtWork()).toEqual([]);
    bad.member.heal();
    expect(await unfinished(bad)).toEqual([]);
  });

  it('a burst in one cluster harms no other: the rate limit bounds its messages, and none is lost', async () => {
    const pace = { perSecond: 5, burst: 10 };
    const flooding = await found('flooding', {
      watcher: { RATE_LIMIT_PER_SECOND: `${pace.perSecond}`, RATE_LIMIT_BURST: `${pace.burst}` },
      users: { objects: 60, users: 6, pauseMilliseconds: 1 },
    });
    const began = performance.now();
    let changes = 0;
    let over = false;
    const flood = (async () => {
      while (!over || changes < 600) {
        await flooding.editor.edit(60);
        changes += flooding.editor.takeChangeCount();
      }
    })();
    expect(await othersAtWork()).toEqual([]);
    over = true;
    await flood;
    expect(await unfinished(flooding)).toEqual([]);
    const seconds = (performance.now() - began) / 1000;
    const ofFlood = fleet.entries.filter(({ cluster, cause }) => cluster === 'flooding' && cause === 'change');
    const messages = new Set(ofFlood.map(({ messageId }) => messageId));
    expect(messages.size).toBeGreaterThan(pace.burst);
    // The first message of a new object gives it its finalizer, and is followed by one of the function's own.
    expect(messages.size).toBeLessThanOrEqual(2 * (pace.burst + pace.perSecond * seconds));
  });

  it('a slow cluster converges while it is slow', async () => {
    expect(await unfinished(slow)).toEqual([]);
    expect(slow.member.faultCount()).toBeGreaterThan(0);
    slow.member.heal();
  });

  it('a cluster that is being decommissioned delays no other: its messages are deleted and counted, and none is a dead letter', async () => {
    const counted = fleet.untilEntry(
      ({ DecommissioningClusterMessages }) => Number(DecommissioningClusterMessages) > 0,
      limit(),
    );
    let known = false;
    void counted.then(() => {
      known = true;
    });
    while (!known) await fleeting.editor.edit(1);
    await counted;
    await fleeting.editor.edit(12);
    await fleeting.member.stopWatcher();
    await untilEmpty();
    fleeting.member.leave();

    expect(await othersAtWork()).toEqual([]);
    await untilEmpty();
    // No function was restarted for a cluster that came or went.
    expect(fleet.pids()).toEqual(expect.arrayContaining([...processes]));
  });

  it('a paused cluster has lost no key: it converges after it was resumed', async () => {
    expect(await unfinished(paused)).toEqual([]);
  });
});

/** Tells whether a function put a key off because it knew already that its cluster cannot be reached. */
function isUntried({ error }: Entry): boolean {
  return typeof error === 'string' && error.startsWith('cluster not called: its circuit breaker is open');
}
