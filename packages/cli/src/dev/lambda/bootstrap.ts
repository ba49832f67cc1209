// The counterpart of function-process.ts: runs inside a function's process, loads the bundle as it is deployed, and
// handles invocations one at a time as Lambda's Node.js runtime does. An entry point; it exports nothing.
import { pathToFileURL } from 'node:url';
import type { InvocationFailure, ProcessReply, ProcessRequest } from './wire.ts';

type Handler = (event: unknown, context: object) => unknown;

type Load = Extract<ProcessRequest, { type: 'load' }>;

/** Set by the first message. An invocation may arrive before the bundle is loaded. */
let loading: Promise<{ readonly handler: Handler; readonly request: Load }> | undefined;

// Not parsed, for the reason in wire.ts.
process.on('message', (request: ProcessRequest) => {
  if (request.type === 'invoke') void invoke(request);
  else loading = load(request);
});
// The service has ended, so this process ends too.
process.on('disconnect', () => process.exit(0));
process.on('uncaughtException', (error) => exitWithError('Runtime.UncaughtException', error));
process.on('unhandledRejection', (reason) => exitWithError('Runtime.UnhandledPromiseRejection', reason));

async function load(request: Load): Promise<{ readonly handler: Handler; readonly request: Load }> {
  try {
    const module: unknown = await import(pathToFileURL(request.file).href);
    const handler = handlerOf(module, request);
    reply({ type: 'ready' });
    return { handler, request };
  } catch (error) {
    exitWithError('Runtime.ImportModuleError', error);
    // The process is ending, so a pending invocation does not need a result.
    return await new Promise(() => undefined);
  }
}

function handlerOf(module: unknown, { file, exportName }: Load): Handler {
  const found: unknown = Reflect.get(Object(module), exportName);
  if (typeof found !== 'function') throw new Error(`${file} exports no function ${exportName}`);
  return (event, context) => Reflect.apply(found, undefined, [event, context]);
}

async function invoke({
  requestId,
  event,
  remainingMilliseconds,
}: Extract<ProcessRequest, { type: 'invoke' }>): Promise<void> {
  const deadline = performance.now() + remainingMilliseconds;
  const loaded = await loading;
  const context = {
    awsRequestId: requestId,
    functionName: loaded?.request.functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: loaded?.request.functionArn,
    memoryLimitInMB: String(loaded?.request.memoryMegabytes),
    logGroupName: `/aws/lambda/${loaded?.request.functionName}`,
    logStreamName: `local/[$LATEST]${process.pid}`,
    callbackWaitsForEmptyEventLoop: false,
    getRemainingTimeInMillis: () => Math.max(0, Math.round(deadline - performance.now())),
  };
  try {
    const result = await loaded?.handler(JSON.parse(event), context);
    // Lambda turns undefined into null.
    reply({ type: 'returned', requestId, result: JSON.stringify(result) ?? 'null' });
  } catch (error) {
    reply({ type: 'threw', requestId, failure: failureOf(error) });
  }
}

function reply(message: ProcessReply): void {
  if (process.connected) process.send?.(message);
}

/** Reports the error and ends the process, as the runtime does: its state cannot be trusted any more. */
function exitWithError(errorType: string, error: unknown): void {
  const message: ProcessReply = { type: 'broken', failure: { ...failureOf(error), errorType } };
  if (process.connected) process.send?.(message, () => process.exit(1));
  else process.exit(1);
}

function failureOf(error: unknown): InvocationFailure {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error), trace: [] };
  return { errorType: error.name, errorMessage: error.message, trace: (error.stack ?? '').split('\n') };
}
