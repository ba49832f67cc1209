// What can only be mended by whoever configured the watcher is said at once and in one line: credentials that nobody accepts,
// a CA that signed another server, a queue that is not there. What may be an outage is waited for instead.
import { SendMessageBatchCommand, type SQSClient, SQSServiceException } from '@aws-sdk/client-sqs';
import { ConnectionProblem } from '../clusters/connection-problem.ts';
import { timersQueue } from '../core/names.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { ConnectError, isUnauthorized } from '../kube/client/errors.ts';
import { callWithin } from '../queue/call-within.ts';
import { isMissingQueue, reasonOf } from '../queue/failed-call.ts';
import { queueUrl } from '../queue/names.ts';

/** OpenSSL's and Node's codes for a certificate that does not hold. */
const certificateCodes =
  /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|ERR_TLS_CERT_|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH)/;

const seconds = 10;

/**
 * Asks the API server for its version. Throws a ConnectionProblem for refused credentials or a wrong certificate; returns
 * what else kept it from answering, which may pass.
 * @param source what the connection was read from, for the message
 */
export async function checkApiServer(
  client: KubeClient,
  source: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<Error | undefined> {
  try {
    await client.request({ method: 'GET', path: '/version', timeoutSeconds: seconds, signal });
    return undefined;
  } catch (error) {
    if (isUnauthorized(error)) {
      throw new ConnectionProblem(`${source}: user: the API server does not accept its credentials (401); renew them`);
    }
    const code = certificateCode(error);
    if (code !== undefined) {
      throw new ConnectionProblem(
        `${source}: cluster: the server's certificate does not hold (${code}); check server and certificate-authority`,
      );
    }
    return error instanceof Error ? error : new Error(String(error));
  }
}

/**
 * Sends nothing to the timers queue: the watcher may only send, so that is how it can ask whether anybody is there. Throws a
 * ConnectionProblem when nobody answers or there is no such queue. Any other answer, a refusal included, is one.
 */
export async function checkQueues(
  sqs: SQSClient,
  urlPrefix: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  const QueueUrl = queueUrl(urlPrefix, timersQueue);
  try {
    await callWithin(seconds, signal, (abortSignal) =>
      sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries: [] }), { abortSignal }),
    );
  } catch (error) {
    if (isMissingQueue(error)) {
      throw new ConnectionProblem(`QUEUE_URL_PREFIX: there is no queue ${QueueUrl}; deploy, or correct the prefix`);
    }
    if (error instanceof SQSServiceException) return;
    throw new ConnectionProblem(
      `QUEUE_URL_PREFIX: no answer for ${QueueUrl} (${reasonOf(error)}); check the address, AWS_ENDPOINT_URL and the credentials`,
    );
  }
}

function certificateCode(error: unknown): string | undefined {
  const cause = error instanceof ConnectError ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return certificateCodes.test(code) ? code : undefined;
}
