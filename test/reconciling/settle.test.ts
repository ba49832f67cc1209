// What each class of errors means for the status and for the message, and which message from the timers is superseded: pure
// tables. That the status is written is in reconcile-failures.test.ts.
import { describe, expect, it } from 'vitest';
import { defaultRetry } from '../../src/core/controller-options.ts';
import {
  IgnoredSignalError,
  InvalidSpecError,
  PolicyDeniedError,
  RetryLater,
  TerminalError,
} from '../../src/core/errors.ts';
import { ApiError, ConnectError } from '../../src/kube/client/errors.ts';
import { asOfNow } from '../../src/reconciling/pass/observe.ts';
import type { Ended, Task, Verdict } from '../../src/reconciling/pass/pass.ts';
import { eventsOf, type Facts, settle } from '../../src/reconciling/pass/settle.ts';
import { createStatusWriter } from '../../src/reconciling/status/status-writer.ts';
import { aMessage, asChange, asRequeue, asRetry } from '../sqs/messages.ts';
import { widget } from './widgets.ts';

const { declaration } = widget.controller('widget', {
  reconcile: async () => ({ status: {}, conditions: { Built: { status: 'True', reason: 'Built' } } }),
});
const facts = (more: Partial<Facts> = {}): Facts => ({
  task: 'reconcile',
  message: aMessage(),
  isDeleting: false,
  retry: defaultRetry,
  statusWriter: createStatusWriter(declaration),
  input: { owned: {}, generation: 2, now: new Date(0), declared: ['Built'] },
  ...more,
});
const threw = (error: unknown): Ended => ({ type: 'threw', error, isLate: false });
const api = (status: number, reason: string, causes: readonly object[] = []) =>
  new ApiError('PATCH /x', status, { kind: 'Status', reason, message: 'no', details: { causes } });
const terminating = api(403, 'Forbidden', [{ reason: 'NamespaceTerminating', message: 'going' }]);
/** The outcome, and the reasons of Ready and of the condition that tells of the error. */
const said = (verdict: Verdict) => {
  if (verdict.type === 'unwritten') return 'unwritten';
  const { outcome, status, warning } = verdict;
  const conditions = new Map((status?.conditions ?? []).map((one) => [one.type, `${one.status} ${one.reason}`]));
  const abnormal = conditions.has('Stalled') ? 'Stalled' : conditions.has('Reconciling') ? 'Reconciling' : undefined;
  return [outcome.type, conditions.get('Ready'), abnormal, warning !== undefined];
};

describe('settle', () => {
  const last = aMessage(asRetry({ attempt: defaultRetry.attempts - 1 }));
  const { namespace: _, ...elsewhere } = aMessage();
  it.each<[string, unknown, Partial<Facts>, unknown]>([
    ['an error', new Error('no'), {}, ['failed', 'Unknown Retrying', 'Reconciling', true]],
    [
      'an error of the last attempt',
      new Error('no'),
      { message: last },
      ['failed', 'False RetriesExhausted', 'Stalled', true],
    ],
    ['TerminalError', new TerminalError('no'), {}, ['terminal', 'False TerminalError', 'Stalled', true]],
    ['an invalid spec', new InvalidSpecError('no'), {}, ['terminal', 'False InvalidSpec', 'Stalled', true]],
    ['a policy’s refusal', new PolicyDeniedError('no'), {}, ['terminal', 'False PolicyDenied', 'Stalled', true]],
    ['RetryLater', new RetryLater(3), {}, ['postponed', 'Unknown RetryLater', 'Reconciling', false]],
    [
      'RetryLater of the last attempt',
      new RetryLater(3),
      { message: last },
      ['postponed', 'Unknown RetryLater', 'Reconciling', false],
    ],
    ['no connection', new ConnectError('no'), {}, 'unwritten'],
    ['a stale version', api(409, 'Conflict'), {}, 'unwritten'],
    ['the end of its own namespace', terminating, {}, 'unwritten'],
    [
      'the end of its own namespace while it is deleted',
      terminating,
      { isDeleting: true },
      ['failed', 'Unknown Retrying', 'Reconciling', true],
    ],
    [
      'the end of the namespace of a child',
      terminating,
      { message: elsewhere },
      ['postponed', 'Unknown NamespaceTerminating', 'Reconciling', false],
    ],
    ['undefined', undefined, {}, ['failed', 'Unknown Retrying', 'Reconciling', true]],
  ])('%s', (_, error, more, expected) => {
    expect(said(settle(facts(more), threw(error)))).toEqual(expected);
  });

  it.each<[Task, boolean]>([
    ['reconcile', true],
    ['finalize', true],
    ['leave', false],
  ])('a failure of the task %s writes a status: %s', (task, writes) => {
    const verdict = settle(facts({ task }), threw(new Error('no')));
    expect(verdict.type === 'written' && verdict.status !== undefined).toBe(writes);
  });

  it('an object that is finalized is released, and one that leaves the selection loses its marks', () => {
    const releaseOf = (task: Task) => {
      const verdict = settle(facts({ task }), { type: 'finalized', said: 'done' });
      return verdict.type === 'written' ? verdict.release : undefined;
    };
    expect([releaseOf('finalize'), releaseOf('leave')]).toEqual(['finalizer', 'marks']);
  });

  it('a result with an error and a time has the outcome of the error, with the time', () => {
    const requeueAt = new Date(7);
    const result = { status: {}, conditions: {}, error: new Error('no'), requeueAt };
    expect(settle(facts(), { type: 'returned', result })).toMatchObject({ outcome: { type: 'failed', requeueAt } });
  });

  it('a reconciler that still runs is a failed attempt with one Event of the runtime, and none of its own', () => {
    const ended = { type: 'still-running', error: new IgnoredSignalError('runs on') } as const;
    const verdict = settle(facts(), ended);
    expect(verdict).toMatchObject({ outcome: { type: 'failed' } });
    const own = { type: 'Normal', reason: 'Own', message: 'm' } as const;
    expect(eventsOf(verdict, ended, [own])).toMatchObject([{ type: 'Warning', reason: 'DeadlineExceeded' }]);
  });
});

describe('a message of an earlier generation, or of an earlier state,', () => {
  const retry = aMessage(asRetry({ attempt: 4, postponements: 2, conflicts: 1, later: 1, generation: 3 }));
  const requeue = aMessage(asRequeue({ generation: 3 }));
  const merged = (...causes: readonly ReturnType<typeof aMessage>['cause'][]) => ({ count: causes.length, causes });
  it.each([
    ['is superseded by a reconcile of a later one', retry, { now: 4, observed: 4 }, undefined],
    ['is superseded, a requeue too', requeue, { now: 9, observed: 9 }, undefined],
    ['is not, in the same generation', retry, { now: 3, observed: 3 }, retry],
    ['is not, where the status shows nothing', retry, undefined, retry],
    [
      'is not, without a generation',
      aMessage(asRetry({ attempt: 1 })),
      { now: 4, observed: 4 },
      aMessage(asRetry({ attempt: 1 })),
    ],
    [
      'is the first attempt of one that was not reconciled',
      retry,
      { now: 4, observed: 3 },
      aMessage(asRetry({ generation: 3 })),
    ],
    [
      'is kept if a change was merged into it',
      { ...requeue, merged: merged(asChange().cause) },
      { now: 4, observed: 4 },
      { ...requeue, merged: merged(asChange().cause) },
    ],
    [
      'of a failure that is over is a requeue like any other',
      aMessage(asRequeue({ failed: true, generation: 4 })),
      { now: 4, observed: 4, isFailing: false },
      aMessage(asRequeue({ generation: 4 })),
    ],
    [
      'of a failure that lasts starts no retries',
      aMessage(asRequeue({ failed: true, generation: 4 })),
      { now: 4, observed: 4 },
      aMessage(asRequeue({ failed: true, generation: 4 })),
    ],
    [
      'is superseded with another of its kind',
      { ...retry, merged: merged(requeue.cause) },
      { now: 4, observed: 4 },
      undefined,
    ],
  ])('%s', (_, message, generations, expected) => {
    expect(asOfNow(message, generations && { isFailing: true, ...generations })).toEqual(expected);
  });
});
