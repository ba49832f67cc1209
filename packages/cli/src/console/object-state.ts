// The state of one object for `outrigger explain` and the console, the reason for it, and what ends it.
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { observedGenerationOf } from 'outrigger/internal/api/status-slice';
import { pausedAnnotation } from 'outrigger/internal/core/names';
import { mismatchOf } from 'outrigger/internal/core/selector';
import { observationOf } from 'outrigger/internal/kube/apply/observation';
import type { KubeObject } from 'outrigger/internal/kube/client/object';
import { objectReadiness } from '../dev/readiness.ts';
import { objectHealth } from './health.ts';
import type { Tone } from './wire.ts';

/** How each state is shown. */
export const stateTones = {
  missing: 'bad',
  'not selected': 'neutral',
  paused: 'neutral',
  deleting: 'busy',
  'dead letter': 'bad',
  failing: 'bad',
  unobserved: 'busy',
  unknown: 'unknown',
  'not ready': 'busy',
  settled: 'good',
} as const satisfies Readonly<Record<string, Tone>>;

/** The state of an object, why it is in that state, and the action that ends it. */
export type ObjectExplanation = {
  readonly state: keyof typeof stateTones;
  readonly why: string;
  readonly remedy?: 'resume' | 'resume-controller' | 'resume-cluster' | 'redrive' | undefined;
};

/** The end of the last reconcile. */
export type LastRun = {
  readonly outcome?: string | undefined;
  readonly attempt?: number | undefined;
  readonly error?: string | undefined;
  readonly reason?: string | undefined;
};

/** Decides the state of an object, the most surprising one first. With an `unread` queue nothing is settled. */
export function stateOf(
  object: KubeObject | undefined,
  controller: StateController,
  { unread, ...facts }: StateFacts & { readonly unread?: string | undefined },
): ObjectExplanation {
  const found = readState(object, controller, facts);
  if (unread === undefined || found.state === 'missing') return found;
  const why = `${found.why}; whether a message waits or it has a dead letter is not known: ${unread} was not read`;
  return { ...found, state: found.state === 'settled' ? 'unknown' : found.state, why };
}

/** Without a declaration the project's code does not load, and what it says is not known. */
type StateController = { readonly name: string; readonly declaration: ControllerDefinition['declaration'] | undefined };

type StateFacts = {
  /** Whether the controller is paused. */
  readonly isPaused?: boolean;
  /** The name of the cluster, if it is paused. */
  readonly pausedCluster?: string;
  readonly deadLetters: number;
  readonly last: LastRun | undefined;
  /** Why the log does not show each run. Then conditions say what failed: a run after `last` may be missing. */
  readonly hidden?: string | undefined;
  readonly finalizer: string;
  readonly project: string;
  /** The options of a printed command: ` --stage prod`. */
  readonly at?: string | undefined;
};

function readState(object: KubeObject | undefined, controller: StateController, facts: StateFacts): ObjectExplanation {
  const { deadLetters, finalizer, at = '' } = facts;
  if (object === undefined) return { state: 'missing', why: 'there is no such object in the cluster' };
  const { metadata, status } = object;
  const { name, declaration } = controller;
  const { hidden } = facts;
  // Where the conditions say nothing of a run, what the log shows of it is all that is known.
  const isShown = declaration?.resource.definition !== undefined || declaration?.statusSlice !== undefined;
  const last = hidden === undefined || !isShown ? facts.last : shownRun(object, declaration);
  const failed = ['failed', 'terminal', 'refused', 'postponed'].includes(last?.outcome ?? '');
  const error = last?.error ?? last?.reason ?? 'no error is logged';
  const isDeleting = metadata.deletionTimestamp !== undefined;
  const mismatch = mismatchOf(declaration?.selector, object);
  // An object that is being deleted is finalized whether it is selected or not.
  if (mismatch !== undefined && !isDeleting) {
    const ended = failed ? `; its last reconcile ended as ${last?.outcome}: ${error}` : '';
    return { state: 'not selected', why: `the selector of ${name} needs ${mismatch}${ended}` };
  }
  const paused = (remedy: ObjectExplanation['remedy'], why: string) => ({ state: 'paused', why, remedy }) as const;
  const resumes = (what: string, command: string) => `${what} is paused; outrigger ${command} ${what}${at} ends that`;
  if (metadata.annotations?.[pausedAnnotation] === 'true')
    return paused('resume', `its annotation ${pausedAnnotation} is true; remove it to reconcile the object`);
  if (facts.isPaused === true) return paused('resume-controller', resumes(name, 'resume'));
  const { pausedCluster } = facts;
  if (pausedCluster !== undefined) return paused('resume-cluster', resumes(pausedCluster, 'clusters resume'));
  if (deadLetters > 0) {
    const redrive = `outrigger dlq redrive${at}`;
    const why =
      last?.outcome === 'done'
        ? `its last reconcile succeeded; the dead letter is from before, and its alarm lasts: ${redrive}`
        : `it is not retried any more: ${error}; fix the cause, then ${redrive}`;
    return { state: 'dead letter', why, remedy: 'redrive' };
  }
  if (isDeleting) {
    const waits = metadata.finalizers?.includes(finalizer) === true ? finalizer : metadata.finalizers?.join(', ');
    return { state: 'deleting', why: `it waits for ${waits ?? 'nothing'}${failed ? `: ${error}` : ''}` };
  }
  if (failed) {
    const which = last === facts.last ? `attempt ${(last?.attempt ?? 0) + 1}` : 'its last reconcile';
    const why = `${which} ended as ${last?.outcome}: ${error}`;
    return hidden === undefined || isShown
      ? { state: 'failing', why }
      : { state: 'unknown', why: `${why}; a later one may have succeeded: ${hidden}` };
  }
  if (declaration === undefined)
    return {
      state: 'unknown',
      why: hidden ?? 'nothing has failed; whether its last change is reconciled is not known',
    };
  const { resource, statusSlice } = declaration;
  if (resource.definition === undefined && statusSlice?.isObserved === undefined) {
    const isObserved = observationOf({ name, declaration }, facts.project)?.isObserved(object);
    if (isObserved === false) return { state: 'unobserved', why: 'its last change is not reconciled yet' };
    if (hidden !== undefined) return { state: 'unknown', why: hidden };
    if (isObserved === undefined && last === undefined)
      return { state: 'unknown', why: 'no reconcile of it is in the logs, and nothing in the object shows one' };
    const whole = isObserved === undefined ? '; nothing shows which changes it has observed' : '';
    return { state: 'settled', why: `its last reconcile succeeded${whole}` };
  }
  const observed = observedGenerationOf(status, statusSlice) ?? 0;
  if (observed < (metadata.generation ?? 0)) {
    const why = `generation ${metadata.generation} is not reconciled yet; the status shows generation ${observed}`;
    return { state: 'unobserved', why };
  }
  const { ready, reason, message } = objectReadiness(
    object,
    statusSlice?.conditions,
    resource.definition === undefined,
  );
  if (!ready) {
    const detail = [reason, message].filter((one) => one !== '').join(': ');
    return { state: 'not ready', why: `its last reconcile succeeded, and it is not Ready: ${detail}` };
  }
  return { state: 'settled', why: 'its last reconcile succeeded, for the present generation' };
}

/** The failure that the conditions of an object show, as its last run; undefined if they show none. */
function shownRun(object: KubeObject, declaration: ControllerDefinition['declaration']): LastRun | undefined {
  const { resource, statusSlice } = declaration;
  const sliceConditions = statusSlice?.conditions ?? [];
  const { state, text } = objectHealth(object, { sliceConditions, isForeign: resource.definition === undefined });
  return state === 'Failed' || state === 'Stalled' ? { outcome: 'failed', error: text } : undefined;
}
