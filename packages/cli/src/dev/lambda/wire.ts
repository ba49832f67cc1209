// The messages between the local Lambda service and a function's process, over IPC. Events and results are JSON text,
// as on AWS. A reply is parsed, because the function's code may send messages of its own. A request is not: only the
// service can send one, and a parser would double the start of a process.
import * as z from 'zod';

/** Lambda's own shape of an error (AWS Lambda: Node.js function errors). */
const failure = z.object({ errorType: z.string(), errorMessage: z.string(), trace: z.array(z.string()) });
export type InvocationFailure = Readonly<z.infer<typeof failure>>;

/** A message to a function's process. */
export type ProcessRequest =
  | {
      readonly type: 'load';
      /** The bundle. */
      readonly file: string;
      readonly exportName: string;
      readonly functionName: string;
      readonly functionArn: string;
      readonly memoryMegabytes: number;
    }
  | {
      readonly type: 'invoke';
      readonly requestId: string;
      readonly event: string;
      readonly remainingMilliseconds: number;
    };

const replyShape = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  /** Loading failed, or an error occurred outside of an invocation: the process cannot be used any more. */
  z.object({ type: z.literal('broken'), failure }),
  z.object({ type: z.literal('returned'), requestId: z.string(), result: z.string() }),
  z.object({ type: z.literal('threw'), requestId: z.string(), failure }),
]);
export type ProcessReply = Readonly<z.infer<typeof replyShape>>;

/** Parses a message from a function's process. Returns undefined for one that is no reply. */
export function parseProcessReply(message: unknown): ProcessReply | undefined {
  return replyShape.safeParse(message).data;
}
