// Creates every SQS client of the project, with a limit on the time and the attempts of each request, and the URLs of
// the queues.
import { SQSClient } from '@aws-sdk/client-sqs';
import { monotonicNow } from '../core/time.ts';

/** The time to open a connection, including TLS. */
const connectionTimeoutMs = 1_000;
/** The time for one attempt. No request of this project is a long poll: Lambda polls the queues. */
const requestTimeoutMs = 5_000;
/** Attempts of the SDK, for lost connections and 5xx. `send` counts its own attempts for rejected entries. */
const maxAttempts = 2;

/**
 * Creates an SQS client. Region and credentials come from the SDK's default chain unless given.
 * @param endpoint another server that implements SQS. Without it the SDK sends to the host in the queue's URL, which
 * does not resolve for emulators (`sqs.us-east-1.localhost`).
 */
export function createSqsClient({
  region,
  endpoint,
}: {
  readonly region?: string;
  readonly endpoint?: string;
} = {}): SQSClient {
  return new SQSClient({
    // Options instead of a request handler: no import in addition to the client's own.
    requestHandler: {
      connectionTimeout: connectionTimeoutMs,
      requestTimeout: requestTimeoutMs,
      throwOnRequestTimeout: true,
    },
    maxAttempts,
    useQueueUrlAsEndpoint: false,
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
  });
}

/** A smaller offset is the resolution of a Date header, and the time that a response took. */
const minOffsetMs = 5_000;

/**
 * Converts times of `monotonicNow` to the clock of SQS, with which the functions compare them. The SDK learns that
 * clock from the Date of each response. Before the first one, and for a small offset, it is the system clock.
 */
export function createSqsTime({ config }: SQSClient): (at: number) => number {
  return (at) => {
    const { systemClockOffset: offsetMs } = config;
    return Date.now() + (Math.abs(offsetMs) < minOffsetMs ? 0 : offsetMs) - (monotonicNow() - at);
  };
}

/**
 * Joins the URL of a queue from the deployment's prefix, for example
 * `https://sqs.eu-central-1.amazonaws.com/123456789012/outrigger-dev-`. The name follows the prefix directly.
 */
export function queueUrl(urlPrefix: string, name: string): string {
  return `${urlPrefix}${name}`;
}
