// The message of `outrigger verify`. It names no object, and asks for no reconcile: a function that receives it says in
// its log what it can do, and sends it to the next queue. Specified in docs/messages.md.
import * as z from 'zod';
import { parseJson, uncompiled } from '../core/json.ts';
import { timersQueue } from '../core/names.ts';
import { formatBody, milliseconds, segment } from './body.ts';
import { hashOf } from './message.ts';
import type { QueueEntry } from './sender.ts';

/** Timers, or the queue of a controller: no probe becomes a dead letter. */
const queue = segment.refine((name) => name === timersQueue || (name.endsWith('.fifo') && !name.endsWith('-dlq.fifo')));

const schema = z.object({
  v: z.literal(1),
  type: z.literal('probe'),
  /** The run of the command. */
  id: z.uuid(),
  /** The function that received it first. */
  from: segment,
  /** When it was sent to this queue. */
  sentAt: milliseconds,
  /** The queues that it visits after this one. */
  path: z.array(queue).max(2),
  /** The only cluster that is asked. Absent: every cluster of the table. */
  cluster: segment.optional(),
  /** A namespace in which the kinds may be listed. Absent: all. */
  namespace: segment.optional(),
});

/** A message of `outrigger verify`. */
export type Probe = Readonly<z.output<typeof schema>>;

/** The delay of a probe on the timers queue: it shows that SQS delays. */
export const probeDelaySeconds = 5;

/** Reads the probe in a body; undefined for every other message. */
export function readProbe(body: string): Probe | undefined {
  // Most messages are keys, and are parsed where they are used.
  return body.includes('"probe"') ? schema.safeParse(parseJson(body), uncompiled).data : undefined;
}

/** Makes the entry that sends a probe to a queue. Throws MessageError. */
export function probeEntry(queue: string, probe: Probe): QueueEntry {
  const body = formatBody(schema, probe);
  if (queue === timersQueue) return { body, delaySeconds: probeDelaySeconds };
  if (!queue.endsWith('.fifo')) return { body };
  const id = hashOf('probe', probe.id, probe.from, queue, probe.path.length);
  return { body, groupId: id, deduplicationId: id };
}
