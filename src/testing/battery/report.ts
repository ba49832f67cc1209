// The messages of the checks: what happened, and what to change in the reconciler.
import { isDeepStrictEqual } from 'node:util';
import type { Outcome } from '../../reconciling/outcome.ts';
import { BatteryError } from './contract.ts';
import { isWrite, lineOf, type Stage } from './stage.ts';

/** What to change, if a child is not written again on purpose. */
export const giveCreatedOnce =
  'for a child that is created once on purpose, such as the Job of a schedule, give the battery createdOnce';

/** Why the checks of finalize have nothing to check. */
export const noFinalize = 'the controller has no finalize';

/** Fails a check. A test's runner shows the stack of the cause. */
export function fail(happened: string, change: string, cause?: Error): never {
  const sentence = /[.!?]$/.test(happened) ? happened : `${happened}.`;
  throw new BatteryError(`${sentence} What to change: ${change}.`, cause === undefined ? undefined : { cause });
}

/** Fails a check unless two states are equal. The message has the first difference. */
export function expectSame(is: unknown, wanted: unknown, when: string, change: string): void {
  if (isDeepStrictEqual(is, wanted)) return;
  const [path, now, before] = firstDifference(is, wanted);
  const isStatus = path.includes('.owned.status.') && !path.includes('.owned.status.conditions');
  const ignore = isStatus ? '; for a field that changes with an outside system, give the battery ignoreStatus' : '';
  fail(`${when}, ${path} is ${text(now)} instead of ${text(before)}`, `${change}${ignore}`);
}

/** Reconciles until nothing is written. Fails the check with the writes that do not end, or with the error. */
export async function converged(stage: Stage): Promise<void> {
  const end = await stage.settle();
  if (end?.type === 'terminal' && !stage.options.allowTerminalErrors) {
    fail(
      `${stage.kind.kind} ${stage.key.name} ends in a TerminalError: ${end.error.message}`,
      'throw TerminalError only for what no retry can heal, and give a sample that the controller accepts; ' +
        'for one that it refuses on purpose, give the battery allowTerminalErrors',
    );
  }
  if (end !== undefined) return;
  const before = new Set((await stage.children()).map(({ object }) => object.metadata.uid));
  const outcome = await stage.reconcile();
  // A refused write is a write, so that an object whose child a policy refuses does not settle.
  if (outcome.type === 'failed' || outcome.type === 'terminal') {
    const { error } = outcome;
    const change = 'the reconciler where it throws this, or the settings, secrets, objects and crds of the test';
    fail(`the reconcile of the sample fails: ${error.message}`, change, error);
  }
  if (outcome.type === 'refused' || outcome.type === 'postponed') {
    fail(`the sample does not converge: its reconcile ends as ${describe(outcome)}`, 'give a sample that gets Ready');
  }
  const children = await stage.children();
  const created = children.find(({ object }) => !before.has(object.metadata.uid));
  if (created !== undefined && children.length > before.size) {
    const child = `${created.kind.kind} ${created.object.metadata.name}`;
    fail(
      `every reconcile of an unchanged object creates one more child: ${child} is number ${children.length}`,
      'give a child the name that follows from its owner, without a random value or the time of the reconcile',
    );
  }
  const writes = stage.requests.filter(isWrite).map(lineOf);
  fail(
    `a converged object is written again by every reconcile: ${writes.join(', ')}`,
    'leave times, random values and counters out of children and status, or derive them from what is there',
  );
}

/** An outcome in words. */
export function describe(outcome: Outcome): string {
  const reason = 'reason' in outcome ? ` (${outcome.reason})` : '';
  const error = 'error' in outcome ? `: ${outcome.error.message}` : '';
  return `${outcome.type}${reason}${error}`;
}

type Difference = readonly [path: string, is: unknown, wanted: unknown];

/** Returns the path of the first difference of two values, and both values there. */
export function firstDifference(is: unknown, wanted: unknown, path = ''): Difference {
  if (typeof is !== 'object' || typeof wanted !== 'object' || is === null || wanted === null) {
    return [path === '' ? 'the state' : path, is, wanted];
  }
  const [left, right]: Readonly<Record<string, unknown>>[] = [{ ...is }, { ...wanted }];
  for (const field of new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})])) {
    if (!isDeepStrictEqual(left?.[field], right?.[field])) {
      return firstDifference(left?.[field], right?.[field], path === '' ? field : `${path}.${field}`);
    }
  }
  return [path, is, wanted];
}

const longest = 200;

/** Returns the beginning of a value as JSON. */
export function text(value: unknown): string {
  const json = value === undefined ? 'absent' : JSON.stringify(value);
  return json.length > longest ? `${json.slice(0, longest)}…` : json;
}
