// Embedded SQS: fauxqs in this process, so that the local system needs neither an AWS account nor a second program.
// `--queue-endpoint` replaces it with any SQS server.
import { SQSClient } from '@aws-sdk/client-sqs';
import { type AllowedHosts, foreignRequest } from '@outrigger/common/http/foreign-request';
import { timersQueue } from 'outrigger/internal/core/names';
import { localRegion } from './lambda/account.ts';

/** A running SQS server. */
export type LocalSqs = {
  readonly endpoint: string;
  /** Refuses every call with 503 until it is set to false, as while SQS is down. */
  setDown(down: boolean): void;
  close(): Promise<void>;
};

/** Starts a server on loopback only. Throws the listen error, for example EADDRINUSE. */
export async function startSqs({
  port = 0,
  allowedHosts = [],
}: AllowedHosts & { readonly port?: number } = {}): Promise<LocalSqs> {
  let isDown = false;
  // Loaded here, as a command that only makes a client would start later by the time of a web server.
  const { buildApp } = await import('fauxqs');
  const app = buildApp({ logger: false, defaultRegion: localRegion });
  app.addHook('onRequest', async ({ headers }, reply) => {
    const refusal = foreignRequest(headers, { allowedHosts });
    if (refusal !== undefined) return reply.code(refusal.status).send({ message: refusal.reason });
    if (isDown) return reply.code(503).send({ message: 'the service is unavailable' });
  });
  // fauxqs' own start listens on every interface.
  const endpoint = await app.listen({ port, host: '127.0.0.1' });
  const setDown = (down: boolean) => {
    isDown = down;
  };
  return { endpoint, setDown, close: () => app.close() };
}

/** Returns what the URLs of a system's queues begin with, from its URLs by name: each system has a timers queue. */
export function urlPrefixOf(queues: Readonly<Record<string, string>>): string {
  return (queues[timersQueue] ?? '').slice(0, -timersQueue.length);
}

/**
 * The authorization header for a server of this machine: it has a region, which some servers read, and no signature.
 * Signing would take a third of the time of a call.
 */
export const fakeAuthorization =
  `AWS4-HMAC-SHA256 Credential=local/20000101/${localRegion}/sqs/aws4_request, ` + 'SignedHeaders=host, Signature=none';

/**
 * Makes a client for a server of this machine. Emulators require credentials, and do not check them. A request without
 * a response fails after `responseSeconds`, which is longer than the longest poll, 20 s: a connection that became
 * silent without a reset would end the polling for good.
 */
export function createLocalSqsClient(endpoint: string, { maxAttempts = 3, responseSeconds = 30 } = {}): SQSClient {
  return new SQSClient({
    endpoint,
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: responseSeconds * 1000,
      throwOnRequestTimeout: true,
    },
    region: localRegion,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    signer: {
      sign: async (request) => {
        request.headers = { ...request.headers, authorization: fakeAuthorization };
        return request;
      },
    },
    // Queue URLs of emulators have hosts that do not resolve.
    useQueueUrlAsEndpoint: false,
    maxAttempts,
  });
}
