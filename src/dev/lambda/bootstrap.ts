// The other end of function-process.ts: runs inside a function's process, loads the bundle that would be deployed, and
// answers invocations one at a time as Lambda's Node.js runtime does. An entry point; it exports nothing.
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import { type Failure, type FromProcess, parseToProcess, type ToProcess } from './wire.ts';

type Handler = (event: unknown, context: object) => unknown;

type Load = Extract<ToProcess, { type: 'load' }>;

/** Settled by the first message; an invocation may arrive before the bundle is loaded. */
let loading: Promise<{ readonly handler: Handler; readonly told: Load }> | undefined;

process.on('message', (message) => {
  const told = parseToProcess(message);
  if (told.type === 'invoke') void invoke(told);
  else loading = load(told);
});
// The service is gone: nobody will ever ask again, and no process may stay behind.
process.on('disconnect', () => process.exit(0));
process.on('uncaughtException', (error) => leave('Runtime.UncaughtException', error));
process.on('unhandledRejection', (reason) => leave('Runtime.UnhandledPromiseRejection', reason));

async function load(told: Load): Promise<{ readonly handler: Handler; readonly told: Load }> {
  try {
    const module: unknown = await import(pathToFileURL(told.file).href);
    const handler = handlerOf(module, told);
    say({ type: 'ready' });
    return { handler, told };
  } catch (error) {
    leave('Runtime.ImportModuleError', error);
    // The process is ending; whoever waits for the handler waits no longer than that.
    return await new Promise(() => undefined);
  }
}

function handlerOf(module: unknown, { file, exportName }: Load): Handler {
  const found = z.record(z.string(), z.unknown()).parse({ ...z.looseObject({}).parse(module) })[exportName];
  if (typeof found !== 'function') throw new Error(`${file} exports no function ${exportName}`);
  return (event, context) => Reflect.apply(found, undefined, [event, context]);
}

async function invoke({
  requestId,
  event,
  remainingMilliseconds,
}: Extract<ToProcess, { type: 'invoke' }>): Promise<void> {
  const deadline = performance.now() + remainingMilliseconds;
  const loaded = await loading;
  const context = {
    awsRequestId: requestId,
    functionName: loaded?.told.functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: loaded?.told.functionArn,
    memoryLimitInMB: String(loaded?.told.memoryMegabytes),
    logGroupName: `/aws/lambda/${loaded?.told.functionName}`,
    logStreamName: `local/[$LATEST]${process.pid}`,
    callbackWaitsForEmptyEventLoop: false,
    getRemainingTimeInMillis: () => Math.max(0, Math.round(deadline - performance.now())),
  };
  try {
    const answer = await loaded?.handler(JSON.parse(event), context);
    // Lambda turns undefined into null.
    say({ type: 'returned', requestId, answer: JSON.stringify(answer) ?? 'null' });
  } catch (error) {
    say({ type: 'threw', requestId, failure: failureOf(error) });
  }
}

function say(message: FromProcess): void {
  if (process.connected) process.send?.(message);
}

/** Tells what broke the process and ends it, as the runtime does: after this its state cannot be trusted. */
function leave(errorType: string, error: unknown): void {
  const broken: FromProcess = { type: 'broken', failure: { ...failureOf(error), errorType } };
  if (process.connected) process.send?.(broken, () => process.exit(1));
  else process.exit(1);
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error), trace: [] };
  return { errorType: error.name, errorMessage: error.message, trace: (error.stack ?? '').split('\n') };
}
