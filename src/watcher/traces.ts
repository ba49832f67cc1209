// The traces of a watcher, if a collector is set: they begin with the changes that it forwards. Their code is a chunk
// of its own, which is loaded only then.
import type { Log } from '../core/log.ts';
import { monotonicNow, sleep } from '../core/time.ts';
import type { TraceSettings } from '../settings.ts';
import type { Send } from '../sqs/sender.ts';

/** A Send that begins traces, until it is stopped. */
type TracedSend = { readonly send: Send; stop(): Promise<void> };

/** How often spans are sent, and how long a collector may take. */
const flushSeconds = 1;
const flushMs = 5_000;

/** Returns a Send that begins traces; without a collector, the given one. */
export async function startTraces(
  send: Send,
  {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: headers,
    OTEL_EXPORTER_OTLP_TIMEOUT: timeoutMs = flushMs,
    OTEL_TRACES_SAMPLER_ARG: ratio,
  }: TraceSettings,
  { log, toSqsTime }: { readonly log: Log; readonly toSqsTime: (at: number) => number },
): Promise<TracedSend> {
  if (endpoint === undefined) return { send, stop: async () => undefined };
  const { createExporter } = await import('../tracing/exporter.ts');
  const { createSampler, createTracedSend } = await import('../tracing/traced-send.ts');
  const exporter = createExporter(
    { endpoint, headers: async () => headers, service: 'watcher' },
    { onDropped: (spans, reason) => log.warn('spans dropped', { spans, reason }) },
  );
  const ending = new AbortController();
  const exporting = (async () => {
    while (!ending.signal.aborted) {
      await sleep(flushSeconds, ending.signal).catch(() => undefined);
      await exporter.flush(timeoutMs);
    }
  })();
  // The functions continue the traces.
  const now = () => toSqsTime(monotonicNow());
  return {
    send: createTracedSend(send, { exporter, sample: createSampler({ now, random: Math.random, ratio }), now }),
    stop: async () => {
      ending.abort('stopped');
      await exporting;
    },
  };
}
