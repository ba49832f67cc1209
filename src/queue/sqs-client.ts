// The one place where an SQS client is made: every call bounded in time and in tries, whoever makes it.
import { SQSClient } from '@aws-sdk/client-sqs';

/** Time to a connection, TLS included. */
const connectionMs = 1_000;
/** Time for one try. No call of ours is a long poll: Lambda polls for us. */
const requestMs = 5_000;
/** Tries of the SDK itself, for lost connections and 5xx. `send` tries failed entries again by its own count. */
const tries = 2;

/**
 * Creates an SQS client. Region and credentials come from the SDK's default chain unless given.
 * @param endpoint another server that speaks SQS. The SDK would otherwise send to the host in a queue's URL, which for
 * emulators does not resolve (`sqs.us-east-1.localhost`).
 */
export function createSqsClient({
  region,
  endpoint,
}: {
  readonly region?: string;
  readonly endpoint?: string;
} = {}): SQSClient {
  return new SQSClient({
    // Options instead of a handler: no import beyond the client's own.
    requestHandler: { connectionTimeout: connectionMs, requestTimeout: requestMs, throwOnRequestTimeout: true },
    maxAttempts: tries,
    useQueueUrlAsEndpoint: false,
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
  });
}
