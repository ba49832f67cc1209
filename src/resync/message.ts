// The message of the resync queue: a request to list one controller's kind in one cluster. An unreachable cluster
// therefore delays only its own messages, and a list that takes longer than one function continues with the next
// message. Specified in docs/messages.md.
import * as z from 'zod';
import { formatBody, parseBody, seconds, segment } from '../sqs/body.ts';

// The rules for new fields are those of sqs/message.ts.
const schema = z.object({
  v: z.literal(1),
  type: z.literal('resync'),
  /** The scheduled time of the resync run (ISO 8601). It is the same for a trigger that is delivered twice. */
  run: z.iso.datetime({ offset: true }).max(128),
  cluster: segment,
  controller: segment,
  /** The only namespace to list. A version that does not know it lists all of them. */
  namespace: segment.optional(),
  /** How often the list has failed in this run. */
  failures: z.int().min(0).max(1_000).optional(),
  /** The continue token of the API server. It expires after about five minutes. */
  continue: z.string().min(1).max(8_192).optional(),
  /** Seconds since 1970 until which earlier messages of this run have used up the rate limit. */
  scheduledUntil: seconds.optional(),
  /** The highest number of keys that they have scheduled for one second after that. */
  scheduledPerSecond: z.int().min(0).optional(),
  /**
   * Whether the controller's queue was idle at the start of the run. Changes that are unobserved then count as missed.
   */
  queueIdle: z.boolean().optional(),
});

/** A request to list one controller's kind in one cluster. */
export type ResyncMessage = Readonly<z.infer<typeof schema>>;

/** Reads a body of the resync queue. Throws MessageError, which names the field. */
export function parseResyncMessage(body: string): ResyncMessage {
  return parseBody(schema, body);
}

/** Writes a body of the resync queue. Throws MessageError for a message that could not be read again. */
export function formatResyncMessage(message: ResyncMessage): string {
  return formatBody(schema, message);
}
