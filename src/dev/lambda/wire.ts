// What the local Lambda service and a function's process say to each other over IPC. Both ends parse, because between them
// lies a process boundary; events and answers travel as JSON text, as they do on AWS.
import * as z from 'zod';

/** Lambda's own shape of an error (AWS Lambda: Node.js function errors). */
const failure = z.object({ errorType: z.string(), errorMessage: z.string(), trace: z.array(z.string()) });
export type Failure = Readonly<z.infer<typeof failure>>;

const toProcess = z.discriminatedUnion('type', [
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
export type ToProcess = Readonly<z.infer<typeof toProcess>>;

const fromProcess = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  /** Loading failed, or the function broke outside of an invocation: the process is of no use any more. */
  z.object({ type: z.literal('broken'), failure }),
  z.object({ type: z.literal('returned'), requestId: z.string(), answer: z.string() }),
  z.object({ type: z.literal('threw'), requestId: z.string(), failure }),
]);
export type FromProcess = Readonly<z.infer<typeof fromProcess>>;

/** Parses what a function's process is told. Throws a ZodError. */
export function parseToProcess(message: unknown): ToProcess {
  return toProcess.parse(message);
}

/** Parses what a function's process says. Throws a ZodError. */
export function parseFromProcess(message: unknown): FromProcess {
  return fromProcess.parse(message);
}
