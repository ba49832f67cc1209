// An object that is gone although it had the controller's finalizer when it was read: another function has finalized it
// beside this one, or kube-apiserver has completed a DELETE that it decided before the finalizer was added (decision
// 0018). What the author's code has made since then would be left behind.
import { errorText, toError } from '../../core/errors.ts';
import type { KubeObject, ResourceName } from '../../kube/client/object.ts';
import { getObject } from '../../kube/client/read.ts';
import { jsonForSqs } from '../../sqs/body.ts';
import type { Orphan, ReconcileReport } from '../report.ts';
import { callFor } from './author-call.ts';
import type { Pass, Progress } from './pass.ts';

/** Returns the first pass in which the author's code may have made something that only its finalize removes. */
export function effectsOf({ earlier, pass, called }: Progress): Pass | undefined {
  const hasEffects = called !== undefined && pass?.task === 'reconcile' && pass.identity.declaration.finalizes;
  return earlier ?? (hasEffects ? pass : undefined);
}

/** Returns whether a later pass has read that the object of this one is gone, or another one of its name. */
export function isLost(effects: Pass, latest: Pass | undefined, { outcome }: ReconcileReport): boolean {
  if (outcome.type === 'nothing' && outcome.reason === 'gone') return true;
  return latest !== undefined && latest.read.metadata.uid !== effects.read.metadata.uid;
}

/** Part of the time in which a failure is reported after the deadline. */
const lastReadMs = 500;

/** Returns whether the object is gone, after the deadline: there is no later pass. Rejects if it cannot be read. */
export async function seemsGone({ client, identity, message, read }: Pass): Promise<boolean> {
  const signal = AbortSignal.timeout(lastReadMs);
  const fresh = await getObject(client, identity.declaration.resource, message, { signal });
  return fresh?.metadata.uid !== read.metadata.uid;
}

/** Calls finalize once. Returns the object for a dead letter if that is not done. Never rejects. */
export async function finalizeLost(pass: Pass): Promise<Orphan | undefined> {
  const { uid = '' } = pass.read.metadata;
  pass.log.warn('object deleted in spite of its finalizer; finalizing it now', { uid });
  const { ended } = await callFor({ ...pass, task: 'finalize' });
  if (ended.type === 'finalized' && ended.said === 'done') return undefined;
  const why = 'error' in ended ? errorText(toError(ended.error)) : 'finalize was not done';
  pass.log.error('finalize failed after deletion; external resources may be orphaned', { error: why, uid });
  return orphanOf(pass, `finalize failed after deletion of ${uid}: ${why}`);
}

/** Makes the orphan of an object that is gone, or may be. */
export function orphanOf({ identity, read }: Pass, reason: string): Orphan {
  return { uid: read.metadata.uid ?? '', reason, object: formatOrphan(identity.declaration.resource, read) };
}

/** SQS accepts 256 KiB in one batch, and the message has a body and other attributes too. */
const maxBytes = 200 * 1024;
/** A copy of the whole object, which may be a Secret. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Returns an object as JSON for a dead letter, at most 200 KiB. Spec and status are kept as they were read. Left out
 * are the managed fields, kubectl's copy of the object, and the data of a Secret. If the object is too large, its
 * status is left out, and then everything but its identity, labels and owners.
 */
export function formatOrphan(resource: ResourceName, object: KubeObject): string {
  const { managedFields: _managedFields, annotations, ...metadata } = object.metadata;
  const kept = Object.entries(annotations ?? {}).filter(([name]) => name !== lastApplied);
  const { data: _data, stringData: _stringData, ...withoutData } = object;
  const isSecret = resource.group === '' && resource.plural === 'secrets';
  const whole = {
    ...(isSecret ? withoutData : object),
    metadata: { ...metadata, annotations: kept.length === 0 ? undefined : Object.fromEntries(kept) },
  };
  const { status: _status, ...withoutStatus } = whole;
  const { apiVersion, kind } = object;
  const { name, namespace, uid, creationTimestamp, labels, ownerReferences } = metadata;
  const identity = { apiVersion, kind, metadata: { name, namespace, uid, creationTimestamp } };
  const related = { ...identity, metadata: { ...identity.metadata, labels, ownerReferences } };
  const texts = [whole, withoutStatus, related, identity].map(jsonForSqs);
  return texts.find((text) => Buffer.byteLength(text) <= maxBytes) ?? '';
}
