// Checks the configuration before the watcher starts. Errors that only the operator can fix end the process with one
// line: rejected credentials, a CA that did not sign the server's certificate, a queue that does not exist. A possible
// outage is not such an error: the watcher starts and retries.
import { SendMessageBatchCommand, type SQSClient, SQSServiceException } from '@aws-sdk/client-sqs';
import { UserError } from '../core/errors.ts';
import { timersQueue } from '../core/names.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isUnauthorized } from '../kube/client/errors.ts';
import { untrustedCodeOf } from '../kube/client/transport.ts';
import { callWithin, isMissingQueue, sqsErrorReason } from '../sqs/call.ts';
import { queueUrl } from '../sqs/sqs-client.ts';

/** The deadline of each check. */
const checkSeconds = 10;

/**
 * Reads the version of the API server. Throws a UserError for rejected credentials or an invalid certificate. Returns
 * any other error, which may be temporary.
 * @param source where the connection was read from, for the message
 */
export async function checkApiServer(
  client: KubeClient,
  source: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<Error | undefined> {
  try {
    await client.request({ method: 'GET', path: '/version', timeoutSeconds: checkSeconds, signal });
    return undefined;
  } catch (error) {
    if (isUnauthorized(error)) {
      throw new UserError(`${source}: user: the API server does not accept its credentials (401); renew them`);
    }
    const code = untrustedCodeOf(error);
    if (code !== undefined) {
      throw new UserError(
        `${source}: cluster: the server's certificate is not valid (${code}); ` +
          'check server, certificate-authority and the clock here',
      );
    }
    return error instanceof Error ? error : new Error(String(error));
  }
}

/**
 * Sends an empty batch to the timers queue, because the watcher only has the permission to send. Throws a UserError if
 * the queue does not exist. An answer about the batch shows that the queue exists and that the watcher may send to it.
 * Without an answer, or if the identity of the watcher is refused, returns the error, which may be temporary.
 */
export async function requireQueues(
  sqs: SQSClient,
  urlPrefix: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<Error | undefined> {
  const QueueUrl = queueUrl(urlPrefix, timersQueue);
  try {
    await callWithin(checkSeconds, signal, (abortSignal) =>
      sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries: [] }), { abortSignal }),
    );
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (isMissingQueue(error)) {
      throw new UserError(`QUEUE_URL_PREFIX: queue ${QueueUrl} does not exist; deploy, or correct the prefix`);
    }
    if (error instanceof SQSServiceException) {
      if (!isRefused(error)) return undefined;
      const fix =
        'attach WatcherPolicyArn to the role of the watcher, and name a role of another account in WATCHER_ROLES';
      return new Error(`QUEUE_URL_PREFIX: ${QueueUrl} refuses this watcher (${sqsErrorReason(error)}); ${fix}`);
    }
    const fix = 'check the address, AWS_ENDPOINT_URL and the credentials';
    return new Error(`QUEUE_URL_PREFIX: no response from ${QueueUrl} (${sqsErrorReason(error)}); ${fix}`);
  }
}

/**
 * Whether an answer is about who asks. SQS has 403 for most of these (Amazon SQS API reference, "Common errors"), and
 * 400 for some in its JSON protocol.
 */
function isRefused({ name, $metadata }: SQSServiceException): boolean {
  const { httpStatusCode = 0 } = $metadata;
  return [401, 403].includes(httpStatusCode) || /Token|Signature|Denied|Security|Authentication|OptIn|^kms/i.test(name);
}
