// Each safeguard of the guarantees removed once: those that keep changes from being lost, and those that keep two reconciles of
// one object from running at the same time. A removed safeguard fails the tests that are listed for it in the catalogue.
import { type Mutant, swap } from './mutant.ts';

const loop = 'src/forwarding/watch-loop.ts';
const batch = 'src/reconciling/batch.ts';
const pass = 'src/reconciling/pass';
const dispatch = 'src/reconciling/dispatch-key.ts';
const slots = 'src/timers/slots.ts';

/** Safeguards of a watch when its connection fails. */
export const watchDefences: readonly Mutant[] = [
  swap(
    'no idle time-out: waits for a silent stream',
    'src/kube/watch/watch.ts',
    'readWatchLines(withIdleTimeout(stream, idle),',
    'readWatchLines(stream,',
  ),
  swap(
    'no restore detection: watches a restored cluster from a version of the future',
    'src/kube/watch/watch-state.ts',
    "if (order !== undefined && order < 0) return { step: 'list', mode: 'restored', ...failures };",
    '',
  ),
  swap(
    'handles a 410 in the stream like any other failure',
    'src/kube/watch/watch-state.ts',
    'return isGone(error)\n      ?',
    'return error === undefined\n      ?',
  ),
];

/** Safeguards of the watch loop. */
export const loopDefences: readonly Mutant[] = [
  swap(
    'does not report objects that a relist misses as deleted',
    loop,
    'const missing = objects.endListing();',
    'const missing = objects.endListing().slice(0, 0);',
  ),
  swap(
    'no full pass after a checkpoint that has expired',
    loop,
    "if (mode !== 'exact' && mode !== 'stalled') {",
    'if (false) {',
  ),
  swap('compares a restored cluster with the objects from before', loop, 'objects.clear();', ''),
];

/** Safeguards of keys that wait for SQS. */
export const workQueueDefences: readonly Mutant[] = [
  swap(
    'drops keys that SQS rejected',
    'src/forwarding/work-queue.ts',
    'enqueue(id, mergeRejected(entry, since), flushing ? nowMs : outcome.retryAt, nowMs);',
    '',
  ),
  swap(
    'drops a change that arrives while its key is being sent',
    'src/forwarding/work-queue.ts',
    'if (since !== undefined) enqueue(id, since, nowMs + windowMs, nowMs);',
    '',
  ),
];

/** Safeguards of the checkpoint. */
export const checkpointDefences: readonly Mutant[] = [
  swap(
    'writes the checkpoint before its keys are accepted',
    'src/forwarding/acknowledgements.ts',
    'for (const { before } of pendingAcks) return before;',
    '',
  ),
  swap(
    'uses the checkpoint of another cluster',
    'src/checkpoint/store.ts',
    'return document.cluster === uid ? document.entries',
    'return document.cluster !== undefined ? document.entries',
  ),
  swap(
    'moves the checkpoint backwards when the other replica is behind',
    'src/checkpoint/document.ts',
    'version: isAhead ? stored.version : ours.version',
    'version: ours.version',
  ),
];

/** Safeguards of deduplication. */
export const deduplicationDefences: readonly Mutant[] = [
  swap(
    'key-only deduplication id: the second change within five minutes is dropped',
    'src/sqs/deduplication.ts',
    "return hashOf('change', ...keyParts(key), ...new Set(hashes.sort()));",
    "return hashOf('change', ...keyParts(key));",
  ),
  swap(
    'random deduplication id: two watchers make two reconciles',
    'src/sqs/deduplication.ts',
    "return hashOf('change', ...keyParts(key), ...new Set(hashes.sort()));",
    "return hashOf('change', ...keyParts(key), Math.random(), ...new Set(hashes.sort()));",
  ),
];

/** Safeguards of timers. */
export const slotDefences: readonly Mutant[] = [
  swap(
    'no slots: each event that asks for a requeue starts another chain of timers',
    slots,
    'return slotOf(dueAt, delay / 2, input);',
    'return { dueAt: Math.ceil(nowMs / 1000 + delay), slot: `1/${nowMs}` };',
  ),
  swap(
    'takes the same slot again, which SQS deduplicates',
    slots,
    'const earliest = Math.max(now + delay / 2, afterDueAt === undefined ? now + earlySeconds : afterDueAt + 1);',
    'const earliest = now - delay / 2;',
  ),
  swap('calculates slots by the local clock', slots, 'if (receiveCount <= 1) return bySqs;', 'return Date.now();'),
  swap(
    'hops are not on a grid, so equal ones never meet',
    slots,
    'Math.min(maxDelaySeconds, Math.ceil(hopAt - now))',
    'maxDelaySeconds',
  ),
  swap(
    'deletes a timer although its queue did not accept it',
    'src/timers/run.ts',
    'if (result.accepted) for (const { messageId } of records)',
    'if (result !== undefined) for (const { messageId } of records)',
  ),
];

/** Safeguards of a batch. */
export const batchDefences: readonly Mutant[] = [
  swap(
    'reconciles duplicates of a key at the same time',
    'src/reconciling/group-records.ts',
    'const key = formatReconcileKey(keyOfMessage(message));',
    'const key = `${formatReconcileKey(keyOfMessage(message))} ${record.messageId}`;',
  ),
  swap(
    'reconciles redelivered messages together with the others',
    'src/reconciling/group-records.ts',
    'redelivered: (before?.redelivered ?? false) || record.receiveCount > 1,',
    'redelivered: false,',
  ),
  swap(
    'reconciles redelivered messages in the same order each time',
    batch,
    'orderRedelivered(groups.filter(({ redelivered }) => redelivered))',
    'groups.filter(({ redelivered }) => redelivered)',
  ),
  swap(
    'no early deletes: a message that kills the function causes the redelivery of all',
    batch,
    'void this.#unlessFinished(earlyDeleteMs, () => this.#deleteDone());',
    '',
  ),
  swap(
    'a reconcile that ignores its signal goes on beside its successor',
    batch,
    'this.#deps.exitProcess(`the reconcile',
    'void (`the reconcile',
  ),
  swap(
    'deletes a message although its timer was not accepted',
    dispatch,
    'if (!allAccepted(sent, log)) return false;',
    '',
  ),
  swap(
    'deletes a message although its dead letter was not accepted',
    dispatch,
    'return allAccepted(sent, log);\n}',
    'return sent.length > 0;\n}',
  ),
];

/** Safeguards of one object. */
export const objectDefences: readonly Mutant[] = [
  swap(
    'leaves Ready true while a reconcile fails',
    'src/reconciling/status/status.ts',
    "return { status: isFinal ? 'False' : 'Unknown', ...failureReason(failure) };",
    "return { status: isFinal ? 'False' : 'True', ...failureReason(failure) };",
  ),
  swap(
    'records the Warning of a failure again with each attempt',
    `${pass}/settle.ts`,
    'if (currentConditions(owned).some((one) => one.message === message)) return undefined;',
    'void [currentConditions, owned];',
  ),
  swap(
    'adds the finalizer after the reconcile: a crash between leaves external resources',
    'src/reconciling/reconcile.ts',
    "if (await hold(pass)) return { type: 'nothing', reason: 'held' };\n    progress.called = await callFor(pass);",
    'progress.called = await callFor(pass);\n    await hold(pass);',
  ),
  swap(
    'no resource version with the status: an old reconcile overwrites a newer one',
    'src/kube/apply/apply.ts',
    'metadata: { name, namespace, resourceVersion, uid }, status },',
    'metadata: { name, namespace }, status },',
  ),
];

/** Safeguards of the resync and the redrive. */
export const resyncDefences: readonly Mutant[] = [
  swap(
    'does not continue a list that is too long for one run',
    'src/resync/list-kind.ts',
    'await sendAll(deps, resyncQueue, [{ body: formatResyncMessage(next) }], time.signal);',
    '',
  ),
  swap(
    'no rate limit: sends all keys at once',
    'src/resync/plan.ts',
    'if (count >= perSecond) nextFree.set(second, second + 1);',
    '',
  ),
  swap(
    'counts objects whose reconcile is under way as missed',
    'src/resync/plan.ts',
    'Math.abs(nowMs - sinceMs) > missedAfterSeconds * 1000',
    'nowMs > 0',
  ),
  swap(
    'deletes a dead letter before it is sent again',
    'packages/cli/src/operations/redrive.ts',
    'const [sent] = await send(queue, [entry], { signal });',
    'await browser.remove(received).catch(() => undefined); const [sent] = await send(queue, [entry], { signal });',
  ),
];
