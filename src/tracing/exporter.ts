// Exports spans by OTLP/HTTP with JSON (https://opentelemetry.io/docs/specs/otlp): no SDK, no layer, no collector in
// the function. It is loaded only if an endpoint is set.
//
// Guarantees: recording never throws and never waits. Spans that the collector does not accept in time are dropped, and
// reported.
import { unlessAborted } from '../core/async.ts';
import { toError } from '../core/errors.ts';
import { redact } from '../core/redact.ts';
import type { TraceContext } from './trace-context.ts';

/** A finished span. Times are in milliseconds since 1970. */
export type Span = {
  readonly name: string;
  readonly kind: 'producer' | 'consumer' | 'client';
  readonly context: TraceContext;
  readonly parentSpanId?: string | undefined;
  /** Where the span comes from, if that is not its parent. */
  readonly links?: readonly TraceContext[];
  readonly startMs: number;
  readonly endMs: number;
  /** Names only: no content of objects, and no query of a URL. */
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
  readonly error?: string | undefined;
};

/** Where spans are sent. */
export type ExporterOptions = {
  /** OTEL_EXPORTER_OTLP_ENDPOINT; `/v1/traces` is added to it. */
  readonly endpoint: string;
  /** Reads the headers, before each export. */
  readonly headers: () => Promise<ReadonlyMap<string, string>>;
  /** The service of the spans: a controller, or `watcher`. */
  readonly service: string;
};

/** Collects spans and sends them. */
export type Exporter = {
  record(span: Span): void;
  /** Sends what was recorded. Never rejects. */
  flush(timeoutMs: number): Promise<void>;
};

/** Beyond this, spans are dropped: a collector that is unavailable must not fill the memory. */
const maxSpans = 2_000;
/** SpanKind of OTLP. */
const kinds = { client: 3, producer: 4, consumer: 5 } as const;
/** StatusCode of OTLP. */
const errorStatus = 2;

/** Creates an exporter. `onDropped` is called at most once for each flush. */
export function createExporter(
  { endpoint, headers, service }: ExporterOptions,
  {
    fetch: send = globalThis.fetch,
    onDropped,
  }: { readonly fetch?: typeof globalThis.fetch; readonly onDropped: (spans: number, reason: string) => void },
): Exporter {
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`;
  let spans: Span[] = [];
  let overflow = 0;

  return {
    record: (span) => {
      if (spans.length < maxSpans) spans.push(span);
      else overflow += 1;
    },
    flush: async (timeoutMs) => {
      const batch = spans;
      if (overflow > 0) onDropped(overflow, `more than ${maxSpans} spans are waiting`);
      spans = [];
      overflow = 0;
      if (batch.length === 0) return;
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        const own = Object.fromEntries(await unlessAborted(headers(), signal));
        const response = await send(url, {
          method: 'POST',
          headers: { ...own, 'content-type': 'application/json' },
          body: JSON.stringify(requestOf(service, batch)),
          redirect: 'error',
          signal,
        });
        await response.body?.cancel();
        if (!response.ok) onDropped(batch.length, `the collector responded with ${response.status}`);
      } catch (error) {
        onDropped(batch.length, redact(toError(error).message));
      }
    },
  };
}

/** Makes an ExportTraceServiceRequest. Ids are hexadecimal and times are decimal strings in OTLP's JSON. */
function requestOf(service: string, spans: readonly Span[]): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ 'service.name': service, 'service.namespace': 'outrigger' }) },
        scopeSpans: [{ scope: { name: 'outrigger' }, spans: spans.map(toOtlp) }],
      },
    ],
  };
}

function toOtlp({ name, kind, context, parentSpanId, links = [], startMs, endMs, attributes, error }: Span): object {
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    parentSpanId,
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(Math.max(startMs, endMs)),
    attributes: attributesOf(attributes),
    ...(links.length === 0 ? {} : { links: links.map(({ traceId, spanId }) => ({ traceId, spanId })) }),
    ...(error === undefined ? {} : { status: { code: errorStatus, message: error } }),
  };
}

function attributesOf(attributes: Span['attributes']): readonly object[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return [{ key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } }];
  });
}

function nanoseconds(ms: number): string {
  return `${BigInt(Math.round(ms * 1000)) * 1000n}`;
}
