// One object in hand during a reconcile: its last read or write, and the steps that may follow. Everything that is written
// to the object itself is written here, guarded by the version in hand.
import { reasons } from '../core/conditions.ts';
import { toError } from '../core/errors.ts';
import type { Key } from '../core/key.ts';
import { redact } from '../core/redact.ts';
import { fieldManagerOf, finalizerOf, pausedAnnotation } from '../core/names.ts';
import { applyStatus } from '../kube/apply/apply.ts';
import { isConflict, isNotFound } from '../kube/client/errors.ts';
import { recordEvent } from '../kube/apply/events.ts';
import { ensureFinalizer, removeFinalizer } from '../kube/apply/finalizers.ts';
import { ownedBy } from '../kube/apply/managed-fields.ts';
import type { KubeObject } from '../kube/client/object.ts';
import { getObject } from '../kube/client/read.ts';
import { isRecord } from '../kube/record.ts';
import { sameOwned } from '../kube/same-owned.ts';
import { waitReally } from '../core/time.ts';
import { type Access, createAccess } from './access.ts';
import { failureOf } from './failure.ts';
import { finalizeUntilDone } from './finalize-gone.ts';
import type { Job, ReconcileParts } from './job.ts';
import { isLastAttempt, type Outcome } from './outcome.ts';
import { withoutRepeated } from './repeated.ts';
import type { Basis, OwnedStatus, Prospect } from './status.ts';
import { voiceOf } from './voice.ts';

/** Tries of one status against versions that others' writes make stale. */
const writeTries = 3;

/** A visit to one object. */
export type Visit = {
  /** Whether the generation that was read had been observed before. */
  readonly observedBefore: boolean;
  /** Finalizes or reconciles. Throws what no status can be written for: an unreachable server, a stale version. */
  run(): Promise<Outcome>;
  /** Writes so far: to children, finalizers and status. */
  writes(): number;
  /** Applies that changed nothing. */
  noops(): number;
  /** Sends the recorded Events; one that cannot be sent is a line in the log, never a failed reconcile. */
  sendEvents(): Promise<void>;
};

/** Opens a visit to the object that was just read. */
export function createVisit(
  { name, declares, running, now, wait = waitReally }: ReconcileParts,
  job: Job,
  read: KubeObject,
): Visit {
  const { client, message, log, signal } = job;
  const { resource } = declares;
  const finalizer = finalizerOf(name);
  const fieldManager = fieldManagerOf(name);
  const voice = voiceOf(declares);
  let object = read;
  let ownWrites = 0;
  let ownNoops = 0;
  /** A reconcile, and what finalizes when that found its object gone. */
  const accesses: Access[] = [];

  const openAccess = () => {
    const access = createAccess(
      { client, cluster: message.cluster, controller: name, log, now, signal },
      { object, kind: resource, namespace: object.metadata.namespace },
    );
    accesses.push(access);
    return access.context;
  };
  const basis = (): Basis => ({
    owned: ownedStatus(object, fieldManager),
    generation: generationOf(object),
    now: now(),
    declared: voice.declared,
  });

  /**
   * Writes the status if it differs. A version that is stale only because somebody else wrote what is not ours (the kind's other
   * controller, its own part) is read again: what the status was made from is as it was, so it need not be made again.
   */
  async function write(status: OwnedStatus): Promise<void> {
    // As JSON has it: fields that are undefined are not there. What is only repeated is so of the object that it was read from:
    // compared with a fresh one it might look like a change, and set back what its own writer has written since.
    const wanted = withoutRepeated(toRecord(JSON.parse(JSON.stringify(status))), object, fieldManager);
    for (let tries = 1; ; tries += 1) {
      try {
        return await writeOver(object, wanted);
      } catch (error) {
        if (!isConflict(error) || tries === writeTries) throw error;
        const fresh = await getObject(client, resource, keyOf(object), { signal });
        if (fresh === undefined || !saysTheSame(object, fresh, fieldManager)) throw error;
        object = fresh;
      }
    }
  }

  async function writeOver(last: KubeObject, wanted: Readonly<Record<string, unknown>>): Promise<void> {
    if (sameOwned(wanted, ownedStatus(last, fieldManager))) return;
    const { resourceVersion = '', uid } = last.metadata;
    const target = { apiVersion: resource.apiVersion, kind: resource.kind, key: keyOf(last), resourceVersion, uid };
    object = await applyStatus(client, resource, target, wanted, { fieldManager, signal });
    if (object.metadata.resourceVersion !== resourceVersion) ownWrites += 1;
    else {
      ownNoops += 1;
      log.warn('an apply changed nothing', { applyNoop: 1 });
    }
  }

  /** Passes on what no status can be written for, and tells what the rest means. */
  function judge(thrown: unknown): { readonly error: Error; readonly prospect: Prospect; readonly outcome: Outcome } {
    if (signal.aborted) throw signal.reason;
    const error = toError(thrown);
    const failure = failureOf(thrown, 'later');
    switch (failure) {
      case 'unreachable':
      case 'conflict':
      case 'namespace-terminating':
        throw error;
      case 'terminal':
      case 'invalid-spec':
        return { error, prospect: failure, outcome: { type: 'terminal', error } };
      case 'error': {
        const stalledBefore = voice.isStalled(ownedStatus(object, fieldManager), generationOf(object));
        const prospect = stalledBefore || isLastAttempt(message) ? 'gave-up' : 'retrying';
        return { error, prospect, outcome: { type: 'failed', error, stalledBefore } };
      }
    }
  }

  async function makeItSo(): Promise<Outcome> {
    try {
      if (declares.finalizes && !object.metadata.finalizers?.includes(finalizer)) {
        // Persisted before the first outside effect: a reconcile that dies half-way leaves nothing that nobody cleans up.
        object = await ensureFinalizer(client, resource, object, finalizer, { fieldManager, signal });
        ownWrites += 1;
      }
      const result = await running.reconcile(object, openAccess());
      if (result.retry !== undefined) {
        const { prospect, outcome } = judge(result.retry);
        await write(voice.afterResult(result, basis(), prospect));
        return outcome;
      }
      await write(voice.afterResult(result, basis()));
      const { requeueAfterSeconds } = result;
      return { type: 'done', ...(requeueAfterSeconds === undefined ? {} : { requeueAfterSeconds }) };
    } catch (thrown) {
      const { error, prospect, outcome } = judge(thrown);
      await write(voice.afterFailure(error, prospect, basis()));
      return outcome;
    }
  }

  const runFinalize = async () => await running.finalize(object, openAccess());

  async function finalize(): Promise<Outcome> {
    if (!object.metadata.finalizers?.includes(finalizer)) return { type: 'nothing', why: 'not-ours' };
    try {
      const finalized = await runFinalize();
      if (finalized === 'done') {
        await removeFinalizer(client, resource, object, finalizer, { fieldManager, signal });
        ownWrites += 1;
        return { type: 'done' };
      }
      const { reason, message: why, requeueAfterSeconds } = finalized;
      await write(
        voice.whileFinalizing({ status: 'False', reason, ...(why === undefined ? {} : { message: why }) }, basis()),
      );
      return { type: 'done', requeueAfterSeconds };
    } catch (thrown) {
      const { error, prospect, outcome } = judge(thrown);
      const reason = prospect === 'invalid-spec' ? reasons.invalidSpec : reasons.finalizeFailed;
      await write(voice.whileFinalizing({ status: 'False', reason, message: error.message }, basis(), prospect));
      return outcome;
    }
  }

  /**
   * Finalizes an object that has gone under our hands, with our finalizer on it: kube-apiserver lets a DELETE happen that it decided before
   * a finalizer was put on. No event, and no later visit, would find what this one has done for it. Of one that is being deleted it is not known
   * whether another has finalized it before what this one did: once more is harmless, and it stays with who takes the finalizer off.
   */
  async function finalizeIfGone(): Promise<void> {
    if (!declares.finalizes || !object.metadata.finalizers?.includes(finalizer)) return;
    const { uid } = object.metadata;
    const fresh = async () => {
      const one = await getObject(client, resource, keyOf(object), { signal });
      return one?.metadata.uid === uid ? one : undefined;
    };
    const left = await fresh();
    if (left !== undefined) {
      if (left.metadata.deletionTimestamp === undefined || (await runFinalize()) === 'done') return;
      if ((await fresh()) !== undefined) return;
    }
    log.warn('the object has gone in spite of its finalizer, and is finalized now', { uid });
    await finalizeUntilDone(runFinalize, { wait, signal });
  }

  async function reconcile(): Promise<Outcome> {
    try {
      return await makeItSo();
    } catch (thrown) {
      if (isConflict(thrown) || isNotFound(thrown)) {
        await finalizeIfGone().catch((error: unknown) =>
          log.error('what was done for an object that has gone is left behind', {
            error: redact(toError(error).message),
          }),
        );
      }
      throw thrown;
    }
  }

  return {
    observedBefore: voice.observed(ownedStatus(read, fieldManager)) === generationOf(read),
    run: async () => (object.metadata.deletionTimestamp === undefined ? await reconcile() : await finalize()),
    writes: () => accesses.reduce((sum, access) => sum + access.writes(), ownWrites),
    noops: () => accesses.reduce((sum, access) => sum + access.noops(), ownNoops),
    sendEvents: async () => {
      for (const { type, reason, message: text } of accesses.flatMap((access) => access.recorded())) {
        if (signal.aborted) return;
        const event = { object, type, reason, message: redact(text), reportingController: finalizer, now, signal };
        const sent = await recordEvent(client, event);
        if (!sent.recorded) log.warn('event not recorded', { reason, error: redact(sent.error.message) });
      }
    },
  };
}

/** Tells whether a reconcile of the fresh object would be handed what that of the last one was. */
function saysTheSame(last: KubeObject, fresh: KubeObject, manager: string): boolean {
  const [a, b] = [last.metadata, fresh.metadata];
  const isSame = a.uid === b.uid && a.generation === b.generation && a.deletionTimestamp === b.deletionTimestamp;
  const isPaused = b.annotations?.[pausedAnnotation] === 'true';
  return isSame && !isPaused && sameOwned({ ...ownedStatus(last, manager) }, ownedStatus(fresh, manager));
}

function keyOf({ metadata: { name, namespace } }: KubeObject): Key {
  return namespace === undefined ? { name } : { namespace, name };
}

function generationOf(object: KubeObject): number {
  return object.metadata.generation ?? 0;
}

function ownedStatus(object: KubeObject, manager: string): Readonly<Record<string, unknown>> {
  return toRecord(ownedBy(object, manager, 'status')?.status);
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
