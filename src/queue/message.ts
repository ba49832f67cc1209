// What travels on a queue: identity and delivery, never content of an object. Parsed once, where it enters a function.
import { hash } from 'node:crypto';
import * as z from 'zod';
import type { TargetKey } from '../core/key.ts';
import { lanes } from '../core/names.ts';
import { MessageError, milliseconds, readBody, seconds, segment, writeBody } from '../sqs/body.ts';

// While a deployment goes on, functions of two versions write to one another. A field that one of them does not know is dropped, so a
// field that is added is optional, and harms nothing when it gets lost; what cannot be so is another `v`, read one release before it is written.
const schema = z.object({
  v: z.literal(1),
  controller: segment,
  cluster: segment,
  /** Of the changed object's collection: the controller's own kind, or a watched kind that a mapping function resolves. */
  group: z.string().max(253),
  resource: segment,
  namespace: segment.optional(),
  name: segment,
  uid: z.string().max(64).optional(),
  resourceVersion: z.string().max(64).optional(),
  lane: z.enum(lanes),
  /** Failed reconciles so far. */
  attempt: z.int().min(0),
  /** Times put off so far because the cluster could not be reached or a version was stale. */
  deferrals: z.int().min(0),
  /** When the watcher (or the resync) saw it, in milliseconds since 1970: the start of the lag. */
  seenAt: milliseconds,
  /** When it is due, in seconds since 1970: a slot of the key's grid. */
  dueAt: seconds.optional(),
  /** Which slot of which grid: `<delay in seconds>/<number>`. */
  slot: z.string().max(40).optional(),
  /** Which resync, or which replay. */
  run: z.string().max(128).optional(),
});

/** A key on a queue, addressed to one controller. */
export type Message = Readonly<z.infer<typeof schema>>;

/** AWS bills 64 KB; this is a bound on what can be wrong with a message. */
const maxBytes = 2_048;

/** Reads a message's body. Throws MessageError, which names the field. */
export function parseMessage(body: string): Message {
  if (Buffer.byteLength(body) > maxBytes) throw new MessageError(`the body is longer than ${maxBytes} bytes`);
  return readBody(schema, body);
}

/** Writes a message's body. Throws MessageError when it is not one, so that nothing malformed is ever sent. */
export function formatMessage(message: Message): string {
  return writeBody(schema, message);
}

/** Which object of which controller a message is about, as one string. */
export function targetOf({ controller, cluster, group, resource, namespace, name }: Message): TargetKey {
  return { controller, cluster, group, resource, name, ...(namespace === undefined ? {} : { namespace }) };
}

/**
 * A hash as SQS ids like it: 64 hexadecimal characters. Parts are kept apart, whatever they contain. In one call: a Hash keeps memory
 * outside the heap until it is collected, half a kilobyte for each of what may be 100,000 keys.
 */
export function hashOf(...parts: readonly (string | number)[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}
