// The evidence of a reconcile of a kind that is not ours: an annotation with what it has observed.
import { setAnnotation } from '../kube/apply/finalizers.ts';
import type { Observation } from '../kube/apply/observation.ts';
import { isConflict, isNotFound } from '../kube/client/errors.ts';
import type { KubeObject } from '../kube/client/object.ts';
import type { Outcome } from './outcome.ts';
import type { PrimaryObject } from './primary-object.ts';
import type { SessionDeps } from './report.ts';

/**
 * Notes what a reconcile has observed, if the object does not show it. An object that has changed meanwhile is not
 * noted: that change has it reconciled again.
 * @param read the object that the reconcile was made from
 */
export async function noteObserved(
  observation: Observation | undefined,
  read: KubeObject,
  primary: PrimaryObject,
  { client, resource, fieldManager, signal }: SessionDeps,
): Promise<void> {
  if (observation === undefined) return;
  const { annotation } = observation;
  const value = observation.of(read);
  if (primary.current().metadata.annotations?.[annotation] === value) return;
  try {
    const options = { fieldManager, signal };
    primary.written(await setAnnotation(client, resource, primary.current(), { annotation, value }, options));
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}

/**
 * Notes that a failed reconcile has observed the change, as the status of an own kind does. Its retry or dead letter
 * has the change from now on. If the note cannot be written, the resync sends the key again.
 */
export async function noteFailed({ type }: Outcome, ...note: Parameters<typeof noteObserved>): Promise<void> {
  if (type !== 'postponed') await noteObserved(...note).catch(() => undefined);
}
