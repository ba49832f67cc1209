// An event outside of the cluster, to keys on the queues of controllers. The wake function and `outrigger wake` run it.
//
// Guarantees: a repetition of an event is dropped by its deduplication id. Of several events of a key within a second
// the first is sent at once, and the last is never lost: the others are one message, which is due within two seconds.
// Of an event with more than a thousand keys the others follow at a limited rate. A repetition in the same environment
// sends only the keys that SQS has not accepted.
// Within five minutes after the clock was set back, SQS may take that message for an earlier one and drop it.
// Assumptions: an event says only which objects to reconcile. One that is lost is found by the next periodic reconcile.
import * as z from 'zod';
import type { ControllerDefinition } from '../api/definition.ts';
import { matchesWake, type OutsideEvent, type WakeKey } from '../api/wake.ts';
import { toError } from '../core/errors.ts';
import { formatZodIssues } from '../core/json.ts';
import { formatReconcileKey } from '../core/key.ts';
import type { Log } from '../core/log.ts';
import { controllerQueue, timersQueue } from '../core/names.ts';
import { redact } from '../core/redact.ts';
import { MessageError } from '../sqs/body.ts';
import { groupIdOf, wakeId } from '../sqs/deduplication.ts';
import { formatMessage, keyOfMessage, type Message } from '../sqs/message.ts';
import type { QueueEntry, Send } from '../sqs/sender.ts';
import { timerEntry } from '../timers/timer-message.ts';

/** The most keys of one controller that an event may name. */
export const maxKeys = 100;
/**
 * `atOnce`: the messages of an event that are sent to a controller's queue at once; the changes of all clusters wait
 * behind them. `perSecond`: how many of the others follow in a second, as of a resync by default.
 */
export const wakeLimits = { atOnce: 1_000, perSecond: 100 } as const;
/** The longest id and source of a cause. */
const maxCharacters = 128;

const isMissing = { error: ({ input }: { readonly input?: unknown }) => (input === undefined ? 'missing' : undefined) };
const eventSchema = z.object({
  id: z.string(isMissing).min(1),
  source: z.string(isMissing).min(1),
  'detail-type': z.string(isMissing).min(1),
  detail: z.unknown().refine((detail) => detail !== undefined, 'missing'),
});

/** Reads an event. Throws MessageError, which names the field. */
export function parseEvent(event: unknown): OutsideEvent {
  const parsed = eventSchema.safeParse(event);
  if (!parsed.success) throw new MessageError(`event: ${formatZodIssues(parsed.error)}`);
  const { id, source, 'detail-type': detailType, detail } = parsed.data;
  return { id, source, detailType, detail };
}

/** The dependencies of waking. */
export type WakeDeps = {
  readonly registry: readonly ControllerDefinition[];
  /** Resolves with the names of all clusters. Rejects if the clusters table cannot be read. */
  readonly listClusters: () => Promise<readonly string[]>;
  readonly send: Send;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** The messages that timers does not delay. It admits them from the wake function alone. */
  readonly atOnce?: number;
};

/**
 * Creates a function that sends the keys of an event, and resolves with their number. It rejects if a mapping function
 * throws, the clusters table cannot be read, or SQS accepts not every key, because Lambda then repeats the event.
 */
export function createWake({
  registry,
  listClusters,
  send,
  log,
  nowMs,
  atOnce = wakeLimits.atOnce,
}: WakeDeps): (event: OutsideEvent, options: { readonly signal: AbortSignal }) => Promise<number> {
  const isFirst = createFirstOfSecond(nowMs);
  /** The last event that was not sent completely, and its keys that SQS accepted. */
  let unfinished = { event: '', sent: new Set<string>() };
  return async (event, { signal }) => {
    const cause = { type: 'wake', observedAt: nowMs(), source: cut(event.source), id: cut(event.id) } as const;
    const queues = new Map<string, NamedEntry[]>();
    const accepted = new Set(unfinished.event === event.id ? unfinished.sent : []);
    const woken = new Set<string>();
    const problems: Error[] = [];
    for (const controller of registry) {
      let count = 0;
      try {
        for (const key of await keysOf(controller, event, listClusters)) {
          const message: Message = { ...messageKey(controller, key), cause };
          const name = formatReconcileKey(keyOfMessage(message));
          if (woken.has(name)) continue;
          woken.add(name);
          const waitSeconds = Math.max(0, Math.floor((count - atOnce) / wakeLimits.perSecond));
          const isNow = isFirst(name, event.id) && count < atOnce;
          count += 1;
          if (accepted.has(name)) continue;
          const queue = isNow ? controllerQueue(controller.name) : timersQueue;
          const entry = isNow ? entryNow(message, event.id) : entryLater(message, nowMs(), waitSeconds);
          const named = { name, entry };
          const entries = queues.get(queue);
          if (entries === undefined) queues.set(queue, [named]);
          else entries.push(named);
        }
      } catch (error) {
        // A mapping function parses the detail. The message of zod's error is its issues as JSON.
        const reason = error instanceof z.ZodError ? formatZodIssues(error) : toError(error).message;
        problems.push(new Error(`controller ${controller.name}: ${redact(reason)}`, { cause: error }));
      }
    }
    await Promise.all(
      [...queues].map(async ([queue, named]) => {
        const entries = named.map(({ entry }) => entry);
        const results = await send(queue, entries, { signal });
        const rejected = results.find((one) => !one.accepted);
        if (rejected !== undefined && !rejected.accepted) problems.push(new Error(redact(rejected.reason)));
        for (const [index, { name }] of named.entries()) if (results[index]?.accepted === true) accepted.add(name);
      }),
    );
    if (problems.length > 0) unfinished = { event: event.id, sent: accepted };
    log.info('keys woken', { source: cause.source, event: cause.id, keys: woken.size });
    if (problems.length > 0) throw new AggregateError(problems, problems.map(({ message }) => message).join('; '));
    return woken.size;
  };
}

type NamedEntry = { readonly name: string; readonly entry: QueueEntry };
type ClusterKey = WakeKey & { readonly cluster: string };

async function keysOf(
  { declaration }: ControllerDefinition,
  event: OutsideEvent,
  listClusters: () => Promise<readonly string[]>,
): Promise<readonly ClusterKey[]> {
  const keys = declaration.wakes.filter((one) => matchesWake(one, event)).flatMap((one) => one.mapToKeys(event));
  if (keys.length > maxKeys) throw new Error(`mapToKeys returned ${keys.length} keys, and ${maxKeys} is the most`);
  const clusters = keys.some(({ cluster }) => cluster === undefined) ? await listClusters() : [];
  return keys.flatMap((key) =>
    (key.cluster === undefined ? clusters : [key.cluster]).map((cluster) => ({ ...key, cluster })),
  );
}

function messageKey({ name: controller, declaration: { resource } }: ControllerDefinition, key: ClusterKey) {
  const { cluster, name, namespace } = key;
  const { group, plural, namespaced } = resource;
  if (namespaced && namespace === undefined) throw new Error(`mapToKeys returned ${name} without a namespace`);
  const place = namespaced && namespace !== undefined ? { namespace } : {};
  return { controller, cluster, group, resource: plural, ...place, name };
}

function entryNow(message: Message, eventId: string): QueueEntry {
  const key = keyOfMessage(message);
  return { body: formatMessage(message), groupId: groupIdOf(key), deduplicationId: wakeId(key, { event: eventId }) };
}

/**
 * All events of a second have the same due time for a key that waits no longer, so they become one message where the
 * timers function sends them.
 */
function entryLater({ cause, ...key }: Message, nowMs: number, waitSeconds: number): QueueEntry {
  if (cause.type !== 'wake') throw new TypeError('no wake');
  // The second after the next: the clocks of two environments may differ by up to a second.
  const dueAt = Math.floor(nowMs / 1000) + 2 + waitSeconds;
  return timerEntry({ ...key, cause: { ...cause, dueAt } }, { nowMs });
}

/** Creates a function that returns whether this is the first event of a key in a second. */
function createFirstOfSecond(nowMs: () => number): (key: string, event: string) => boolean {
  const last = new Map<string, { readonly at: number; readonly event: string }>();
  return (key, event) => {
    const now = nowMs();
    const before = last.get(key);
    if (last.size >= maxRemembered) last.clear();
    last.set(key, { at: now, event });
    // A repetition has the deduplication id of the first one. Two rules that match an event are one, too. After the
    // clock was set back, the id of a later one may have been used: SQS would drop it.
    return before === undefined || before.event === event || Math.abs(now - before.at) >= 1_000;
  };
}

/** Forgetting a key costs one more message. */
const maxRemembered = 10_000;

function cut(text: string): string {
  return text.slice(0, maxCharacters);
}
