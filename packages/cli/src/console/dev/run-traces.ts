// The requests of the last runs of each object, from the spans of the functions and the watchers. Bounded: some runs of
// each object, some requests of each run, and the objects that ran last. No content of an object is in a span.
import type { CollectedSpan } from '../../dev/trace-collector.ts';
import { idIn } from '../object-id.ts';
import type { RunRequest, RunTrace, TimelineEntry } from '../wire.ts';

const maxRuns = 10;
const maxRequests = 50;
const maxObjects = 3_000;
/** The messages of watchers that are kept: a run ends after its message was forwarded. */
const maxForwarded = 2_000;

type Run = { readonly span: CollectedSpan; readonly requests: readonly RunRequest[] };

/** The runs by object. */
export class RunTraces {
  readonly #runs = new Map<string, readonly Run[]>();
  readonly #forwarded = new Map<string, CollectedSpan>();

  /** Adds the spans of one export: a function sends those of a run together. */
  add(spans: readonly CollectedSpan[]): void {
    const children = Map.groupBy(spans, ({ parentSpanId = '' }) => parentSpanId);
    for (const span of spans) {
      const { attributes, spanId } = span;
      const isForwarded = attributes['messaging.destination.name'] !== undefined;
      if (isForwarded) putLast(this.#forwarded, messageIdOf(span), span, maxForwarded);
      if (attributes['outrigger.outcome'] === undefined) continue;
      const requests = (children.get(spanId) ?? []).slice(0, maxRequests).map((one) => requestOf(one, span.startMs));
      const id = idOf(attributes);
      const runs = [{ span, requests }, ...(this.#runs.get(id) ?? [])].slice(0, maxRuns);
      putLast(this.#runs, id, runs, maxObjects);
    }
  }

  /** Returns the timeline of an object with the traces of its runs, as far as they are known. */
  join(id: string, timeline: readonly TimelineEntry[]): readonly TimelineEntry[] {
    const runs = this.#runs.get(id) ?? [];
    return timeline.map((entry) => {
      const found = runs.find(({ span }) => span.traceId === entry.traceId && messageIdOf(span) === entry.messageId);
      return entry.type !== 'reconcile' || found === undefined ? entry : { ...entry, trace: this.#traceOf(found) };
    });
  }

  #traceOf({ span, requests }: Run): RunTrace {
    const forwarded = this.#forwarded.get(messageIdOf(span));
    const before = forwarded && { forwardedAt: forwarded.startMs, queuedAt: forwarded.endMs };
    return { startedAt: span.startMs, ...before, requests };
  }
}

/** Puts an entry at the end of a map; the first one goes when there are too many. */
function putLast<T>(map: Map<string, T>, key: string, value: T, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [first] = map.keys();
  if (map.size > max && first !== undefined) map.delete(first);
}

function messageIdOf({ attributes }: CollectedSpan): string {
  return attributes['messaging.message.id'] ?? '';
}

function idOf(attributes: CollectedSpan['attributes']): string {
  const { 'k8s.cluster.name': cluster = '', 'k8s.object.resource': collection = '' } = attributes;
  const { 'k8s.namespace.name': namespace, 'k8s.object.name': name = '' } = attributes;
  return idIn(cluster, collection, { namespace, name });
}

function requestOf({ startMs, endMs, attributes }: CollectedSpan, runStartMs: number): RunRequest {
  const status = attributes['http.response.status_code'];
  return {
    method: attributes['http.request.method'] ?? '',
    target: attributes['url.path'] ?? attributes['server.address'] ?? '',
    ...(status === undefined ? {} : { status: Number(status) }),
    startMs: startMs - runStartMs,
    durationMs: endMs - startMs,
  };
}
