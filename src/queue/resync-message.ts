// What travels on the resync queue: one controller's kind in one cluster is to be polled. A dead cluster delays its own
// messages only; a list too long for one function goes on with the next message.
import * as z from 'zod';
import { readBody, seconds, segment, writeBody } from '../sqs/body.ts';

// Fields come and go by the rule of message.ts.
const schema = z.object({
  v: z.literal(1),
  kind: z.literal('resync'),
  /** The schedule's own time (ISO 8601): the same for a trigger that came twice. */
  run: z.iso.datetime({ offset: true }).max(128),
  cluster: segment,
  controller: segment,
  /** Where the list goes on: the API server's token. It lives about five minutes. */
  continue: z.string().min(1).max(8_192).optional(),
  /** Seconds since 1970 up to which earlier parts of this run have filled the pace. */
  pacedTo: seconds.optional(),
  /** How much of the pace they have taken of any second after that. */
  taken: z.int().min(0).optional(),
  /** Whether the run found its controller's queue near empty, so that what it finds unobserved was missed. */
  quiet: z.boolean().optional(),
});

/** A request to poll one controller's kind in one cluster. */
export type ResyncMessage = Readonly<z.infer<typeof schema>>;

/** Reads a body of the resync queue. Throws MessageError, which names the field. */
export function parseResyncMessage(body: string): ResyncMessage {
  return readBody(schema, body);
}

/** Writes a body of the resync queue. Throws MessageError for what could not be read again. */
export function formatResyncMessage(message: ResyncMessage): string {
  return writeBody(schema, message);
}
