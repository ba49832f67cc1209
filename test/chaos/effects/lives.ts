// X6 by SIGKILL: an object is created, changed and deleted, and each time its function's process dies right after its n-th effect, for
// every n that a life without deaths has. What is then in the cluster and outside must be what it is after a life without deaths.
import { setTimeout as wait } from 'node:timers/promises';
import { ownersOfPort } from '../../../tools/chaos/owner-of-port.ts';
import { createPlainSqs, type PlainSqs } from '../../../tools/chaos/plain-sqs.ts';
import type { Effect } from '../../../tools/chaos/effects/effect-proxy.ts';
import { isWell, openNamespace, type PlainNamespace, type State } from '../../../tools/chaos/effects/plain-namespace.ts';
import type { Subject } from '../../../tools/chaos/effects/subjects.ts';
import type { WholeSystem } from '../../../tools/chaos/effects/whole-system.ts';

/** What came of all lives of one subject. */
export type Lives = {
  /** The effects of the life without deaths: those of its creation, of its change, of its deletion. */
  readonly effects: readonly (readonly string[])[];
  readonly deaths: number;
  /** Changes that were asked for. */
  readonly changes: number;
  /** What differed from the life without deaths, one line each. */
  readonly wrong: readonly string[];
};

/** What there is after each of the three steps of a life. */
type Moment = { readonly state: State; readonly outside: unknown; readonly counted: number };
type Life = Omit<Lives, 'changes'> & { readonly moments: readonly Moment[] };

const steps = ['created', 'changed', 'deleted'] as const;
/** Generous: a machine under load is slow, and a loss does not mend itself. */
const settleSeconds = 300;
const lookMilliseconds = 400;
/** Longer than a change of one object takes to reach what follows from it. */
const stillMilliseconds = 3_000;

/**
 * Lives a subject's life without deaths, and then one for each effect of it, in which its function dies by that effect if it comes to it.
 * @param options `beside`: controllers that it sets to work, too
 */
export async function liveAll(
  system: WholeSystem,
  subject: Subject,
  {
    beside = [],
    onLine = () => undefined,
  }: { readonly beside?: readonly string[]; readonly onLine?: (line: string) => void } = {},
): Promise<Lives> {
  const { controller, dies = controller } = subject;
  const namespace = await openNamespace(system.direct.api, `effects-${dies}`);
  const sqs = createPlainSqs(system.direct.sqs);
  const queueUrls = [controller, ...beside].map((one) => system.queueUrl(`${one}.fifo`));
  const scene = { system, subject, namespace, sqs, queueUrls };
  try {
    for (const plain of subject.beside) await namespace.create(plain);
    // The first life meets functions that start and neighbours that are not there yet; no other is like it.
    await live(scene, Number.POSITIVE_INFINITY);
    const calm = await live(scene, Number.POSITIVE_INFINITY);
    onLine(`${dies}: ${calm.effects.map((all, index) => `${steps[index]}: ${all.join(', ')}`).join('; ')}`);
    const most = Math.max(...calm.effects.map(({ length }) => length));
    const wrong: string[] = [];
    let deaths = 0;
    for (let after = 1; after <= most; after += 1) {
      const life = await live(scene, after, calm);
      deaths += life.deaths;
      const about = `${dies}, dead after effect ${after}`;
      wrong.push(...life.wrong.map((line) => `${about}: ${line}`));
      const due = calm.effects.filter((effects) => kindsOf(effects) >= after).length;
      if (life.deaths < due) wrong.push(`${about}: ${life.deaths} deaths instead of ${due}`);
      onLine(`${about}: ${life.deaths} deaths`);
    }
    const letters = await sqs.count(system.queueUrl(`${controller}-dlq.fifo`));
    if (letters > 0) wrong.push(`${controller}: ${letters} dead letters`);
    return { effects: calm.effects, deaths, changes: (most + 2) * steps.length, wrong };
  } finally {
    sqs.close();
    namespace.close();
  }
}

/**
 * How many effects a step has at least: how often one is repeated depends on who is slow, as what becomes ready bit by bit is told bit by
 * bit, but each kind of effect is there. Two children of one kind count once. Messages are deleted early in a slow run only.
 */
function kindsOf(effects: readonly string[]): number {
  const certain = effects.filter((name) => name !== 'DeleteMessageBatch');
  const kinds = certain.map((name) => {
    const [collection = '', , subresource = ''] = name.split('/');
    return `${collection} ${subresource}`;
  });
  return new Set(kinds).size;
}

type Scene = {
  readonly system: WholeSystem;
  readonly subject: Subject;
  readonly namespace: PlainNamespace;
  readonly sqs: PlainSqs;
  readonly queueUrls: readonly string[];
};

/** Lives once, up to where `calm` was at the same points; without it, until nothing changes any more. */
async function live(scene: Scene, after: number, calm?: Life): Promise<Life> {
  const { system, subject, namespace } = scene;
  const { object, controller, dies = controller, change, counted = () => 0 } = subject;
  const countedBefore = counted(system.worlds);
  const effects: (readonly string[])[] = [];
  const moments: Moment[] = [];
  const wrong: string[] = [];
  let deaths = 0;
  let uid = '';
  for (const [index, step] of steps.entries()) {
    const armed = arm(system, dies, after);
    if (step === 'created') uid = (await namespace.create(object)).metadata.uid;
    if (step === 'changed') await namespace.change(object, change);
    if (step === 'deleted') await namespace.delete(object);
    const settled = await settle(scene, { step, uid, countedBefore }, calm?.moments[index]);
    armed.disarm();
    effects.push(armed.effects());
    deaths += armed.deaths();
    moments.push(settled.moment);
    wrong.push(...settled.wrong.map((line) => `${step}: ${line}`));
  }
  return { effects, deaths, moments, wrong };
}

/** Kills the process of a function that has just had its n-th effect from now on. */
function arm({ onEffect, pids }: WholeSystem, name: string, after: number) {
  const effects: string[] = [];
  let deaths = 0;
  const disarm = onEffect((effect) => {
    if (onlyReads(effect)) return;
    const owners = ownersOfPort(effect.port, pids(name));
    if (owners.length === 0) return;
    effects.push(nameOf(effect));
    if (effects.length !== after) return;
    for (const pid of owners) process.kill(pid, 'SIGKILL');
    deaths += owners.length;
  });
  return { disarm, effects: () => effects, deaths: () => deaths };
}

type Where = { readonly step: (typeof steps)[number]; readonly uid: string; readonly countedBefore: number };

/**
 * Resolves when nothing is under way and all is as expected, or what is not so for long; without an expectation, when the object is
 * well and nothing has changed for a while. Throws when it never is.
 */
async function settle(
  { system, subject, namespace, sqs, queueUrls }: Scene,
  { step, uid, countedBefore }: Where,
  expected: Moment | undefined,
): Promise<{ readonly moment: Moment; readonly wrong: readonly string[] }> {
  const { object, outside, counted = () => 0 } = subject;
  const giveUpAt = performance.now() + settleSeconds * 1000;
  let last = { text: '', since: 0 };
  for (;;) {
    const found = await namespace.read(object);
    const isThere = step === 'deleted' ? found === undefined : found !== undefined && isWell(found);
    const counts = await Promise.all(queueUrls.map((url) => sqs.count(url)));
    const isQuiet = isThere && counts.every((count) => count === 0);
    const isLate = performance.now() > giveUpAt;
    // Reading everything costs more than all the rest.
    if (isQuiet || (isLate && isThere)) {
      const moment: Moment = {
        state: await namespace.state(),
        outside: outside?.(system.worlds, { namespace: namespace.name, uid, spec: found?.spec }),
        counted: counted(system.worlds) - countedBefore,
      };
      const wrong = expected === undefined ? [] : differences(expected, moment);
      const waiting = isQuiet ? [] : [`${counts} messages wait`];
      if (isLate && expected !== undefined) return { moment, wrong: [...wrong, ...waiting] };
      const text = JSON.stringify(moment);
      if (text !== last.text) last = { text, since: performance.now() };
      const isStill = expected !== undefined || performance.now() - last.since > stillMilliseconds;
      if (isStill && wrong.length === 0) return { moment, wrong };
    }
    if (isLate) throw new Error(`${subject.controller}: not settled, ${step}: ${JSON.stringify(found)}`);
    await wait(lookMilliseconds);
  }
}

function differences(expected: Moment, found: Moment): readonly string[] {
  const names = [...new Set([...Object.keys(expected.state), ...Object.keys(found.state)])];
  const all = [
    ...names.map((name) => [name, expected.state[name], found.state[name]] as const),
    ['outside', expected.outside, found.outside] as const,
    ['effects outside', expected.counted, found.counted] as const,
  ];
  return all
    .map(([name, one, other]) => [name, JSON.stringify(one), JSON.stringify(other)] as const)
    .filter(([, one, other]) => one !== other)
    .map(([name, one, other]) => `${name}: ${other} instead of ${one}`);
}

/** A command in a pod asks or tells; only the node's list of others is ever changed. */
function onlyReads({ url }: Effect): boolean {
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
