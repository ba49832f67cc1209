// What a failed call to SQS says: whether there is any use in trying again, and one line for logs and dead letters.
import { QueueDoesNotExist } from '@aws-sdk/client-sqs';

/** The same fault as the older query protocol spells it; some emulators still do. */
const oldName = 'AWS.SimpleQueueService.NonExistentQueue';

/** Tells whether the queue that was called does not exist. */
export function isMissingQueue(error: unknown): boolean {
  return error instanceof QueueDoesNotExist || (error instanceof Error && error.name === oldName);
}

/** Says what went wrong, `name: message`. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
