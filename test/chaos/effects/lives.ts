// X6 by SIGKILL: an object is created, changed and deleted, and each time its controller's process dies right after its n-th effect, for
// every n that a life without deaths has. What is then in the cluster and outside must be what it is after a life without deaths.
import { ownersOfPort } from '../owner-of-port.ts';
import { createPlainSqs, type PlainSqs } from '../plain-sqs.ts';
import { until } from '../until.ts';
import type { Effect } from './gate.ts';
import { isWell, openNamespace, type PlainNamespace, type State } from './plain-namespace.ts';
import type { Subject } from './subjects.ts';
import type { WholeSystem } from './whole-system.ts';

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
type Life = {
  readonly effects: readonly (readonly string[])[];
  readonly deaths: number;
  readonly moments: readonly Moment[];
};

const steps = ['created', 'changed', 'deleted'] as const;
/** Generous: a machine under load is slow, and a loss does not mend itself. */
const settleSeconds = 150;

/** Lives a subject's life without deaths, and then one for each effect of it. */
export async function liveAll(
  system: WholeSystem,
  subject: Subject,
  { onLine = () => undefined }: { readonly onLine?: (line: string) => void } = {},
): Promise<Lives> {
  const namespace = await openNamespace(system.direct.api, `effects-${subject.controller}`);
  const sqs = createPlainSqs(system.direct.sqs);
  try {
    for (const plain of subject.beside) await namespace.create(plain);
    const calm = await live({ system, subject, namespace, sqs }, Number.POSITIVE_INFINITY);
    onLine(
      `${subject.controller}: ${calm.effects.map((all, index) => `${steps[index]}: ${all.join(', ')}`).join('; ')}`,
    );
    const most = Math.max(...calm.effects.map(({ length }) => length));
    const wrong: string[] = [];
    let deaths = 0;
    for (let after = 1; after <= most; after += 1) {
      const life = await live({ system, subject, namespace, sqs }, after);
      deaths += life.deaths;
      const about = `${subject.controller}, dead after effect ${after}`;
      wrong.push(...differences(calm, life).map((line) => `${about}: ${line}`));
      onLine(`${about}: ${life.deaths} deaths`);
    }
    const letters = await sqs.count(system.queueUrl(`${subject.controller}-dlq.fifo`));
    if (letters > 0) wrong.push(`${subject.controller}: ${letters} dead letters`);
    return { effects: calm.effects, deaths, changes: (most + 1) * steps.length, wrong };
  } finally {
    sqs.close();
    namespace.close();
  }
}

type Scene = {
  readonly system: WholeSystem;
  readonly subject: Subject;
  readonly namespace: PlainNamespace;
  readonly sqs: PlainSqs;
};

async function live({ system, subject, namespace, sqs }: Scene, after: number): Promise<Life> {
  const { object, controller, change, outside, counted = () => 0 } = subject;
  const countedBefore = counted(system.worlds);
  const effects: (readonly string[])[] = [];
  const moments: Moment[] = [];
  let deaths = 0;
  let uid = '';
  for (const step of steps) {
    const armed = arm(system, controller, after);
    if (step === 'created') uid = (await namespace.create(object)).metadata.uid;
    if (step === 'changed') await namespace.change(object, change);
    if (step === 'deleted') await namespace.delete(object);
    const state = await settle({ system, subject, namespace, sqs }, step);
    armed.disarm();
    effects.push(armed.effects());
    deaths += armed.deaths();
    moments.push({
      state,
      outside: outside?.(system.worlds, { namespace: namespace.name, uid }),
      counted: counted(system.worlds) - countedBefore,
    });
  }
  return { effects, deaths, moments };
}

/** Kills the process of a controller that has just had its n-th effect from now on. */
function arm({ onEffect, pids }: WholeSystem, controller: string, after: number) {
  const effects: string[] = [];
  let deaths = 0;
  const disarm = onEffect((effect) => {
    if (onlyReads(effect)) return;
    const owners = ownersOfPort(effect.port, pids(controller));
    if (owners.length === 0) return;
    effects.push(nameOf(effect));
    if (effects.length !== after) return;
    for (const pid of owners) process.kill(pid, 'SIGKILL');
    deaths += owners.length;
  });
  return { disarm, effects: () => effects, deaths: () => deaths };
}

/** Resolves with the state, when it is what was asked for, nothing is under way, and it has stayed so for a moment. */
async function settle({ system, subject, namespace, sqs }: Scene, step: (typeof steps)[number]): Promise<State> {
  const queue = system.queueUrl(`${subject.controller}.fifo`);
  let last = '';
  let state: State = {};
  await until(
    async () => {
      const found = await namespace.read(subject.object);
      const isThere = step === 'deleted' ? found === undefined : found !== undefined && isWell(found);
      if (!isThere || (await sqs.count(queue)) > 0) return false;
      state = await namespace.state();
      if (step === 'deleted' && Object.keys(state).length > 0) return false;
      const before = last;
      last = JSON.stringify(state);
      return before === last;
    },
    settleSeconds,
    `${subject.controller}: not settled, ${step}`,
  ).catch(async (error: unknown) => {
    throw new Error(`${String(error)}: ${JSON.stringify(await namespace.read(subject.object))}`);
  });
  return state;
}

function differences(calm: Life, life: Life): readonly string[] {
  return steps.flatMap((step, index) => {
    const [expected, found] = [calm.moments[index], life.moments[index]];
    if (expected === undefined || found === undefined) return [`${step}: nothing to compare`];
    const names = [...new Set([...Object.keys(expected.state), ...Object.keys(found.state)])];
    const objects = names.map((name) => [name, expected.state[name], found.state[name]] as const);
    const all = [
      ...objects,
      ['outside', expected.outside, found.outside] as const,
      ['effects outside', expected.counted, found.counted] as const,
    ];
    return all
      .map(([name, one, other]) => [name, JSON.stringify(one), JSON.stringify(other)] as const)
      .filter(([, one, other]) => one !== other)
      .map(([name, one, other]) => `${step}: ${name}: ${other} instead of ${one}`);
  });
}

/** A command in a pod asks or tells; only the node's list of others is ever changed. */
function onlyReads({ url }: Effect): boolean {
  return url.includes('/exec?') && !url.includes('command=addnode');
}

function nameOf({ method, url, target }: Effect): string {
  if (target !== '') return target;
  const path = url.replace(/\?.*$/, '').replace(/^.*\/namespaces\/[^/]+\//, '');
  return url.includes('/exec?') ? 'addnode' : `${method} ${path}`;
}
