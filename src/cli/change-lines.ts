// What a played reconcile would have done, as lines for a terminal: one for each object or command, and below it one for each field.
import { conceal, redact } from '../core/redact.ts';
import type { ChangedField } from '../kube/changed-fields.ts';
import type { Change } from '../kube/dry-run/dry-run-client.ts';
import type { Outcome } from '../runtime/outcome.ts';

/** Writes one change: `change Dinner default/one (status)` and its fields, `+` new, `-` gone, `~` another value. */
export function changeLines(change: Change): readonly string[] {
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

/** Says how it ended: what the function would do with its message. */
export function outcomeLine(outcome: Outcome): string {
  switch (outcome.type) {
    case 'done':
      return outcome.requeueAfterSeconds === undefined
        ? 'then it is done'
        : `then it is done, until it is asked again in about ${outcome.requeueAfterSeconds} s`;
    case 'nothing':
      return `nothing is done: ${why[outcome.why]}`;
    case 'deferred':
      return `it is put off (${outcome.why}): ${redact(outcome.error.message)}`;
    case 'failed':
      return `it fails, and is tried again: ${redact(outcome.error.message)}`;
    case 'terminal':
      return `it fails, until the object changes: ${redact(outcome.error.message)}`;
    case 'refused':
      return `it is refused: ${redact(outcome.error.message)}`;
  }
}

const why = {
  gone: 'the object is not there',
  'namespace-terminating': 'its namespace is being deleted',
  paused: 'it is paused (annotation outrigger.dev/paused)',
  'not-ours': 'it is being deleted, and has no finalizer of this controller',
} as const;

function fieldLine({ path, before, after }: ChangedField): string {
  if (before === undefined) return `  + ${path}: ${show(after)}`;
  if (after === undefined) return `  - ${path}: ${show(before)}`;
  return `  ~ ${path}: ${show(before)} → ${show(after)}`;
}

/** As JSON, which is YAML, and which escapes what a terminal would obey. */
function show(value: unknown): string {
  return conceal(JSON.stringify(value) ?? '');
}
