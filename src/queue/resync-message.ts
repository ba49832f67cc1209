// What travels on the resync queue: one controller's kind in one cluster is to be polled. A dead cluster delays its own
// messages only; a list too long for one function goes on with the next message.
import * as z from 'zod';
import { isPathSegment } from '../core/key.ts';
import { formatProblems } from '../core/zod-problems.ts';
import { MessageError } from './message.ts';

const segment = z.string().max(253).refine(isPathSegment, { message: 'must be one path segment' });

const schema = z.strictObject({
  v: z.literal(1),
  kind: z.literal('resync'),
  /** The schedule's own time (ISO 8601): the same for a trigger that came twice. */
  run: z.iso.datetime({ offset: true }).max(128),
  cluster: segment,
  controller: segment,
  /** Where the list goes on: the API server's token. It lives about five minutes. */
  continue: z.string().min(1).max(8_192).optional(),
  /** Seconds since 1970 up to which earlier parts of this run have filled the pace. */
  pacedTo: z.int().min(0).optional(),
  /** Whether the run found its controller's queue near empty, so that what it finds unobserved was missed. */
  quiet: z.boolean().optional(),
});

/** A request to poll one controller's kind in one cluster. */
export type ResyncMessage = Readonly<z.infer<typeof schema>>;

/** Reads a body of the resync queue. Throws MessageError, which names the field. */
export function parseResyncMessage(body: string): ResyncMessage {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new MessageError('the body is not JSON');
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new MessageError(formatProblems(parsed.error));
  return parsed.data;
}

/** Writes a body of the resync queue. Throws MessageError for what could not be read again. */
export function formatResyncMessage(message: ResyncMessage): string {
  const parsed = schema.safeParse(message);
  if (!parsed.success) throw new MessageError(formatProblems(parsed.error));
  return JSON.stringify(parsed.data);
}
