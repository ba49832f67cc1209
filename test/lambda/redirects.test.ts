// Only where requests with secrets in their headers end that neither an API server nor S3 receives: a server that
// redirects would hand the headers on. Those of API servers are in kube/client/hostile-server.test.ts.
import type { IncomingHttpHeaders } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { callerIdentity } from '../../src/clusters/auth/aws-identity.ts';
import { createExporter, type Span } from '../../src/tracing/exporter.ts';
import { startHttpServer } from '../support/listen.ts';

const span: Span = {
  name: 'reconcile',
  kind: 'consumer',
  startMs: 1,
  endMs: 2,
  attributes: {},
  context: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true },
};
const identity = { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'not-a-secret', sessionToken: 'session' };

/** Sends a request to an endpoint. Returns the error. */
const senders = {
  'a collector of traces': async (endpoint: string) => {
    const errors: string[] = [];
    const headers = async () => new Map([['x-key', 'secret']]);
    const onDropped = (_: number, reason: string) => void errors.push(reason);
    const exporter = createExporter({ endpoint, headers, service: 'watcher' }, { onDropped });
    exporter.record(span);
    await exporter.flush(5_000);
    return errors.join();
  },
  STS: async (endpoint: string) => {
    const caller = { credentials: async () => identity, region: async () => 'us-east-1', now: () => new Date() };
    return await callerIdentity({ ...caller, endpoint }).then(() => '', String);
  },
};

it.each(
  Object.entries(senders),
)('%s that redirects is an error, and the other address gets no request', async (_, send) => {
  const arrived: IncomingHttpHeaders[] = [];
  const other = await startHttpServer(({ headers }, response) => {
    arrived.push(headers);
    response.end('{}');
  });
  const server = await startHttpServer((_request, response) => {
    response.writeHead(307, { location: other.url }).end();
  });
  onTestFinished(async () => void (await Promise.all([server.close(), other.close()])));
  expect(await send(server.url)).toMatch(/fetch failed|redirect/);
  expect(arrived).toEqual([]);
});
