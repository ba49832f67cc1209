// Embedded SQS: fauxqs in this process, so that trying Outrigger needs neither an account nor a second program. Any server
// that speaks SQS can take its place (`--queue-endpoint`).
import { SQSClient } from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import { localRegion } from '../local/lambda/account.ts';

/** An SQS server that runs. */
export type LocalSqs = { readonly endpoint: string; close(): Promise<void> };

/** Starts a server on loopback only. Throws the listen error, for example EADDRINUSE. */
export async function startSqs({ port = 0 }: { readonly port?: number } = {}): Promise<LocalSqs> {
  const app = buildApp({ logger: false, defaultRegion: localRegion });
  // Not fauxqs' own start, which listens on every interface.
  const endpoint = await app.listen({ port, host: '127.0.0.1' });
  return { endpoint, close: () => app.close() };
}

/** What a server of one machine finds where a signature would be: a region, which some look for. Making a real one is a third of a call. */
export const unsigned = `AWS4-HMAC-SHA256 Credential=local/20000101/${localRegion}/sqs/aws4_request, SignedHeaders=host, Signature=none`;

/** Makes a client for a server of one machine. Its credentials are none: emulators ask for some and look at none. */
export function createLocalSqsClient(endpoint: string, { maxAttempts = 3 } = {}): SQSClient {
  return new SQSClient({
    endpoint,
    region: localRegion,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    signer: {
      sign: async (request) => {
        request.headers = { ...request.headers, authorization: unsigned };
        return request;
      },
    },
    // Queue URLs of emulators carry hosts that do not resolve.
    useQueueUrlAsEndpoint: false,
    maxAttempts,
  });
}
