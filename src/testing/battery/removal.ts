// The deletion of an object in a check: until it is gone, and what must be left of it in the outside system.
import { isRecord } from '../../core/json.ts';
import { finalizerOf } from '../../core/names.ts';
import { expressionsOf, type LabelExpression } from '../../core/selector.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import type { KubeObject } from '../../kube/client/object.ts';
import { converged, describe, expectSame, fail } from './report.ts';
import { pathOf, requeueSeconds, type Stage } from './stage.ts';

/** What an author overlooks in finalize. */
export const lostKey =
  'an object that left the selection has lost the label or annotation that finalize may read: find its records by ' +
  'its uid, or in the status';

/** Reconciles until nothing is written. Returns what the outside system must have after the object was deleted. */
export async function convergedBeforeDeletion(stage: Stage): Promise<unknown> {
  const before = await stage.outsideState();
  await converged(stage);
  return stage.options.keepsOutside ? await stage.outsideState() : before;
}

/** Fails a check unless the outside system has what must be left of the object. */
export async function expectLeft(stage: Stage, left: unknown, when: string, hint = ''): Promise<void> {
  expectSame(
    { 'the outside system': await stage.outsideState() },
    { 'the outside system': left },
    when,
    stage.options.keepsOutside
      ? 'leave the records as they are in finalize, or run the samples whose records go without keepsOutside'
      : "return 'done' from finalize only when nothing of the object is left, and throw what a call throws; for " +
          `records that stay on purpose, give the battery keepsOutside${hint}`,
  );
}

/** Deletes the object and reconciles until it is gone. */
export async function removed(
  stage: Stage,
  options: { readonly propagationPolicy?: 'Orphan' } = {},
  change = 'return from finalize when nothing is left to do, also when it was gone before',
): Promise<void> {
  const subject = await stage.subject();
  if (subject === undefined) return;
  try {
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...options };
    await stage.client.request({ method: 'DELETE', path: pathOf(stage.kind, subject), body });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  const { last, object: left } = await finalized(stage, (object) => object === undefined);
  if (left === undefined) return;
  const { finalizers = [] } = isRecord(left.metadata) ? left.metadata : {};
  fail(`the deleted object stays with ${finalizers.join(', ')}; the last reconcile ended as ${describe(last)}`, change);
}

/**
 * Changes the labels and annotations of the object so that the selector does not match, and reconciles until the
 * controller has removed its finalizer.
 * Returns false if it selects by none, or has no finalizer.
 */
export async function deselected(stage: Stage): Promise<boolean> {
  const { name, declaration } = stage.controller;
  const { annotations = [], ...selector } = declaration.selector ?? {};
  const labels = expressionsOf(selector).map((one) => [one.key, unselected(one)] as const);
  const subject = await stage.subject();
  if (!declaration.finalizes || labels.length + annotations.length === 0 || subject === undefined) return false;
  const withoutAnnotations = Object.fromEntries(annotations.map((key) => [key, null]));
  const body = { metadata: { labels: Object.fromEntries(labels), annotations: withoutAnnotations } };
  const path = pathOf(stage.kind, subject);
  await stage.client.request({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
  const isHeld = (object: KubeObject | undefined) => object?.metadata.finalizers?.includes(finalizerOf(name)) === true;
  const { last, object } = await finalized(stage, (one) => !isHeld(one));
  if (!isHeld(object)) return true;
  fail(
    `the object that left the selection keeps its finalizer; the last reconcile ended as ${describe(last)}`,
    lostKey,
  );
}

/** A value of the label that the expression does not match; null removes the label. */
function unselected({ operator, values }: LabelExpression): string | null {
  if (operator === 'DoesNotExist') return '';
  return operator === 'NotIn' ? (values[0] ?? null) : null;
}

/** Reconciles, each time when its requeue is due, until the object is as wanted. */
async function finalized(stage: Stage, isAsWanted: (object: KubeObject | undefined) => boolean) {
  let last = await stage.poll();
  for (let time = 0; time < 10 && !isAsWanted(await stage.subject()); time += 1) {
    stage.advance(Math.max(0, requeueSeconds(last, stage.now()) ?? 0));
    last = await stage.poll();
  }
  return { last, object: await stage.subject() };
}
