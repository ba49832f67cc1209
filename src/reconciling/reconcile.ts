// Reconciles one key: reads the object, adds the finalizer, runs the author's function, writes the status, and sends
// Events. After a conflict all of it is repeated with a fresh read. It returns an outcome. outcome.ts decides what the
// outcome means for the message.
import { errorText, IgnoredSignalError, ReconcileTimeoutError, toError } from '../core/errors.ts';
import { fieldManagerOf, finalizerOf, heldLabelOf, pausedAnnotation } from '../core/names.ts';
import { redact } from '../core/redact.ts';
import { isSelected } from '../core/selector.ts';
import { sleep } from '../core/time.ts';
import { recordEvent } from '../kube/apply/events.ts';
import { holdObject, isHeld, isMarked, releaseObject } from '../kube/apply/finalizers.ts';
import { observationOf } from '../kube/apply/observation.ts';
import { isConflict, isNotFound } from '../kube/client/errors.ts';
import type { KubeObject } from '../kube/client/object.ts';
import { getObject } from '../kube/client/read.ts';
import { isPeriodic, type Message } from '../sqs/message.ts';
import { errorClassOf, resolveFailure, type Stage } from './classify-error.ts';
import { type ContextHandle, createContext, type PendingEvent } from './context.ts';
import { finalizeIfGone, finalizeObject, requeueOf } from './finalize.ts';
import { reportSeconds, unlessSignalIgnored } from './ignored-signal.ts';
import { marksOf } from './marks.ts';
import { noteFailed, noteObserved } from './note-observed.ts';
import type { Outcome } from './outcome.ts';
import { createPrimaryObject } from './primary-object.ts';
import {
  type ReconcileDeps,
  type ReconcileInput,
  type ReconcileReport,
  type SessionDeps,
  scopeMismatch,
} from './report.ts';
import { followsOwnWrite } from './self-triggered.ts';
import { currentConditions } from './status/status.ts';
import { createStatusWriter } from './status/status-writer.ts';
import { giveUpStatus, writeStatus } from './status/write-status.ts';
import { needsVerification, verifiedOutcome } from './verified-outcome.ts';

/** Passes with a fresh read, before the message is postponed because of a stale resource version. */
const maxPasses = 3;

/** Creates the reconcile of one controller. It never throws, except for its signal's reason if that is aborted. */
export function createReconcile(deps: ReconcileDeps): (input: ReconcileInput) => Promise<ReconcileReport> {
  return async function reconcile(input) {
    let added: KubeObject | undefined;
    for (let passes = 1; ; passes += 1) {
      const { added: addedNow, ...report } = await runPass(deps, input);
      const { foundUid } = report;
      if (added !== undefined && foundUid !== undefined && foundUid !== added.metadata.uid) {
        const object = await openSession(deps, input, added).rescue();
        const { uid = '' } = added.metadata;
        return { ...report, ...(object === undefined ? {} : { orphan: { uid, object } }) };
      }
      added = addedNow ?? added;
      const isStale = report.outcome.type === 'postponed' && report.outcome.reason === 'conflict';
      if (!isStale || passes === maxPasses || input.signal.aborted) return report;
      input.log.debug('resource version conflict, reading again', { tries: passes });
    }
  };
}

/** `added`: the object with its finalizer, if this pass added it. */
type PassReport = ReconcileReport & { readonly added?: KubeObject | undefined };

async function runPass(deps: ReconcileDeps, input: ReconcileInput): Promise<PassReport> {
  const { message, client, signal } = input;
  const { resource } = deps.declaration;
  const mismatch = scopeMismatch(resource, message);
  if (mismatch !== undefined) return { outcome: { type: 'refused', error: mismatch }, writes: 0 };
  let stage: Stage = 'first-read';
  let writes = 0;
  let read: KubeObject | undefined;
  let foundUid: string | null | undefined;
  let session: Session | undefined;
  try {
    const object = await getObject(client, resource, message, { signal });
    stage = 'later';
    read = object;
    foundUid = object?.metadata.uid ?? null;
    if (object === undefined) return { outcome: { type: 'nothing', reason: 'gone' }, foundUid, writes };
    if (object.metadata.annotations?.[pausedAnnotation] === 'true') {
      return { outcome: { type: 'nothing', reason: 'paused' }, foundUid, writes };
    }
    session = openSession(deps, input, object);
    try {
      return {
        outcome: await session.run(),
        foundUid,
        writes: session.writes(),
        noops: session.noops(),
        observedBefore: session.observedBefore,
        added: session.added(),
        selfTriggered: session.selfTriggered(),
        ignoredSignal: session.ignoredSignal() !== undefined,
        ...(object.metadata.generation === undefined ? {} : { generation: object.metadata.generation }),
      };
    } finally {
      writes = session.writes();
      await session.sendEvents();
    }
  } catch (thrown) {
    const ignored = session?.ignoredSignal();
    if (ignored !== undefined) {
      // Its status could not be written.
      const outcome: Outcome = { type: 'failed', error: ignored, stalledBefore: false };
      return { outcome, foundUid, writes, ignoredSignal: true };
    }
    if (signal.aborted) throw signal.reason;
    const outcome = needsVerification(thrown, read)
      ? await verifiedOutcome(thrown, { client, resource, message, read, signal })
      : outcomeOf(thrown, stage, message);
    return { outcome, foundUid, writes, added: session?.added() };
  }
}

/** Returns the outcome of an error for which no status was written. */
function outcomeOf(thrown: unknown, stage: Stage, message: Message): Outcome {
  const error = toError(thrown);
  switch (errorClassOf(thrown, stage, message)) {
    case 'unreachable':
      return { type: 'postponed', reason: 'unreachable', error };
    case 'conflict':
      return { type: 'postponed', reason: 'conflict', error };
    case 'namespace-terminating':
      return { type: 'nothing', reason: 'namespace-terminating' };
    default:
      return { type: 'failed', error, stalledBefore: false };
  }
}

/** One pass over one object. */
type Session = {
  /** Whether the status showed the generation that was read as observed. */
  readonly observedBefore: boolean;
  /** Reconciles, or finalizes an object that is being deleted. Throws errors for which no status can be written. */
  run(): Promise<Outcome>;
  /**
   * Finalizes the object, which this controller has given its finalizer and which is gone now. Returns the object for a
   * dead letter (JSON) if finalize was not completed.
   */
  rescue(): Promise<string | undefined>;
  /** The object as it was with the finalizer, if this session added that. */
  added(): KubeObject | undefined;
  /** Writes so far: to children, finalizers and status. */
  writes(): number;
  /** Applies that changed nothing. */
  noops(): number;
  /** Whether it wrote to the object again, although nothing but its own last write had it reconciled. */
  selfTriggered(): boolean;
  /** The error of a reconciler that still runs, although its signal was aborted. */
  ignoredSignal(): IgnoredSignalError | undefined;
  /** Sends the recorded Events. If an Event cannot be sent, a warning is logged, and the reconcile does not fail. */
  sendEvents(): Promise<void>;
};

/** Opens a session for an object that was just read. */
function openSession(
  { name, project, declaration, instance, now, wait = sleep }: ReconcileDeps,
  { client, message, log, signal }: ReconcileInput,
  read: KubeObject,
): Session {
  const { resource } = declaration;
  const finalizer = finalizerOf(name, project);
  const fieldManager = fieldManagerOf(name, project);
  const statusWriter = createStatusWriter(declaration);
  const primary = createPrimaryObject(read, { fieldManager, finalizer });
  const observation = observationOf({ name, declaration }, project);
  // Without evidence nothing shows what was observed: each write of a periodic reconcile is a correction.
  const observedBefore =
    observation?.isObserved(read) ??
    (!statusWriter.showsObserved || statusWriter.observed(primary.ownedStatus()) === primary.generation());
  const { annotation } = observation ?? {};
  const marks = marksOf(declaration, { finalizer, label: heldLabelOf(name, project), annotation });
  const statusInput = () => ({
    owned: primary.ownedStatus(),
    generation: primary.generation(),
    now: now(),
    declared: statusWriter.declared,
  });
  const shared = { client, message, log, signal, resource, retry: declaration.options.retry };
  let reportSignal = signal;
  const deps: SessionDeps = {
    ...{ ...shared, finalizer, fieldManager, statusWriter, statusInput, wait, now },
    reportSignal: () => reportSignal,
    onFailure,
  };

  /** The Warning about the failure of this pass; absent if the status shows the same failure already. */
  let failure: PendingEvent | undefined;
  function onFailure(error: Error): void {
    const message = redact(errorText(error));
    const isKnown = currentConditions(primary.ownedStatus()).some((one) => one.message === message);
    const reason = error instanceof ReconcileTimeoutError ? 'DeadlineExceeded' : 'ReconcileFailed';
    failure = isKnown ? undefined : { type: 'Warning', reason, message };
  }

  /** One for the reconciler, and one for each finalize. */
  const contexts: ContextHandle[] = [];
  const openContext = (isThorough = isPeriodic(message.cause)) => {
    const object = primary.current();
    const handle = createContext(
      { client, cluster: message.cluster, controller: name, project, log, now, signal, isThorough },
      { object, kind: resource, namespace: object.metadata.namespace, primary },
    );
    contexts.push(handle);
    return handle;
  };

  let ignored: IgnoredSignalError | undefined;
  const unlessIgnored = async <T>(running: Promise<T>): Promise<T> => {
    try {
      return await unlessSignalIgnored(running, { signal, wait });
    } catch (error) {
      if (error instanceof IgnoredSignalError) ignored = error;
      else if (!signal.aborted) throw error;
      // The status is written in the time that is left. A reconciler that hangs at each attempt would otherwise fail
      // without a trace on its object.
      reportSignal = AbortSignal.timeout(reportSeconds * 1000);
      if (ignored !== undefined) throw ignored;
      const last = error === signal.reason ? '' : `: ${errorText(toError(error))}`;
      throw new ReconcileTimeoutError(`the reconciler did not end within its time limit${last}`, { cause: error });
    }
  };

  /** The object with the finalizer that this session added, and the writes until then. */
  let added: { readonly object: KubeObject; readonly writes: number } | undefined;
  /** Calls the author's code. It ends when the calls that it did not await have, or with its signal. */
  const runAuthor = async <T>(call: (context: ContextHandle['context']) => Promise<T>): Promise<T> => {
    // A reconciler that still runs could create again what finalize removes.
    if (ignored !== undefined) throw ignored;
    const { context, end } = openContext();
    return await unlessIgnored(call(context).finally(end));
  };
  const runFinalize = async () => await runAuthor((context) => instance.finalize(primary.current(), context));

  async function runReconciler(): Promise<Outcome> {
    try {
      if (!isHeld(primary.current(), marks)) {
        // Stored before the first external effect, so that finalize also runs after a reconcile that crashed.
        primary.replace(await holdObject(client, resource, primary.current(), marks, { fieldManager, signal }));
        primary.countWrite();
        if (declaration.finalizes) added = { object: primary.current(), writes: primary.writes() };
      }
      const result = await runAuthor((context) => instance.reconcile(primary.current(), context));
      if (result.error !== undefined) {
        const { retryState, outcome } = resolveFailure(result.error, primary, deps);
        await writeStatus(primary, statusWriter.afterResult(result, statusInput(), retryState), deps);
        await noteFailed(outcome, observation, read, primary, deps);
        return outcome;
      }
      await writeStatus(primary, statusWriter.afterResult(result, statusInput()), deps);
      await noteObserved(observation, read, primary, deps);
      return { type: 'done', requeueAfterSeconds: result.requeueAfterSeconds, requeueAt: result.requeueAt };
    } catch (thrown) {
      const { error, retryState, outcome, signal } = resolveFailure(thrown, primary, deps);
      await writeStatus(primary, statusWriter.afterFailure(error, retryState, statusInput()), { ...deps, signal });
      await noteFailed(outcome, observation, read, primary, { ...deps, signal });
      return outcome;
    }
  }

  /** Finalizes an object that has left the selection: deletes the children, runs finalize, gives up the object. */
  async function leaveSelection(): Promise<Outcome> {
    if (!isMarked(primary.current(), marks)) return { type: 'nothing', reason: 'not-selected' };
    try {
      const { context } = openContext(true);
      for (const kind of declaration.owns) await context.applyAll(kind, () => [], { prune: true });
      const finalized = declaration.finalizes && primary.hasFinalizer() ? await runFinalize() : 'done';
      if (finalized !== 'done') return requeueOf(finalized);
      if (declaration.sets !== undefined) await context.setMetadata({});
      if (declaration.statusSlice !== undefined) await giveUpStatus(primary, deps);
      await releaseObject(client, resource, primary.current(), marks, { fieldManager, signal });
      primary.countWrite();
      return { type: 'done' };
    } catch (thrown) {
      // An Event reports the failure.
      return resolveFailure(thrown, primary, deps).outcome;
    }
  }

  async function run(): Promise<Outcome> {
    if (primary.current().metadata.deletionTimestamp !== undefined) {
      return await finalizeObject(primary, runFinalize, deps);
    }
    if (!isSelected(declaration.selector, primary.current())) return await leaveSelection();
    try {
      const outcome = await runReconciler();
      // Without a write after the finalizer, nothing has shown that the object still exists.
      const isUnverified = added !== undefined && added.writes === primary.writes();
      return (isUnverified ? await finalizeGone({ suspected: false }) : undefined) ?? outcome;
    } catch (thrown) {
      // An object with the finalizer can only be gone if this reconcile added it, or if the server returned 404 or 409.
      const suspected = isConflict(thrown) || isNotFound(thrown);
      if (declaration.finalizes && (added !== undefined || suspected)) {
        const failure = await finalizeGone({ suspected });
        if (failure !== undefined) return failure;
      }
      throw thrown;
    }
  }

  /** Finalizes the object if it is gone. Returns an outcome if it may be, and was not finalized. */
  async function finalizeGone(given: { readonly suspected: boolean }): Promise<Outcome | undefined> {
    const result = await finalizeIfGone(primary, runFinalize, deps, given);
    if (result === 'finalized') added = undefined;
    return result === 'finalized' ? undefined : result;
  }

  async function rescue(): Promise<string | undefined> {
    const failure = await finalizeGone({ suspected: true });
    return failure !== undefined && 'orphan' in failure ? failure.orphan : undefined;
  }

  async function sendEvents(): Promise<void> {
    const warning = ignored && ({ type: 'Warning', reason: 'DeadlineExceeded', message: ignored.message } as const);
    const recorded = contexts.flatMap((handle) => handle.recorded());
    // A Warning of the author's own says more than the error.
    const isReported = failure === undefined || recorded.some(({ type }) => type === 'Warning');
    const own = warning ?? (isReported ? undefined : failure);
    const events = warning === undefined ? recorded : [];
    for (const { type, reason, message: text } of [...events, ...(own === undefined ? [] : [own])]) {
      if (reportSignal.aborted) return;
      const object = primary.current();
      const event = {
        object,
        type,
        reason,
        message: redact(text),
        // The messages of one failure may differ at each attempt. They are one Event.
        aggregated: own !== undefined && reason === own.reason && type === own.type,
        reportingController: finalizer,
        now,
        signal: reportSignal,
      };
      const sent = await recordEvent(client, event);
      if (!sent.recorded) log.warn('event not recorded', { reason, error: redact(sent.error.message) });
    }
  }

  return {
    observedBefore,
    run,
    rescue,
    added: () => added?.object,
    ignoredSignal: () => ignored,
    writes: () => contexts.reduce((sum, handle) => sum + handle.writes(), primary.writes()),
    selfTriggered: () => primary.writes() > 0 && followsOwnWrite(message, read, fieldManager),
    noops: () => contexts.reduce((sum, handle) => sum + handle.noops(), primary.noops()),
    sendEvents,
  };
}
