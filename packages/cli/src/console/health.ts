// The health of each part of a system and of each object, judged here alone. The console, `outrigger status`, `doctor`
// and `explain` show it. Pure.
//
// Guarantees: what cannot be read is `not known`, and never good. A state lasts until something shows another one: it
// does not end because some seconds have passed.
import { reasons } from 'outrigger/internal/api/conditions';
import type { WatcherStatus } from 'outrigger/internal/checkpoint/watcher-status';
import { parseJson } from 'outrigger/internal/core/json';
import { pausedAnnotation, resyncQueue } from 'outrigger/internal/core/names';
import { redact } from 'outrigger/internal/core/redact';
import type { KubeObject } from 'outrigger/internal/kube/client/object';
import * as z from 'zod';
import { objectReadiness } from '../dev/readiness.ts';
import { type ControllerTimes, RunTimes, type TimedRun } from './run-times.ts';
import {
  type Health,
  type ObjectState,
  objectTones,
  type PartState,
  partTones,
  type ResyncRun,
  type Tone,
} from './wire.ts';

const order = Object.keys(partTones);

/** Makes the health of a part. `since` is in milliseconds since 1970. */
export function healthOf(state: PartState, text?: string, since?: number): Health {
  const about = text === undefined ? {} : { text: redact(text) };
  return { state, tone: partTones[state], ...about, ...(since === undefined ? {} : { since }) };
}

/** What is known of the watchers of a cluster, as `outrigger status --json` has it. */
export type WatcherFacts = {
  /** The time since its watchers received an event of every kind. */
  readonly lastSeenSeconds?: number | undefined;
  /** For how long a watch of theirs fails. Its changes come late. */
  readonly reconnectingSeconds?: number | undefined;
  /** The reason why its watchers count as down. */
  readonly watcherDown?: string;
  /** Whether they have not started yet in a new cluster. */
  readonly watcherStarting?: true;
  /** The reason why it is not known whether they are down. */
  readonly watcherUnknown?: string | undefined;
};

/** Returns the facts of a status that was read from the watch checkpoint. */
export function watcherFacts({ lastSeenSeconds, reconnectingSeconds, down, unknown }: WatcherStatus): WatcherFacts {
  return {
    lastSeenSeconds,
    reconnectingSeconds,
    ...(down === undefined ? {} : { watcherDown: down.reason }),
    ...(down?.level === 'info' ? { watcherStarting: true } : {}),
    watcherUnknown: unknown,
  };
}

/**
 * A working watcher looks at most two minutes old (watcher-status.ts). From then on it may have ended, which counts as
 * down after five minutes; meanwhile nothing says that all is well.
 */
const silentAfterSeconds = 150;

/** Judges the watchers of a cluster. `whose` begins the text. */
export function watcherHealth(
  { lastSeenSeconds, reconnectingSeconds, watcherDown, watcherStarting, watcherUnknown }: WatcherFacts,
  whose = 'its watchers',
): Health {
  if (watcherStarting === true) return healthOf('starting', watcherDown);
  if (watcherDown !== undefined) return healthOf('down', `${whose} are down: ${watcherDown}`);
  if (watcherUnknown !== undefined)
    return healthOf('not known', `the status of ${whose} is unknown: ${watcherUnknown}`);
  if (lastSeenSeconds === undefined) return healthOf('not known', `the status of ${whose} was not read`);
  if (reconnectingSeconds !== undefined)
    return healthOf('reconnecting', `${whose} reconnect: a watch fails for ${reconnectingSeconds} s`);
  if (lastSeenSeconds > silentAfterSeconds)
    return healthOf('silent', `${whose} are silent: no event for ${lastSeenSeconds} s`);
  return healthOf('working', `last seen ${lastSeenSeconds} s ago`);
}

/** What is known of a cluster. `problem`: why it cannot be read. */
export type ClusterFacts = WatcherFacts & {
  readonly decommissioning?: boolean;
  readonly paused?: boolean | undefined;
  readonly problem?: string | undefined;
};

/** Judges a cluster: its API server, its watchers, and what an operator has decided. */
export function clusterHealth(facts: ClusterFacts): Health {
  if (facts.decommissioning === true) return healthOf('decommissioning');
  if (facts.problem !== undefined) return healthOf('unreachable', facts.problem);
  const watchers = watcherHealth(facts);
  return facts.paused === true && watchers.tone === 'good' ? healthOf('paused', watchers.text) : watchers;
}

/** Judges the queues of a controller. `problem`: why they cannot be read. */
export function queueHealth(problem: string | undefined): Health {
  return problem === undefined ? healthOf('working') : healthOf('unreachable', problem);
}

/** Judges a function together with its queue: one whose queue cannot be read may receive nothing. */
export function whetherReceiving(health: Health, isQueueRead: boolean): Health {
  return isQueueRead || health.state !== 'working' ? health : healthOf('not known', 'its queue cannot be read');
}

/** Says what is wrong with a function. */
export function functionText({ state, text = '' }: Health): string {
  const verb =
    state === 'cannot load'
      ? 'cannot be loaded'
      : state === 'unreachable'
        ? 'does not reach its cluster'
        : `is ${state}`;
  return `its function ${verb}${text === '' ? '' : `: ${text}`}`;
}

/** How a run of a function has ended for one object, as its line in the log says. */
export type RunEnd = {
  readonly outcome: string;
  readonly reason?: string | undefined;
  readonly error?: string | undefined;
};

/** Why an object is postponed, as far as that is a trouble of a part. The other reasons are waits. */
const postponed: Readonly<Record<string, PartState>> = {
  unreachable: 'unreachable',
  slow: 'slow',
  undeclared: 'refused',
  'unknown-cluster': 'refused',
  'other-cluster': 'refused',
};
const failures: readonly string[] = ['failed', 'terminal'];

/** Judges the end of a run; undefined if nothing is wrong. */
function troubleOf({ outcome, reason = '' }: RunEnd): PartState | undefined {
  if (outcome === 'refused') return 'refused';
  return failures.includes(outcome) ? 'failing' : outcome === 'postponed' ? postponed[reason] : undefined;
}

/** Says that runs are not shown, and why. */
export const hiddenNote = (hidden: string) => `Not each run is known: ${hidden}`;

/** What to do about a function that Lambda refuses to run. */
export const throttledPage = 'docs/alarms/function-throttled.md';
const throttledRemedy = `and its messages wait: raise the quota, or reserve concurrency (${throttledPage})`;

type Trouble = { readonly state: PartState; readonly text: string; readonly since: number; readonly at: number };

/** What the log shows of a function, however many runs are not in it. */
const certain: readonly PartState[] = ['cannot load', 'crashing', 'throttled', 'not known', 'paused'];

/** What the log of the functions says of them: the last run of each object that did not succeed. */
export class FunctionTroubles {
  readonly #times = new RunTimes();
  readonly #all = new Map<string, Map<string, Trouble>>();
  readonly #unread = new Map<string, string>();
  readonly #throttles = new Map<string, number | Error>();
  /** The lists of the last two runs of the resync. */
  #runs: readonly ResyncLists[] = [];
  #hidden: string | undefined;

  /** Why the logs do not show each run; undefined if they do. */
  get hidden(): string | undefined {
    return this.#hidden;
  }

  setHidden(reason: string | undefined): void {
    this.#hidden = reason;
  }

  /** Returns how long the runs of a function took; undefined if none is known, or if its log does not show each. */
  timesOf(name: string): ControllerTimes | undefined {
    return this.#hidden === undefined ? this.#times.of(name) : undefined;
  }

  /**
   * The last run of the resync that listed one controller, or any; undefined if none was read, or not now. It is the
   * former one until the last one has come to every such list of it.
   */
  resync(controller?: string): ResyncRun | undefined {
    const isAsked = (id: string) => controller === undefined || id.startsWith(`${controller} `);
    const runs = this.#runs.map(({ run, lists }) => ({ run, lists: [...lists].filter(([id]) => isAsked(id)) }));
    const [former, latest = former] = runs.filter(({ lists }) => lists.length > 0);
    const isUnread = this.#hidden !== undefined || this.#unread.has(resyncQueue);
    if (former === undefined || latest === undefined || isUnread) return undefined;
    const isComplete = former.lists.every(([id]) => latest.lists.some(([one]) => one === id));
    const { run, lists } = isComplete ? latest : former;
    const all = lists.map(([, one]) => one);
    const missed = all.reduce((sum, one) => sum + (one.missed || 0) + (one.failed || 0), 0);
    const unknown = all.filter((one) => Number.isNaN(one.missed) || one.failed !== undefined).length;
    return { run, missed, ...(unknown === 0 ? {} : { unknown }) };
  }

  /** Adds a line of a function's log. Returns whether it is about a run or a crash. */
  add(text: string, source: string, at: number): boolean {
    const end = readEnd(text);
    if (end === undefined) {
      this.#addList(text);
      return false;
    }
    const controller = end.key?.split(':')[0] ?? end.function ?? source;
    const id = end.key?.slice(controller.length + 1) ?? '';
    const own = this.#all.get(controller) ?? new Map<string, Trouble>();
    this.#all.set(controller, own);
    // A function that runs is loaded.
    if (end.key !== undefined) own.delete('');
    if (end.outcome !== 'postponed' && end.durationMs !== undefined) this.#times.add(controller, end);
    const state = end.crash ?? troubleOf(end);
    const before = own.get(id);
    const same = before?.state === state ? before : undefined;
    const error = end.error ?? end.reason ?? '';
    if (state === undefined) own.delete(id);
    // The first error of an unreachable cluster is its cause; the later ones are of the circuit breaker.
    else
      own.set(id, { state, text: state === 'failing' ? error : (same?.text ?? error), since: same?.since ?? at, at });
    return true;
  }

  /**
   * Adds what the resync has found in a kind, or in a part of it: what its watchers missed, if no key of it waited. A
   * part that failed is listed again, and what it found may be found once more.
   */
  #addList(text: string): void {
    if (!listWords.some((word) => text.includes(word))) return;
    const line = listed.safeParse(parseJson(text)).data;
    if (line === undefined) return;
    const { message, run, controller, cluster, namespace, unobserved, queueIdle } = line;
    const { lists } = this.#runs.find((one) => one.run === run) ?? { lists: new Map<string, ListFindings>() };
    const id = `${controller} ${cluster} ${namespace}`;
    const { missed, failed = 0 }: ListFindings = lists.get(id) ?? { missed: 0 };
    const found = Math.max(failed, queueIdle === undefined ? Number.NaN : queueIdle ? unobserved : 0);
    if (message === 'list failed') lists.set(id, { missed, failed });
    else lists.set(id, line.failed ? { missed, failed: found } : { missed: missed + found });
    const others = this.#runs.filter((one) => one.run !== run);
    this.#runs = [...others, { run, lists }].sort((a, b) => (a.run < b.run ? -1 : 1)).slice(-2);
  }

  /** Forgets an object. */
  forget(id: string): void {
    for (const own of this.#all.values()) own.delete(id);
  }

  /** Records why the log of a controller does not show how its runs ended; undefined when it does again. */
  setUnread(controller: string, reason: string | undefined): void {
    if (reason === undefined) this.#unread.delete(controller);
    else this.#unread.set(controller, reason);
  }

  /** Records how often Lambda has refused to run functions in the last 15 minutes, or why that is not known. */
  setThrottles(names: readonly string[], read: ReadonlyMap<string, number> | Error): void {
    for (const name of names) this.#throttles.set(name, read instanceof Error ? read : (read.get(name) ?? 0));
  }

  /** Judges a function, by the lines after a time: a shared function has none that says that it succeeded. */
  healthOf(controller: string, isPaused: boolean | undefined, afterMs = 0): Health {
    const shown = this.#shownOf(controller, isPaused, afterMs);
    return this.#hidden === undefined || certain.includes(shown.state) ? shown : healthOf('not known', this.#hidden);
  }

  /** The same, if the log has each run. */
  #shownOf(controller: string, isPaused: boolean | undefined, afterMs: number): Health {
    if (isPaused === true) return healthOf('paused', 'its messages wait in its queue');
    const unread = this.#unread.get(controller);
    if (unread !== undefined) return healthOf('not known', unread);
    const own = [...(this.#all.get(controller)?.values() ?? [])].filter(({ at }) => at >= afterMs);
    const [worst] = own.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
    const throttles = this.#throttles.get(controller) ?? 0;
    const isWorse = worst === undefined || order.indexOf('throttled') < order.indexOf(worst.state);
    if (typeof throttles === 'number' && throttles > 0 && isWorse)
      return healthOf('throttled', `Lambda refused ${throttles} invocations in 15 minutes, ${throttledRemedy}`);
    if (worst === undefined) {
      if (isPaused === undefined) return healthOf('not known', 'whether it is paused cannot be read');
      if (typeof throttles === 'number') return healthOf('working');
      return healthOf('not known', `whether it is throttled cannot be read: ${throttles.message}`);
    }
    const same = own.filter(({ state }) => state === worst.state);
    const objects = same.length === 1 ? '1 object' : `${same.length} objects`;
    const about = this.#all.get(controller)?.get('') === worst ? worst.text : `${objects}: ${worst.text}`;
    return healthOf(worst.state, about, Math.min(...same.map(({ since }) => since)));
  }
}

const ended = z.object({
  message: z.string(),
  key: z.string().optional(),
  outcome: z.string().optional(),
  reason: z.string().optional().catch(undefined),
  error: z.string().optional().catch(undefined),
  errorType: z.string().optional().catch(undefined),
  function: z.string().optional().catch(undefined),
  cause: z.string().optional().catch(undefined),
  durationMs: z.number().optional().catch(undefined),
  requestMs: z.number().optional().catch(undefined),
  latencyMs: z.number().optional().catch(undefined),
});
const lambdaError = z.looseObject({ errorType: z.string().default(''), errorMessage: z.string().default('') });

/** How Lambda says that it has ended an invocation. */
export const timeoutWords = 'Task timed out';

/** What a list has found to be missed. `failed`: in the part that is to be listed again. NaN: it is not known. */
type ListFindings = { readonly missed: number; readonly failed?: number };
type ResyncLists = { readonly run: string; readonly lists: Map<string, ListFindings> };

const listWords = ['kind listed', 'list failed'] as const;
const listed = z.looseObject({
  message: z.enum(listWords),
  run: z.iso.datetime({ offset: true }),
  controller: z.string(),
  cluster: z.string(),
  namespace: z.string().optional(),
  unobserved: z.number().default(0),
  failed: z.boolean().default(false),
  queueIdle: z.boolean().optional(),
});

/** The words of which a line of Lambda's log has at least one, if it is about a run, a crash or a resync. */
export const endWords: readonly string[] = [
  'reconciled',
  'message refused',
  'Uncaught Exception',
  'Invoke Error',
  timeoutWords,
  ...listWords,
];

/** The same as a filter of CloudWatch Logs. */
export const endPattern = endWords.map((word) => `?${JSON.stringify(word)}`).join(' ');

/** Says how a function has crashed, if a line of its log is about that. */
export function readCrash(text: string): string | undefined {
  const end = readEnd(text);
  return end?.crash === undefined ? undefined : `${end.crash}: ${end.error}`;
}

/** A crash is of no key. `function` is absent where the log group names it. */
type End = RunEnd &
  TimedRun & { readonly key?: string; readonly crash?: PartState; readonly function?: string | undefined };

/** Reads how a run has ended: from a line of ours, or from one that Lambda's runtime has written. */
function readEnd(text: string): End | undefined {
  if (!endWords.some((word) => text.includes(word))) return undefined;
  const crashOf = (errorType: string): PartState =>
    errorType === 'Runtime.ImportModuleError' ? 'cannot load' : 'crashing';
  const entry = ended.safeParse(parseJson(text)).data;
  if (entry?.key !== undefined && entry.outcome !== undefined)
    return { ...entry, key: entry.key, outcome: entry.outcome };
  if (entry !== undefined)
    return entry.errorType === undefined
      ? undefined
      : { outcome: 'crashed', error: entry.error, crash: crashOf(entry.errorType), function: entry.function };
  const [, json] = /(?:Uncaught Exception|Invoke Error)\s*(\{.*)/s.exec(text) ?? [];
  const crash = lambdaError.safeParse(parseJson(json ?? '')).data;
  if (crash !== undefined) {
    // What a module throws while it is loaded has the name of its own class: only its request is missing.
    const isLoading = /\tundefined\tERROR\t/.test(text);
    const state = isLoading ? 'cannot load' : crashOf(crash.errorType);
    return { outcome: 'crashed', error: crash.errorMessage, crash: state };
  }
  const [timedOut] = /Task timed out after .*/.exec(text) ?? [];
  return timedOut === undefined ? undefined : { outcome: 'crashed', error: timedOut, crash: 'crashing' };
}

/** A condition, as the judgement of an object needs it. */
export type ConditionFacts = {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly lastTransitionTime?: string | undefined;
};

const conditionShape = z.looseObject({
  type: z.string(),
  status: z.string(),
  reason: z.string().default('').catch(''),
  message: z.string().default('').catch(''),
  lastTransitionTime: z.string().optional().catch(undefined),
});
const statusShape = z.looseObject({ conditions: z.array(z.unknown()).catch([]) });

/** Reads the conditions of an object; those that are none are left out. */
export function conditionsOf({ status }: Pick<KubeObject, 'status'>): readonly z.infer<typeof conditionShape>[] {
  const { conditions = [] } = statusShape.safeParse(status ?? {}).data ?? {};
  return conditions.flatMap((one) => conditionShape.safeParse(one).data ?? []);
}

/** The reasons of a failure, in the conditions of a status slice too, which has no condition Reconciling or Stalled. */
const failureReasons: Readonly<Record<string, ObjectState>> = {
  [reasons.retrying]: 'Failed',
  [reasons.namespaceTerminating]: 'Failed',
  [reasons.retriesExhausted]: 'Stalled',
  [reasons.terminal]: 'Stalled',
  [reasons.invalidSpec]: 'Stalled',
  [reasons.policyDenied]: 'Stalled',
};

/** The conditions by which controllers of a kind tell of failures. */
export type FailureSigns = {
  /** Whether Reconciling and Stalled are those of the controllers, and not of a foreign kind. */
  readonly own: boolean;
  readonly slices: readonly string[];
};

/** Finds the condition of a failure, with the state that it shows. */
export function failureOf<C extends ConditionFacts>(
  conditions: readonly C[],
  { own, slices }: FailureSigns,
): (C & { readonly state: 'Failed' | 'Stalled' }) | undefined {
  for (const one of conditions) {
    const state = failureReasons[one.reason ?? ''];
    if (own && one.type === 'Stalled' && one.status === 'True') return { ...one, state: 'Stalled' };
    const isShown = own && one.type === 'Reconciling' && one.status === 'True';
    if ((isShown || slices.includes(one.type)) && state !== undefined)
      return { ...one, state: state === 'Stalled' && !isShown ? 'Stalled' : 'Failed' };
  }
  return undefined;
}

/** The health of an object: its state, with the reason and the message of it. */
export type ObjectHealth = Health<ObjectState> & { readonly text: string };

/** Judges an object by its metadata and its conditions. */
export function objectHealth(
  object: KubeObject,
  { sliceConditions, isForeign }: { readonly sliceConditions: readonly string[]; readonly isForeign: boolean },
): ObjectHealth {
  const { deletionTimestamp, annotations } = object.metadata;
  const readiness = objectReadiness(object, sliceConditions, isForeign);
  const failure = failureOf(conditionsOf(object), { own: !isForeign, slices: sliceConditions });
  const { reason = '', message = '' } = failure ?? readiness;
  const state = ((): ObjectState => {
    if (annotations?.[pausedAnnotation] === 'true') return 'Paused';
    if (deletionTimestamp !== undefined) return failure === undefined ? 'Deleting' : 'Failed';
    if (failure !== undefined && readiness.reason !== 'NotObserved') return failure.state;
    return readiness.ready ? 'Ready' : 'Progressing';
  })();
  const since = Date.parse(failure?.lastTransitionTime ?? '');
  return {
    state,
    tone: objectTones[state],
    text: [reason, message].filter((one) => one !== '').join(': '),
    ...(Number.isNaN(since) ? {} : { since }),
  };
}

/** Conditions that are bad when they are True: those of kstatus and of Kubernetes' own kinds. */
const abnormal = /(?:Stalled|Degraded|Failed|Failure|Error|Pressure|Unavailable)$/;
/** Conditions that are neither good nor bad when they are True. */
const passing = ['Reconciling', 'Progressing'];

/** Judges a condition. One that is False is not bad while its object progresses. */
export function conditionTone({ type, status }: ConditionFacts, object: Tone): Tone {
  if (status !== 'True' && status !== 'False') return 'unknown';
  if (abnormal.test(type)) return status === 'True' ? 'bad' : 'good';
  if (passing.includes(type)) return status === 'False' ? 'neutral' : object === 'bad' ? 'bad' : 'busy';
  return status === 'True' ? 'good' : object === 'bad' ? 'bad' : 'busy';
}
