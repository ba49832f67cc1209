// The traces of a function, if a collector is set. Their code is a chunk of its own, which is loaded only then.
import type { SecretReader } from '../api/secret.ts';
import { rememberSecret } from '../core/known-secrets.ts';
import { type ReconcileSettings, readHeaders, type TraceSettings } from '../settings.ts';
import type { Exporter } from '../tracing/exporter.ts';
import type { createKeyTracer } from '../tracing/key-tracer.ts';
import type { Telemetry } from './telemetry.ts';

type StartTrace = ReturnType<typeof createKeyTracer>;

/** The traces of a function. */
type Traces = {
  /** Resolves when traces can begin. Never rejects. */
  readonly loaded: Promise<void>;
  readonly start: StartTrace;
  /** Sends the spans of the invocation, or drops them after 200 ms by default, or this time. Never rejects. */
  flush(remainingMs: number): Promise<void>;
};

/** The most that a collector may delay the response of the function, unless OTEL_EXPORTER_OTLP_TIMEOUT says it. */
const flushMs = 200;

/** How long the headers of a secret are cached. */
const maxAgeSeconds = 300;

/** Opens the traces; undefined without a collector. */
export function openTraces(
  {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: given,
    OTEL_EXPORTER_OTLP_HEADERS_SECRET: secret,
    OTEL_EXPORTER_OTLP_TIMEOUT: timeoutMs = flushMs,
    OTEL_TRACES_SAMPLER_ARG: ratio,
  }: TraceSettings & Pick<ReconcileSettings, 'OTEL_EXPORTER_OTLP_HEADERS_SECRET'>,
  service: string,
  secrets: SecretReader,
  telemetry: Telemetry,
): Traces | undefined {
  if (endpoint === undefined) return undefined;
  async function headers(): Promise<ReadonlyMap<string, string>> {
    if (secret === undefined) return given;
    const text = await secrets.read({ secret, maxAgeSeconds }, 'OTEL_EXPORTER_OTLP_HEADERS_SECRET');
    const more = readHeaders(text);
    more.forEach(rememberSecret);
    return new Map([...given, ...more]);
  }
  // The first export should not wait for it. An error is reported by the export.
  headers().catch(() => undefined);
  let exporter: Exporter | undefined;
  let start: StartTrace | undefined;
  const onDropped = (spans: number, reason: string) => telemetry.log({}).warn('spans dropped', { spans, reason });
  async function load(target: string): Promise<void> {
    const { createExporter } = await import('../tracing/exporter.ts');
    const { createKeyTracer } = await import('../tracing/key-tracer.ts');
    exporter = createExporter({ endpoint: target, headers, service }, { onDropped });
    start = createKeyTracer({ exporter, now: Date.now, random: Math.random, ratio });
  }
  return {
    loaded: load(endpoint),
    start: (message, records) => start?.(message, records),
    flush: async (remainingMs) => await exporter?.flush(Math.min(timeoutMs, remainingMs)),
  };
}
