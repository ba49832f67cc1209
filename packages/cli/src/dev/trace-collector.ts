// The collector of the traces of a local system: OTLP/HTTP with JSON, as the runtime exports it, on loopback. Its path
// has a token, so that no other user of the machine adds spans.
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { json } from 'node:stream/consumers';
import { answering } from '@outrigger/apiserver/http/answering';
import { foreignRequest } from '@outrigger/common/http/foreign-request';
import { closeServer, listen } from '@outrigger/common/http/listen';
import * as z from 'zod';

/** A span, with its times in milliseconds since 1970 and its attributes as text. */
export type CollectedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string>>;
};

const nanoseconds = z.string().transform((text) => Number(text) / 1e6);
const attribute = z.object({
  key: z.string(),
  value: z.object({ stringValue: z.string().optional(), intValue: z.string().optional() }),
});
const exportRequest = z.object({
  resourceSpans: z.array(
    z.object({
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string(),
              spanId: z.string(),
              parentSpanId: z.string().optional(),
              startTimeUnixNano: nanoseconds,
              endTimeUnixNano: nanoseconds,
              attributes: z.array(attribute),
            }),
          ),
        }),
      ),
    }),
  ),
});

/** Starts the collector on a free port. `onSpans` receives the spans of one export. */
export async function startTraceCollector(
  onSpans: (spans: readonly CollectedSpan[]) => void,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const token = randomBytes(16).toString('hex');
  const server = http.createServer(
    answering(async (incoming, outgoing, { pathname }) => {
      const refusal = foreignRequest(incoming.headers);
      const isExport = incoming.method === 'POST' && pathname === `/${token}/v1/traces`;
      const sent = refusal === undefined && isExport ? exportRequest.safeParse(await json(incoming)).data : undefined;
      if (sent !== undefined) onSpans(spansOf(sent));
      outgoing.writeHead(sent === undefined ? (refusal?.status ?? 404) : 200, { 'content-type': 'application/json' });
      outgoing.end('{}');
    }),
  );
  const url = await listen(server);
  return { url: `${url}/${token}`, close: async () => await closeServer(server) };
}

function spansOf({ resourceSpans }: z.infer<typeof exportRequest>): readonly CollectedSpan[] {
  const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  return spans.map(({ traceId, spanId, parentSpanId, startTimeUnixNano, endTimeUnixNano, attributes }) => ({
    traceId,
    spanId,
    parentSpanId,
    startMs: startTimeUnixNano,
    endMs: endTimeUnixNano,
    attributes: Object.fromEntries(
      attributes.map(({ key, value: { stringValue, intValue } }) => [key, stringValue ?? intValue ?? '']),
    ),
  }));
}
