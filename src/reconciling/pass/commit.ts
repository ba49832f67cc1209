// Commit: the only writer of a pass. It writes the status and the evidence, and gives up what the controller held;
// Events follow. Its errors are those of the API server: reconcile.ts settles them.
import { recordEvent } from '../../kube/apply/events.ts';
import { releaseObject, removeFinalizer, setAnnotation } from '../../kube/apply/finalizers.ts';
import { applyOwnMetadata } from '../../kube/apply/own-metadata.ts';
import { classifyResponse } from '../../kube/client/classify.ts';
import { isConflict, isNotFound } from '../../kube/client/errors.ts';
import { giveUpStatus, writeStatus } from '../status/write-status.ts';
import type { Pass, PendingEvent, Verdict } from './pass.ts';

type Written = Extract<Verdict, { readonly type: 'written' }>;

/** Writes a verdict: the status, the evidence, and the end of what the controller held. */
export async function commit(pass: Pass, verdict: Written): Promise<void> {
  if (verdict.status !== undefined) await writeStatus(pass, verdict.status);
  await noteObserved(pass, verdict.evidence);
  if (verdict.release === 'finalizer') await endFinalizing(pass);
  if (verdict.release === 'marks') await giveUp(pass);
}

/**
 * Notes what a reconcile has observed, if the object does not show it. An object that has changed meanwhile is not
 * noted: that change has it reconciled again. Of a failed reconcile, whose retry or dead letter has the change, it is
 * noted if that is possible; if not, the resync sends the key again.
 */
async function noteObserved(pass: Pass, evidence: Written['evidence']): Promise<void> {
  const { identity, client, read, primary, signal } = pass;
  const { observation, fieldManager, declaration } = identity;
  if (observation === undefined || evidence === undefined) return;
  const note = { annotation: observation.annotation, value: observation.of(read) };
  const object = primary.current();
  if (object.metadata.annotations?.[note.annotation] === note.value) return;
  try {
    primary.written(await setAnnotation(client, declaration.resource, object, note, { fieldManager, signal }));
  } catch (error) {
    if (evidence === 'needed' && !isConflict(error) && !isNotFound(error)) throw error;
  }
}

/** Removes the finalizer of an object that is finalized. */
async function endFinalizing({ identity, client, message, primary, signal }: Pass): Promise<void> {
  const { declaration, finalizer, fieldManager } = identity;
  try {
    await removeFinalizer(client, declaration.resource, primary.current(), finalizer, { fieldManager, signal });
  } catch (error) {
    if (classifyResponse(error) !== 'forbidden') throw error;
    // A former version of the controller may have had finalize.
    const fix = 'apply its manifests, or if it has no finalize any more, those of its last version with finalize';
    const text = `the role of ${message.controller} does not permit to remove ${finalizer}: ${fix}`;
    throw new Error(text, { cause: error });
  }
  primary.countWrite();
}

/** Removes everything that the controller has written on an object that left its selection. */
async function giveUp(pass: Pass): Promise<void> {
  const { identity, client, primary, signal } = pass;
  const { declaration, fieldManager, marks } = identity;
  const { resource, sets, statusSlice } = declaration;
  if (sets !== undefined) {
    const target = { resource, apiVersion: resource.apiVersion, kind: resource.kind };
    const returned = await applyOwnMetadata(client, target, primary.current(), {}, { fieldManager, signal });
    if (returned !== undefined) primary.written(returned);
  }
  if (statusSlice !== undefined) await giveUpStatus(pass);
  await releaseObject(client, resource, primary.current(), marks, { fieldManager, signal });
  primary.countWrite();
}

/** Sends Events. One that cannot be sent is a warning in the log, and fails no reconcile. */
export async function sendEvents(pass: Pass, events: readonly PendingEvent[]): Promise<void> {
  const { identity, client, log, primary, signal } = pass;
  const { finalizer: reportingController, now } = identity;
  for (const event of events) {
    if (signal.aborted) return;
    const object = primary.current();
    const sent = await recordEvent(client, { ...event, object, reportingController, now, signal });
    if (!sent.recorded) log.warn('event not recorded', { reason: event.reason, error: sent.error.message });
  }
}
