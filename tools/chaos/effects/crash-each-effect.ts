// X6 with SIGKILL: an object is created, changed and deleted, and each time the process of its function is killed right
// after its n-th effect, for every n of a run without kills. The state of the cluster and of external systems must then
// equal that of a run without kills.
import { setTimeout as wait } from 'node:timers/promises';
import { ownersOfPort } from '../owner-of-port.ts';
import { createPlainSqs, type PlainSqs } from '../plain-sqs.ts';
import type { Effect } from './effect-proxy.ts';
import { isHealthy, openNamespace, type PlainNamespace, type State } from './plain-namespace.ts';
import type { Subject } from './subjects.ts';
import type { WholeSystem } from './whole-system.ts';

/** The result of all runs of one subject. */
export type CrashResult = {
  /** The effects of the run without kills: those of the creation, of the change and of the deletion. */
  readonly effects: readonly (readonly string[])[];
  readonly kills: number;
  /** The number of changes that were made. */
  readonly changes: number;
  /** The differences from the run without kills, one line each. */
  readonly differences: readonly string[];
};

/** The state after each of the three steps of a run. */
type Snapshot = { readonly state: State; readonly externalState: unknown; readonly externalEffects: number };
type CrashRun = Omit<CrashResult, 'changes'> & { readonly snapshots: readonly Snapshot[] };

const steps = ['created', 'changed', 'deleted'] as const;
/** Generous, because a machine under load is slow and a lost change never converges. */
const quiesceSeconds = 300;
const pollMilliseconds = 400;
/** Longer than the time between a change of one object and its last effect. */
const unchangedMilliseconds = 3_000;

/**
 * Runs a subject once without kills, and then once for each effect: in that run its function is killed after this
 * effect, if the effect occurs.
 * @param options `otherControllers`: further controllers that react to the subject
 */
export async function crashAfterEachEffect(
  system: WholeSystem,
  subject: Subject,
  {
    otherControllers = [],
    onLine = () => undefined,
  }: { readonly otherControllers?: readonly string[]; readonly onLine?: (line: string) => void } = {},
): Promise<CrashResult> {
  const { controller, killed = controller } = subject;
  const namespace = await openNamespace(system.direct.api, `effects-${killed}`);
  const sqs = createPlainSqs(system.direct.sqs);
  const queueUrls = [controller, ...otherControllers].map((one) => system.queueUrl(`${one}.fifo`));
  const context = { system, subject, namespace, sqs, queueUrls };
  try {
    for (const prerequisite of subject.prerequisites) await namespace.create(prerequisite);
    // The first run starts functions and has no earlier objects next to it, so it differs from every other.
    const first = await runOnce(context, Number.POSITIVE_INFINITY);
    const baseline = await runOnce(context, Number.POSITIVE_INFINITY);
    onLine(`${killed}: ${baseline.effects.map((all, index) => `${steps[index]}: ${all.join(', ')}`).join('; ')}`);
    const maxEffects = Math.max(...baseline.effects.map(({ length }) => length));
    const differences: string[] = [];
    let kills = 0;
    for (let after = 1; after <= maxEffects; after += 1) {
      const run = await runOnce(context, after, baseline);
      kills += run.kills;
      const title = `${killed}, killed after effect ${after}`;
      differences.push(...run.differences.map((line) => `${title}: ${line}`));
      // A requeue may be due in a step of one run and not in that of another.
      const isCertain = (_: unknown, step: number) =>
        [first, baseline].every(({ effects }) => kindsOf(effects[step] ?? []) >= after);
      const expectedKills = baseline.effects.filter(isCertain).length;
      if (run.kills < expectedKills) differences.push(`${title}: ${run.kills} kills instead of ${expectedKills}`);
      onLine(`${title}: ${run.kills} kills`);
    }
    const deadLetters = await sqs.count(system.queueUrl(`${controller}-dlq.fifo`));
    if (deadLetters > 0) differences.push(`${controller}: ${deadLetters} dead letters`);
    return { effects: baseline.effects, kills, changes: (maxEffects + 2) * steps.length, differences };
  } finally {
    sqs.close();
    namespace.close();
  }
}

/**
 * Returns the least number of effects of a step. How often an effect is repeated depends on timing, because readiness
 * is reported in several steps, but each kind of effect occurs. Two children of one kind count once. Messages are
 * deleted early only in a slow run.
 */
function kindsOf(effects: readonly string[]): number {
  const guaranteed = effects.filter((name) => name !== 'DeleteMessageBatch');
  const kinds = guaranteed.map((name) => {
    const [collection = '', , subresource = ''] = name.split('/');
    return `${collection} ${subresource}`;
  });
  return new Set(kinds).size;
}

type RunContext = {
  readonly system: WholeSystem;
  readonly subject: Subject;
  readonly namespace: PlainNamespace;
  readonly sqs: PlainSqs;
  readonly queueUrls: readonly string[];
};

/**
 * Runs the three steps once. With `baseline`, each step ends when the state equals that of the baseline; without it,
 * when nothing changes any more.
 */
async function runOnce(context: RunContext, after: number, baseline?: CrashRun): Promise<CrashRun> {
  const { system, subject, namespace } = context;
  const { object, controller, killed = controller, change, countEffects = () => 0 } = subject;
  const effectsBefore = countEffects(system.simulators);
  const effects: (readonly string[])[] = [];
  const snapshots: Snapshot[] = [];
  const differences: string[] = [];
  let kills = 0;
  let uid = '';
  for (const [index, step] of steps.entries()) {
    const killer = killAfterEffect(system, killed, after);
    if (step === 'created') uid = (await namespace.create(object)).metadata.uid;
    if (step === 'changed') await namespace.change(object, change);
    if (step === 'deleted') await namespace.delete(object);
    const end = await untilQuiet(context, { step, uid, effectsBefore }, baseline?.snapshots[index]);
    killer.stop();
    effects.push(killer.effects());
    kills += killer.kills();
    snapshots.push(end.snapshot);
    differences.push(...end.differences.map((line) => `${step}: ${line}`));
  }
  return { effects, kills, snapshots, differences };
}

/** Kills the process of a function right after its n-th effect from now on. */
function killAfterEffect({ onEffect, pids }: WholeSystem, name: string, after: number) {
  const effects: string[] = [];
  let kills = 0;
  const stop = onEffect((effect) => {
    if (isRead(effect)) return;
    const owners = ownersOfPort(effect.port, pids(name));
    if (owners.length === 0) return;
    effects.push(nameOf(effect));
    if (effects.length !== after) return;
    for (const pid of owners) process.kill(pid, 'SIGKILL');
    kills += owners.length;
  });
  return { stop, effects: () => effects, kills: () => kills };
}

type StepInput = { readonly step: (typeof steps)[number]; readonly uid: string; readonly effectsBefore: number };

/**
 * Resolves when no message is left and the state is as expected, or with the differences after a deadline. Without an
 * expected state it resolves when the object is healthy and nothing has changed for a while. Throws if that does not
 * happen in time.
 */
async function untilQuiet(
  { system, subject, namespace, sqs, queueUrls }: RunContext,
  { step, uid, effectsBefore }: StepInput,
  expected: Snapshot | undefined,
): Promise<{ readonly snapshot: Snapshot; readonly differences: readonly string[] }> {
  const { object, externalState, countEffects = () => 0 } = subject;
  const deadline = performance.now() + quiesceSeconds * 1000;
  let last = { text: '', since: 0 };
  for (;;) {
    const found = await namespace.read(object);
    const isReached = step === 'deleted' ? found === undefined : found !== undefined && isHealthy(found);
    const counts = await Promise.all(queueUrls.map((url) => sqs.count(url)));
    const areQueuesEmpty = isReached && counts.every((count) => count === 0);
    const isLate = performance.now() > deadline;
    // Reading the whole state costs more than everything else here.
    if (areQueuesEmpty || (isLate && isReached)) {
      const snapshot: Snapshot = {
        state: await namespace.state(),
        externalState: externalState?.(system.simulators, { namespace: namespace.name, uid, spec: found?.spec }),
        externalEffects: countEffects(system.simulators) - effectsBefore,
      };
      const differences = expected === undefined ? [] : compare(expected, snapshot);
      const waiting = areQueuesEmpty ? [] : [`${counts} messages are on the queues`];
      if (isLate && expected !== undefined) return { snapshot, differences: [...differences, ...waiting] };
      const text = JSON.stringify(snapshot);
      if (text !== last.text) last = { text, since: performance.now() };
      const isStable = expected !== undefined || performance.now() - last.since > unchangedMilliseconds;
      if (isStable && differences.length === 0) return { snapshot, differences };
    }
    if (isLate) throw new Error(`${subject.controller}: not converged, ${step}: ${JSON.stringify(found)}`);
    await wait(pollMilliseconds);
  }
}

function compare(expected: Snapshot, found: Snapshot): readonly string[] {
  const names = [...new Set([...Object.keys(expected.state), ...Object.keys(found.state)])];
  const all = [
    ...names.map((name) => [name, expected.state[name], found.state[name]] as const),
    ['external state', expected.externalState, found.externalState] as const,
    ['external effects', expected.externalEffects, found.externalEffects] as const,
  ];
  return all
    .map(([name, one, other]) => [name, JSON.stringify(one), JSON.stringify(other)] as const)
    .filter(([, one, other]) => one !== other)
    .map(([name, one, other]) => `${name}: ${other} instead of ${one}`);
}

/** A command in a pod reads or writes; only `addnode` changes anything. */
function isRead({ url }: Effect): boolean {
  return url.includes('/exec?') && !url.includes('command=addnode');
}

function nameOf({ method, url, target }: Effect): string {
  if (target !== '') return target;
  const path = url
    .replace(/\?.*$/, '')
    .replace(/^.*\/namespaces\/[^/]+\//, '')
    .replace(/[0-9a-f-]{36}/, 'UID');
  return url.includes('/exec?') ? 'addnode' : `${method} ${path}`;
}
