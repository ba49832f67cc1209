// What somebody might well get wrong in the machinery that all controllers share: who is woken by what, and what becomes of a message.
import { type Mutant, swap } from './mutant.ts';

const forward = 'src/forwarding/predicates.ts';
const outcome = 'src/reconciling/outcome.ts';
const events = 'src/kube/apply/events.ts';

/** Who is woken. */
export const wakingMutants: readonly Mutant[] = [
  swap(
    'wakes any owner, not only the one that controls',
    forward,
    'head.owners.find(({ controller }) => controller)',
    'head.owners[0]',
  ),
  swap(
    'takes owners of one kind in any group for the same',
    forward,
    "return ownerKind === kind && (slash === -1 ? '' : apiVersion.slice(0, slash)) === group;",
    'return ownerKind === kind;',
  ),
  swap(
    'wakes the new owner alone when an object changes hands',
    forward,
    'for (const each of [...old, ...now]) {',
    'for (const each of now.length > 0 ? now : old) {',
  ),
  swap(
    'wakes nobody for an object that is gone',
    forward,
    'if (last === undefined) return [];',
    "if (last === undefined || happening.type === 'gone') return [];",
  ),
  swap(
    'wakes for changes of labels and of status too',
    forward,
    "if (predicate !== 'generation' || after.generation === undefined) {",
    'if (true) {',
  ),
  swap(
    'wakes owners for changes of specs alone',
    forward,
    "if (predicate !== 'generation' || after.generation === undefined) {",
    'if (after.generation === undefined) {',
  ),
];

/** What becomes of a message. */
export const deliveryMutants: readonly Mutant[] = [
  swap(
    'retries after the same wait each time',
    'src/core/backoff.ts',
    'firstSeconds * 2 ** Math.min(Math.max(count - 1, 0), 30)',
    'firstSeconds',
  ),
  swap('does not retry', outcome, 'if (outcome.stalledBefore && !isLastAttempt(message))', 'if (true)'),
  swap('retries for ever', outcome, 'return attempt + 1 >= maxAttempts;', 'return attempt < 0;'),
  swap(
    'forgets that it was asked to come back',
    outcome,
    'if (outcome.requeueAfterSeconds === undefined)',
    'if (true)',
  ),
  swap(
    'retries the key of an object that is gone',
    'src/reconciling/reconcile.ts',
    "if (object === undefined) return { outcome: { type: 'nothing', why: 'gone' }, writes };",
    "if (object === undefined) return { outcome: { type: 'failed', error: new Error('gone'), stalledBefore: false }, writes };",
  ),
  swap(
    'lets the resync take what nobody has observed for what was',
    'src/resync/plan.ts',
    'if ((observedGenerationOf(object.status, part) ?? 0) >= generation)',
    'if (true)',
  ),
];

/** What is said in Events. */
export const eventMutants: readonly Mutant[] = [
  swap(
    'makes a new Event each time',
    events,
    'JSON.stringify([metadata.uid, kind, type, reason, message])',
    'JSON.stringify([metadata.uid, kind, type, reason, message, Math.random()])',
  ),
  swap('does not count what it says again', events, 'const count = (await patch({})) + 1;', 'const count = 1;'),
];

/** What travels, and what it is taken for. */
export const travelMutants: readonly Mutant[] = [
  swap(
    'sends more than a key',
    'src/forwarding/forward-entries.ts',
    'body: formatMessage({ ...target, cause, ...merged }),',
    'body: JSON.stringify({ ...JSON.parse(formatMessage({ ...target, cause, ...merged })), labels: {} }),',
  ),
  swap(
    'takes messages of other controllers',
    'src/reconciling/group-records.ts',
    'if (message.controller !== controller)',
    'if (false)',
  ),
  swap(
    'takes any text for a name',
    'src/sqs/body.ts',
    'isPathSegment(name) && name.isWellFormed()',
    'name.isWellFormed()',
  ),
  swap(
    'waits for as long as it was asked to in one go',
    'src/timers/slots.ts',
    'if (left <= maxDelaySeconds) return',
    'if (left > 0) return',
  ),
  swap(
    'forwards what is due within ten minutes',
    'src/timers/timer-message.ts',
    'const earlyMs = 1_000;',
    'const earlyMs = 600_000;',
  ),
];

/** What is read and written, as whom. */
export const accessMutants: readonly Mutant[] = [
  swap(
    'takes the finalizers of others away with its own',
    'src/kube/apply/finalizers.ts',
    'const rest = finalizers.filter((one) => one !== finalizer);',
    'const rest: string[] = [];',
  ),
  swap(
    'does not keep what others own in a child',
    'src/kube/apply/apply.ts',
    'contentType: APPLY,\n    body: object,',
    "contentType: 'application/merge-patch+json',\n    body: object,",
  ),
  swap(
    'writes its status with the object, not apart from it',
    'src/kube/apply/apply.ts',
    "path: objectPath(resource, key, 'status'),",
    'path: objectPath(resource, key),',
  ),
];

/** Where it reads. */
export const placeMutants: readonly Mutant[] = [
  swap(
    'lists the whole cluster where a namespace is meant',
    'src/reconciling/context.ts',
    'const where = { ...placeOf(kind, owner.namespace), ',
    'const where = { ',
  ),
];

/** What becomes of a stale version. */
export const staleMutants: readonly Mutant[] = [
  swap(
    'gives up at the first stale version',
    'src/reconciling/reconcile.ts',
    'const conflictTries = 3;',
    'const conflictTries = 1;',
  ),
];
