// Likely errors in the code that all controllers share: which changes are forwarded to which objects, and how messages end.
import { type Mutant, swap } from './mutant.ts';

const forward = 'src/forwarding/predicates.ts';
const references = 'src/forwarding/tracked-objects.ts';
const outcome = 'src/reconciling/outcome.ts';
const events = 'src/kube/apply/events.ts';

/** Which objects are reconciled after a change. */
export const wakingMutants: readonly Mutant[] = [
  swap(
    'forwards any owner, not only the controlling one',
    references,
    'owners.find(({ controller }) => controller)',
    'owners[0]',
  ),
  swap(
    'ignores the API group of an owner',
    references,
    "return ownerKind === kind && (slash === -1 ? '' : apiVersion.slice(0, slash)) === group;",
    'return ownerKind === kind;',
  ),
  swap(
    'forwards only the new owner when an object gets another owner',
    forward,
    'for (const each of [...keysBefore, ...keysAfter]) {',
    'for (const each of keysAfter.length > 0 ? keysAfter : keysBefore) {',
  ),
  swap(
    'forwards no key for a deleted object',
    forward,
    'if (latest === undefined) return [];',
    "if (latest === undefined || change.type !== 'changed') return [];",
  ),
  swap(
    'forwards changes of labels and status too',
    forward,
    "if (predicate !== 'generation' || after.generation === undefined) {",
    'if (true) {',
  ),
  swap(
    'forwards owners for changes of specs alone',
    forward,
    "if (predicate !== 'generation' || after.generation === undefined) {",
    'if (after.generation === undefined) {',
  ),
];

/** How a message ends. */
export const deliveryMutants: readonly Mutant[] = [
  swap(
    'retries after the same delay each time',
    'src/core/backoff.ts',
    'firstSeconds * factor ** Math.min(Math.max(failures - 1, 0), 30)',
    'firstSeconds',
  ),
  swap('does not retry', outcome, 'if (isLastTry(message, outcome.stalledBefore, policy))', 'if (true)'),
  swap('retries for ever', outcome, 'return attemptOf(message) + 1 >= attempts;', 'return false;'),
  swap(
    'ignores requeueAfterSeconds',
    outcome,
    'return requeueAfterSeconds === undefined ? undefined',
    'return requeueAfterSeconds !== 0 ? undefined',
  ),
  swap(
    'retries the key of a deleted object',
    'src/reconciling/pass/observe.ts',
    "if (read === undefined) return nothing('gone');",
    "if (read === undefined) throw new Error('gone');",
  ),
  swap(
    'takes an unobserved generation for observed in the resync',
    'src/resync/plan.ts',
    'if (isObserved(object)) return undefined;',
    'return undefined;',
  ),
];

/** Events. */
export const eventMutants: readonly Mutant[] = [
  swap(
    'makes a new Event each time',
    events,
    'JSON.stringify([metadata.uid, kind, type, reason, identity])',
    'JSON.stringify([metadata.uid, kind, type, reason, identity, Math.random()])',
  ),
  swap('does not count a repeated Event', events, 'const count = (await patch({})) + 1;', 'const count = 1;'),
];

/** Messages. */
export const travelMutants: readonly Mutant[] = [
  swap(
    'sends more than a key',
    'src/forwarding/forwarder.ts',
    'body: formatMessage({ ...target, cause, clusterUid, ...merged, ...withStrays(strays) }),',
    'body: JSON.stringify({ ...JSON.parse(formatMessage({ ...target, cause, ...merged })), labels: {} }),',
  ),
  swap(
    'takes messages of other controllers',
    'src/reconciling/group-records.ts',
    'if (parsed.controller !== controller)',
    'if (false)',
  ),
  swap(
    'takes any text for a name',
    'src/sqs/body.ts',
    ".refine(isPathSegment, { message: 'must be one path segment' })",
    '',
  ),
  swap(
    'delays a message longer than SQS allows',
    'src/timers/slots.ts',
    'if (remaining <= maxDelaySeconds) return',
    'if (remaining > 0) return',
  ),
  swap(
    'forwards what is due within ten minutes',
    'src/timers/timer-message.ts',
    'const earlyMs = 1_000;',
    'const earlyMs = 600_000;',
  ),
];

/** Reads and writes. */
export const accessMutants: readonly Mutant[] = [
  swap(
    'removes the finalizers of others with its own',
    'src/kube/apply/finalizers.ts',
    'const rest = finalizers.filter((one) => one !== finalizer);',
    'const rest: string[] = [];',
  ),
  swap(
    'overwrites the fields of others in a child',
    'src/kube/apply/apply.ts',
    'contentType: applyPatchType,\n    body: object,',
    "contentType: 'application/merge-patch+json',\n    body: object,",
  ),
  swap(
    'writes its status to the object, not to its subresource',
    'src/kube/apply/apply.ts',
    "const path = objectPath(resource, key, 'status');",
    'const path = objectPath(resource, key);',
  ),
];

/** The scope of reads. */
export const placeMutants: readonly Mutant[] = [
  swap(
    'lists the whole cluster instead of a namespace',
    'src/reconciling/context/context.ts',
    "namespace: namespaceOf(kind, namespace === '*' ? undefined : namespace),",
    '',
  ),
];

/** Stale versions. */
export const staleMutants: readonly Mutant[] = [
  swap(
    'gives up at the first stale version',
    'src/reconciling/reconcile.ts',
    'const maxPasses = 3;',
    'const maxPasses = 1;',
  ),
];
