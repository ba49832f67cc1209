// The messages between the local Lambda service and a function's process, over IPC. Both ends parse them, because they
// cross a process boundary. Events and results are JSON text, as on AWS.
import * as z from 'zod';

/** Lambda's own shape of an error (AWS Lambda: Node.js function errors). */
const failure = z.object({ errorType: z.string(), errorMessage: z.string(), trace: z.array(z.string()) });
export type InvocationFailure = Readonly<z.infer<typeof failure>>;

const requestShape = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('load'),
    /** The bundle. */
    file: z.string(),
    exportName: z.string(),
    functionName: z.string(),
    functionArn: z.string(),
    memoryMegabytes: z.number(),
  }),
  z.object({
    type: z.literal('invoke'),
    requestId: z.string(),
    event: z.string(),
    remainingMilliseconds: z.number(),
  }),
]);
export type ProcessRequest = Readonly<z.infer<typeof requestShape>>;

const replyShape = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  /** Loading failed, or an error occurred outside of an invocation: the process cannot be used any more. */
  z.object({ type: z.literal('broken'), failure }),
  z.object({ type: z.literal('returned'), requestId: z.string(), result: z.string() }),
  z.object({ type: z.literal('threw'), requestId: z.string(), failure }),
]);
export type ProcessReply = Readonly<z.infer<typeof replyShape>>;

/** Parses a message to a function's process. Throws a ZodError. */
export function parseProcessRequest(message: unknown): ProcessRequest {
  return requestShape.parse(message);
}

/** Parses a message from a function's process. Throws a ZodError. */
export function parseProcessReply(message: unknown): ProcessReply {
  return replyShape.parse(message);
}
