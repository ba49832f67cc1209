// The deadline of every call to SQS, and the reading of a failed call. The SDK checks the signal only during the HTTP
// request, not while it loads credentials. A call that hangs while it loads credentials is therefore ended here.
import { type BatchResultErrorEntry, QueueDoesNotExist } from '@aws-sdk/client-sqs';

/** The deadline of a call to SQS, unless the caller has its own. */
export const callTimeoutSeconds = 5;

/**
 * Makes a call and stops waiting for it after `seconds`, or when the signal aborts. Rejects with the call's error, the
 * signal's reason, or an Error that names the deadline.
 */
export async function callWithin<T>(
  seconds: number,
  signal: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  if (signal?.aborted === true) abort();
  controller.signal.throwIfAborted();
  const late = Object.assign(new Error(`no response within ${seconds} s`), { code: 'ETIMEDOUT' });
  const timer = setTimeout(() => controller.abort(late), seconds * 1000);
  signal?.addEventListener('abort', abort, { once: true });
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true });
  });
  try {
    return await Promise.race([call(controller.signal), aborted]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** The failed entries of a batch request, or the reason why the whole request failed. */
export type BatchFailures = { readonly entries: readonly string[]; readonly request?: string };

/** Makes a batch request to a queue. Returns the reasons of its failures, which begin with the queue. Never rejects. */
export async function callBatch(
  queue: string,
  signal: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<{ readonly Failed?: readonly BatchResultErrorEntry[] | undefined }>,
): Promise<BatchFailures> {
  try {
    const { Failed = [] } = await callWithin(callTimeoutSeconds, signal, call);
    return { entries: Failed.map(({ Code, Message = '' }) => `${queue}: ${Code}: ${Message}`) };
  } catch (error) {
    return { entries: [], request: `${queue}: ${sqsErrorReason(error)}` };
  }
}

/** Returns whether the call failed because its queue does not exist. */
export function isMissingQueue(error: unknown): boolean {
  return error instanceof QueueDoesNotExist || (error instanceof Error && error.name === queryProtocolName);
}

/** Formats an error as `name: message`, for logs and dead letters. The name `Error` is left out. */
export function sqsErrorReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === 'Error' ? error.message : `${error.name}: ${error.message}`;
}

/** The name of QueueDoesNotExist in the older query protocol. Some emulators still send it. */
const queryProtocolName = 'AWS.SimpleQueueService.NonExistentQueue';
