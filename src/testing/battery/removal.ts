// The deletion of an object in a check: until it is gone, and what must be left of it in the outside system.
import { isRecord } from '../../core/json.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import { converged, describe, expectSame, fail } from './report.ts';
import { pathOf, requeueSeconds, type Stage } from './stage.ts';

/** Reconciles until nothing is written. Returns what the outside system must have after the object was deleted. */
export async function convergedBeforeDeletion(stage: Stage): Promise<unknown> {
  const before = await stage.outsideState();
  await converged(stage);
  return stage.options.keepsOutside ? await stage.outsideState() : before;
}

/** Fails a check unless the outside system has what must be left of the object. */
export async function expectLeft(stage: Stage, left: unknown, when: string): Promise<void> {
  expectSame(
    { 'the outside system': await stage.outsideState() },
    { 'the outside system': left },
    when,
    stage.options.keepsOutside
      ? 'leave the records as they are in finalize, or run the samples whose records go without keepsOutside'
      : "return 'done' from finalize only when nothing of the object is left, and throw what a call throws; for " +
          'records that stay on purpose, give the battery keepsOutside',
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
  let last = await stage.poll();
  for (let time = 0; time < 10 && (await stage.subject()) !== undefined; time += 1) {
    stage.advance(Math.max(0, requeueSeconds(last, stage.now()) ?? 0));
    last = await stage.poll();
  }
  const left = await stage.subject();
  if (left !== undefined) {
    const { finalizers = [] } = isRecord(left.metadata) ? left.metadata : {};
    fail(
      `the deleted object stays with ${finalizers.join(', ')}; the last reconcile ended as ${describe(last)}`,
      change,
    );
  }
}
