// How a dry run is printed: the changes as a diff, the outcome, and the exit status.
import { formatReconcileKey } from 'outrigger/internal/core/key';
import { maskSecrets, redact } from 'outrigger/internal/core/redact';
import type { ChangedField } from 'outrigger/internal/kube/dry-run/changed-fields';
import type { PlannedChange } from 'outrigger/internal/kube/dry-run/dry-run-client';
import type { Outcome } from 'outrigger/internal/reconciling/outcome';
import { keyOfMessage } from 'outrigger/internal/sqs/message';
import type { DryRunEnd } from './process.ts';

/** Formats the end of a dry run: the changes up to the first call that was refused, and the outcome. */
export function endLines(end: DryRunEnd): readonly string[] {
  const [call] = end.refused;
  const refusal =
    call === undefined
      ? []
      : [`it would call ${redact(call)}, which a dry run does not do; the rest depends on the response`];
  if (end.type === 'unknown') return [...refusal, `its end is not known: ${redact(end.reason)}`];
  const { outcome, changes, keys, changesBeforeRefused } = end;
  const sent = keys.map((key) => `send ${redact(formatReconcileKey(keyOfMessage(key)))}`);
  const lines = [...changes.slice(0, changesBeforeRefused).flatMap(changeLines), ...sent];
  if (refusal.length > 0) return [...lines, ...refusal];
  return [...lines, ...(changes.length + keys.length === 0 ? ['no change'] : []), outcomeLine(outcome)];
}

/** 1 if the reconcile would fail or its end is not known; with --exit-code 2 if it would change something; else 0. */
export function exitStatus(end: DryRunEnd, exitCode: boolean): number {
  if (end.type === 'unknown' || end.refused.length > 0) return 1;
  if (end.outcome.type !== 'done' && end.outcome.type !== 'nothing') return 1;
  return exitCode && end.changes.some(isPending) ? 2 : 0;
}

/** Whether a change is one of the cluster. An Event, and an apply that alters no field, are none. */
export function isPending(change: PlannedChange): boolean {
  return change.type === 'change' ? change.fields.length > 0 : change.type !== 'event';
}

/** Formats one change: `change Dinner default/one (status)` and its fields, `+` added, `-` removed, `~` changed. */
function changeLines(change: PlannedChange): readonly string[] {
  switch (change.type) {
    case 'event':
      return [`event ${redact(change.text)}`];
    case 'command':
      return [`run in pod ${redact(change.pod)}, container ${change.container}: ${redact(change.command.join(' '))}`];
    case 'delete':
      return [`delete ${redact(change.object)}`];
    default:
      return [`${change.type} ${redact(change.object)}`, ...change.fields.map(fieldLine)];
  }
}

/** Formats the outcome: what the function would do with its message. */
function outcomeLine(outcome: Outcome): string {
  switch (outcome.type) {
    case 'done':
      if (outcome.requeueAt !== undefined)
        return `the reconcile succeeds, and is requeued at ${outcome.requeueAt.toISOString()}`;
      return outcome.requeueAfterSeconds === undefined
        ? 'the reconcile succeeds'
        : `the reconcile succeeds, and is requeued after about ${outcome.requeueAfterSeconds} s`;
    case 'nothing':
      return `nothing to reconcile: ${nothingReasons[outcome.reason]}`;
    case 'postponed':
      return `the reconcile is postponed (${outcome.reason}): ${redact(outcome.error.message)}`;
    case 'failed':
      return `the reconcile fails, and is retried: ${redact(outcome.error.message)}`;
    case 'terminal':
      return `the reconcile fails, and is not retried: ${redact(outcome.error.message)}`;
    case 'refused':
      return `the message is refused: ${redact(outcome.error.message)}`;
  }
}

const nothingReasons = {
  held: 'the object has got its finalizer, and is reconciled next',
  decommissioning: 'the cluster is being decommissioned',
  superseded: 'a reconcile of a later generation has decided what follows',
  gone: 'the object does not exist',
  'namespace-terminating': 'its namespace is being deleted',
  paused: 'the object is paused (annotation outrigger.dev/paused)',
  'not-selected': 'the selector of the controller does not match it',
  'no-finalizer': 'the object is being deleted, and has no finalizer of this controller',
} as const;

function fieldLine({ path, before, after }: ChangedField): string {
  if (before === undefined) return `  + ${path}: ${formatValue(after)}`;
  if (after === undefined) return `  - ${path}: ${formatValue(before)}`;
  return `  ~ ${path}: ${formatValue(before)} → ${formatValue(after)}`;
}

/** Formats a value as JSON, which is also YAML, and which escapes control sequences of a terminal. */
function formatValue(value: unknown): string {
  return maskSecrets(JSON.stringify(value) ?? '');
}
