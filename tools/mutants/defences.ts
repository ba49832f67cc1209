// The defences, each removed once: what keeps a change from being lost, and two reconciles of one object from running at once. Whoever
// takes one out for being in the way is told by these who will miss it.
import { type Mutant, swap } from './mutant.ts';

const runtime = 'src/runtime';
const loop = 'src/forwarding/watch-loop.ts';
const batch = `${runtime}/batch.ts`;
const slots = 'src/timers/slots.ts';

/** Of a watch, whatever becomes of its connection. */
export const watchDefences: readonly Mutant[] = [
  swap(
    'no idle timer: a stream that went silent is waited for',
    'src/kube/watch/watch.ts',
    'readWatchLines(withIdleTimeout(stream, idleSeconds, wait))',
    'readWatchLines(stream)',
  ),
  swap(
    'no probe: a restored cluster is watched from a version to come',
    'src/kube/watch/watch-state.ts',
    "if (order !== undefined && order < 0) return { step: 'list', mode: 'restored', failures };",
    '',
  ),
  swap(
    'a 410 in the stream is taken for any other failure',
    'src/kube/watch/watch-state.ts',
    'return isGone(error)\n      ?',
    'return error === undefined\n      ?',
  ),
];

/** Of the store and the loop over it. */
export const loopDefences: readonly Mutant[] = [
  swap(
    'what a relist misses is not taken for deleted',
    loop,
    'const missing = store.endListing();',
    'const missing = store.endListing().slice(0, 0);',
  ),
  swap(
    'no sweep after a cursor that has expired',
    loop,
    "if (mode !== 'exact' && mode !== 'relist') {",
    'if (false) {',
  ),
  swap('a restored cluster is compared with what was known before', loop, '      store.clear();\n', ''),
];

/** Of keys that wait for SQS. */
export const workQueueDefences: readonly Mutant[] = [
  swap(
    'no dirty set: what SQS refused is forgotten',
    `${runtime}/dirty-set.ts`,
    'wait(id, refused(entry, since), hurrying ? nowMs : outcome.againAt, nowMs);',
    '',
  ),
  swap(
    'what is marked while its key is on its way is forgotten',
    `${runtime}/dirty-set.ts`,
    'if (since !== undefined) wait(id, since, nowMs + quiet, nowMs);',
    '',
  ),
];

/** Of the cursor. */
export const checkpointDefences: readonly Mutant[] = [
  swap(
    'cursor written too early: keys on their way do not hold it back',
    `${runtime}/progress.ts`,
    'for (const { before } of tickets) return before;',
    '',
  ),
  swap(
    'the cursor of another cluster is believed',
    'src/checkpoint/store.ts',
    'return reading.document.cluster === uid ?',
    'return reading.document.cluster !== undefined ?',
  ),
  swap(
    'the cursor goes backwards when the other replica is behind',
    `${runtime}/cursor-document.ts`,
    'version: isAhead ? stored.version : ours.version',
    'version: ours.version',
  ),
];

/** Of what SQS takes for one message. */
export const deduplicationDefences: readonly Mutant[] = [
  swap(
    'key-only deduplication id: the second change within five minutes is dropped',
    'src/sqs/deduplication.ts',
    "return hashOf('watch', ...keyParts(target), ...new Set(seen.sort()));",
    "return hashOf('watch', ...keyParts(target));",
  ),
  swap(
    'a message of its own for each version: two watchers make two reconciles',
    'src/sqs/deduplication.ts',
    "return hashOf('watch', ...keyParts(target), ...new Set(seen.sort()));",
    "return hashOf('watch', ...keyParts(target), Math.random(), ...new Set(seen.sort()));",
  ),
];

/** Of everything that comes later. */
export const slotDefences: readonly Mutant[] = [
  swap(
    'no slots: each event that asks for later begins a chain of its own',
    slots,
    'return { dueAt: phase + number * delay, slot: `${delay}/${number}` };',
    'return { dueAt: Math.ceil(nowMs / 1000 + delay), slot: `${delay}/${nowMs}` };',
  ),
  swap(
    'the slot in hand is taken again, and FIFO drops it',
    slots,
    'const earliest = Math.max(nowMs / 1000 + delay / 2, afterDueAt + 1);',
    'const earliest = nowMs / 1000 - delay / 2;',
  ),
  swap(
    'slots by the local clock, whatever it says',
    slots,
    'return receiveCount > 1 ? Math.max(bySqs, localMs) : bySqs;',
    'return localMs;',
  ),
  swap(
    'hops are not on a grid, so equal ones never meet',
    slots,
    'Math.min(maxDelaySeconds, Math.ceil(hopAt - now))',
    'maxDelaySeconds',
  ),
  swap(
    'a timer is given up although its queue did not take it',
    `${runtime}/timers.ts`,
    'if (result.accepted) for (const { messageId } of records)',
    'if (result !== undefined) for (const { messageId } of records)',
  ),
];

/** Of a batch. */
export const batchDefences: readonly Mutant[] = [
  swap(
    'duplicates of a key run side by side',
    `${runtime}/intake.ts`,
    'const target = formatReconcileKey(targetOf(message));',
    'const target = `${formatReconcileKey(targetOf(message))} ${record.messageId}`;',
  ),
  swap(
    'what was received before runs with the others',
    `${runtime}/intake.ts`,
    'again: (before?.again ?? false) || record.receiveCount > 1,',
    'again: false,',
  ),
  swap(
    'no turns among those that were received before',
    batch,
    'orderRedelivered(groups.filter(({ again }) => again))',
    'groups.filter(({ again }) => again)',
  ),
  swap(
    'no early deletes: the innocent come back with who kills the function',
    batch,
    'if (!settled.signal.aborted) await deleteDone();',
    '',
  ),
  swap(
    'a reconcile that ignores its signal lives on beside its successor',
    batch,
    'parts.die(`a reconcile',
    'void (`a reconcile',
  ),
  swap(
    'a message is given up although what must follow was not accepted',
    `${runtime}/handle.ts`,
    'return allAccepted(sent, log);\n    }',
    'return sent.length > 0;\n    }',
  ),
  swap(
    'a dead message is given up although its letter was not accepted',
    `${runtime}/handle.ts`,
    'return allAccepted(sent, log);\n}',
    'return sent.length > 0;\n}',
  ),
];

/** Of one object. */
export const objectDefences: readonly Mutant[] = [
  {
    name: 'finalizer after the effect: who dies between leaves what nobody cleans up',
    edits: [
      {
        file: `${runtime}/visit.ts`,
        find: 'if (declares.finalizes && !object.metadata.finalizers?.includes(finalizer)) {',
        replace:
          'const result = await running.reconcile(object, openAccess()); if (declares.finalizes && !object.metadata.finalizers?.includes(finalizer)) {',
      },
      {
        file: `${runtime}/visit.ts`,
        find: 'const result = await running.reconcile(object, openAccess());\n      if (result.retry',
        replace: 'if (result.retry',
      },
    ],
  },
  swap(
    'no version on the status: an old reconcile writes over a newer one',
    'src/kube/apply/apply.ts',
    'metadata: { name, namespace, resourceVersion, uid }, status },',
    'metadata: { name, namespace }, status },',
  ),
];

/** Of what comes by schedule, and by hand. */
export const resyncDefences: readonly Mutant[] = [
  swap(
    'a list that is too long for one run ends there',
    `${runtime}/resync-poll.ts`,
    'await sendAll(parts, resyncQueue, [{ body: formatResyncMessage(next) }], time.signal);',
    '',
  ),
  swap(
    'nothing is paced: bulk comes in one burst',
    `${runtime}/resync-plan.ts`,
    'if (count >= perSecond) onwards.set(second, second + 1);',
    '',
  ),
  swap(
    'the grace is forgotten: what is under way counts as missed',
    `${runtime}/resync-plan.ts`,
    'nowMs - sinceMs > graceSeconds * 1000',
    'nowMs > 0',
  ),
  swap(
    'a dead letter is deleted before it is sent again',
    `${runtime}/redrive.ts`,
    'const [sent] = await send(queue, [entry], { signal });',
    'await hold.remove(held).catch(() => undefined); const [sent] = await send(queue, [entry], { signal });',
  ),
];
