// Pure tables of a pass: what each class of errors means for the status and for the message, which message from the timers
// is superseded, and which reconcile follows a write of its own. That the status is written is in reconcile-failures.test.ts.
import { describe, expect, it } from 'vitest';
import { defaultRetry } from '../../src/core/controller-options.ts';
import {
  IgnoredSignalError,
  InvalidSpecError,
  PolicyDeniedError,
  RetryLater,
  TerminalError,
} from '../../src/core/errors.ts';
import { ConnectError, isConflict } from '../../src/kube/client/errors.ts';
import { asOfNow } from '../../src/reconciling/pass/observe.ts';
import type { Ended, Task, Verdict } from '../../src/reconciling/pass/pass.ts';
import { followsOwnWrite } from '../../src/reconciling/pass/report-pass.ts';
import { eventsOf, type Facts, settle } from '../../src/reconciling/pass/settle.ts';
import { createPrimaryObject } from '../../src/reconciling/primary-object.ts';
import { createStatusWriter } from '../../src/reconciling/status/status-writer.ts';
import type { Cause, Message } from '../../src/sqs/message.ts';
import { aMessage, asChange, asRequeue, asRetry } from '../sqs/messages.ts';
import { api, terminating, widget } from './widgets.ts';

const { declaration } = widget.controller('widget', {
  reconcile: async () => ({ status: {}, conditions: { Built: { status: 'True', reason: 'Built' } } }),
});
const facts = (more: Partial<Facts> = {}): Facts => ({
  task: 'reconcile',
  message: aMessage(),
  isDeleting: false,
  retry: defaultRetry,
  mayBeStalled: true,
  statusWriter: createStatusWriter(declaration),
  input: { owned: {}, generation: 2, now: new Date(0) },
  ...more,
});
const threw = (error: unknown): Ended => ({ type: 'threw', error, isLate: false });
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
  const retried = ['failed', 'Unknown Retrying', 'Reconciling', true];
  const ended = (outcome: string, reason: string) => [outcome, `False ${reason}`, 'Stalled', true];
  const waits = (reason: string) => ['postponed', `Unknown ${reason}`, 'Reconciling', false];
  it.each<[string, unknown, Partial<Facts>, unknown]>([
    ['an error', new Error('no'), {}, retried],
    ['an error of the last attempt', new Error('no'), { message: last }, ended('failed', 'RetriesExhausted')],
    ['TerminalError', new TerminalError('no'), {}, ended('terminal', 'TerminalError')],
    ['an invalid spec', new InvalidSpecError('no'), {}, ended('terminal', 'InvalidSpec')],
    ['a policy’s refusal', new PolicyDeniedError('no'), {}, ended('terminal', 'PolicyDenied')],
    ['RetryLater', new RetryLater(3), {}, waits('RetryLater')],
    ['RetryLater of the last attempt', new RetryLater(3), { message: last }, waits('RetryLater')],
    ['no connection', new ConnectError('no'), {}, 'unwritten'],
    ['a stale version', api(409, 'Conflict'), {}, 'unwritten'],
    ['the end of its own namespace', terminating, {}, 'unwritten'],
    ['the end of its own namespace while it is deleted', terminating, { isDeleting: true }, retried],
    ['the end of the namespace of a child', terminating, { message: elsewhere }, waits('NamespaceTerminating')],
    ['undefined', undefined, {}, retried],
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

  it('X24: a Warning of the author’s own replaces that of the runtime', () => {
    const verdict = settle(facts(), threw(new Error('no')));
    const recorded = (type: 'Normal' | 'Warning') => ({ type, reason: 'Own', message: 'm' });
    const reasons = (...events: Parameters<typeof eventsOf>[2]) =>
      eventsOf(verdict, threw(''), events).map(({ reason }) => reason);
    expect(reasons(recorded('Warning'))).toEqual(['Own']);
    expect(reasons(recorded('Normal'))).toEqual(['Own', 'ReconcileFailed']);
  });
});

describe('a message of an earlier generation, or of an earlier state,', () => {
  const retry = aMessage(asRetry({ attempt: 4, postponements: 2, conflicts: 1, later: 1, generation: 3 }));
  const requeue = aMessage(asRequeue({ generation: 3 }));
  const merged = (...causes: readonly ReturnType<typeof aMessage>['cause'][]) => ({ count: causes.length, causes });
  const failed = (more: Parameters<typeof asRequeue>[0]) => aMessage(asRequeue({ ...more, generation: 4 }));
  const changed = { ...requeue, merged: merged(asChange().cause) };
  const withoutGeneration = aMessage(asRetry({ attempt: 1 }));
  const done = { now: 4, observed: 4 };
  it.each([
    ['is superseded by a reconcile of a later one', retry, done, undefined],
    ['is superseded, a requeue too', requeue, { now: 9, observed: 9 }, undefined],
    ['is superseded with another of its kind', { ...retry, merged: merged(requeue.cause) }, done, undefined],
    ['is not, in the same generation', retry, { now: 3, observed: 3 }, retry],
    ['is not, where the status shows nothing', retry, undefined, retry],
    ['is not, without a generation', withoutGeneration, done, withoutGeneration],
    ['is the first attempt if none observed it', retry, { now: 4, observed: 3 }, aMessage(asRetry({ generation: 3 }))],
    ['is kept if a change was merged into it', changed, done, changed],
    ['of a failure that is over is like any', failed({ failed: true }), { ...done, isFailing: false }, failed({})],
    ['of a failure that lasts starts no retries', failed({ failed: true }), done, failed({ failed: true })],
  ])('%s', (_, message, generations, expected) => {
    expect(asOfNow(message, generations && { isFailing: true, ...generations })).toEqual(expected);
  });
});

it('an object that a write returns without the finalizer that was read is a conflict, and is not stored', () => {
  const finalizer = 'outrigger.dev/widget';
  const metadata = { name: 'one', uid: 'u', resourceVersion: '1', finalizers: [finalizer] };
  const read = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
  const own = { conditions: [], fields: [], sharedFields: [] };
  const primary = createPrimaryObject(read, { fieldManager: 'm', finalizer, statusWriter: { own } });
  const returned = { ...read, metadata: { ...metadata, resourceVersion: '2', finalizers: [] } };
  expect(() => primary.written(returned)).toThrow(expect.toSatisfy(isConflict));
  expect(primary.current()).toBe(read);
});

const own = 'outrigger-size-label';
const change: Cause = { type: 'change', uid: 'u', resourceVersion: '7', observedAt: 1 };
const ofChild: Cause = { ...change, object: ['apps', 'deployments', 'shop', 'web'] };
const at = (manager: string, second: number, subresource?: string) => ({
  manager,
  time: `2026-01-01T00:00:0${second}Z`,
  ...(subresource === undefined ? {} : { subresource }),
});

it.each<[string, Pick<Message, 'cause' | 'merged'>, readonly ReturnType<typeof at>[], boolean, string?]>([
  ['its own write', { cause: change }, [at('kubectl', 1), at(own, 2)], true],
  ['its own status', { cause: change }, [at('kubectl', 1), at(own, 2, 'status')], true],
  ['several of its own writes', { cause: change, merged: { count: 1, causes: [change] } }, [at(own, 2)], true],
  ['a write of another client', { cause: change }, [at(own, 1), at('kubectl', 2)], false],
  ['a write of another client in the same second', { cause: change }, [at(own, 2), at('kubectl', 2)], false],
  ['a change of a child', { cause: ofChild }, [at(own, 2)], false],
  ['its own write and one of a child', { cause: change, merged: { count: 1, causes: [ofChild] } }, [at(own, 2)], false],
  ['no managed fields', { cause: change }, [], false],
  ['its own write after a deletion', { cause: change }, [at(own, 6)], true, '2026-01-01T00:00:05Z'],
  ['a deletion after its own write', { cause: change }, [at(own, 2)], false, '2026-01-01T00:00:05Z'],
])('a reconcile that follows %s is found out (row %#)', (_, message, fields, expected, deletionTimestamp) => {
  const object = { metadata: { name: 'web', managedFields: [...fields], deletionTimestamp } };
  expect(followsOwnWrite(message, object, own)).toBe(expected);
});
