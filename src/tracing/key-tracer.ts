// The traces of a function: a span for each key, whose parent is the change that the watcher forwarded, and below it a
// span for each request. A trace ends with its reconcile and its direct retries: a requeue every 30 seconds for weeks
// would otherwise be one trace. Other causes begin a trace of their own, with a link to where they come from.
import { AsyncLocalStorage } from 'node:async_hooks';
import { toError } from '../core/errors.ts';
import { collectionName } from '../core/key.ts';
import { redact } from '../core/redact.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { ApiError } from '../kube/client/errors.ts';
import { type Message, originOf } from '../sqs/message.ts';
import type { QueueRecord } from '../sqs/record.ts';
import type { Exporter } from './exporter.ts';
import { childOf, formatTraceHeader, newTrace, parseTraceHeader, type TraceContext } from './trace-context.ts';

/** The dependencies of the traces. */
export type KeyTracerDeps = {
  readonly exporter: Pick<Exporter, 'record'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  /** The part of the keys without a sampled change that begin a trace. */
  readonly ratio: number;
};

/** The trace of one key. */
export type KeyTrace = {
  readonly traceId: string;
  /** The trace header of the key's follow-up message. */
  readonly header: string;
  /** Returns a client whose requests are spans. */
  client(client: KubeClient): KubeClient;
  /** Runs the reconcile. Its calls of `fetch` are spans. */
  run<T>(work: () => Promise<T>): Promise<T>;
  end(result: { readonly outcome: string; readonly error?: Error | undefined }): void;
};

/** At most this many messages that were merged into one are linked. */
const maxLinks = 3;

/** Creates a function that begins the trace of a key; undefined for a key that is not sampled. */
export function createKeyTracer({
  exporter,
  now,
  random,
  ratio,
}: KeyTracerDeps): (message: Message, records: readonly QueueRecord[]) => KeyTrace | undefined {
  const current = new AsyncLocalStorage<TraceContext>();
  traceFetch(current, { exporter, now });

  return (message, records) => {
    const origins = records.flatMap(({ traceHeader }) => parseTraceHeader(traceHeader) ?? []);
    const follows = message.cause.type === 'change' || message.cause.type === 'retry';
    const parent = follows ? origins.find(({ sampled }) => sampled) : undefined;
    // A ratio of one is every key, also where the queue keeps no header, as an emulated one.
    const isLeftOut = follows && (origins.length > 0 || ratio < 1);
    if (parent === undefined && (isLeftOut || random() >= ratio)) return undefined;
    const context = parent === undefined ? newTrace(now()) : childOf(parent);
    const startMs = now();
    return {
      traceId: context.traceId,
      header: formatTraceHeader(context),
      client: (client) => tracedClient(client, context, { exporter, now }),
      run: async (work) => await current.run(context, work),
      end: ({ outcome, error }) =>
        exporter.record({
          name: `reconcile ${message.resource}`,
          kind: 'consumer',
          context,
          startMs,
          endMs: now(),
          parentSpanId: parent?.spanId,
          links: origins.filter((one) => one !== parent).slice(0, maxLinks),
          attributes: {
            ...attributesOf(message),
            'outrigger.outcome': outcome,
            // That of the log line.
            'messaging.message.id': records[0]?.messageId,
          },
          error: error === undefined ? undefined : redact(error.message),
        }),
    };
  };
}

/** The names of a key and its cause, as attributes of a span. */
export function attributesOf(message: Message): Readonly<Record<string, string | number | undefined>> {
  const { controller, cluster, group, resource, namespace, name, cause, merged } = message;
  const origin = originOf(cause);
  return {
    'outrigger.controller': controller,
    'outrigger.cause': cause.type,
    'outrigger.caused_by': origin === undefined ? undefined : redact(origin),
    'outrigger.merged': merged?.count,
    'k8s.cluster.name': cluster,
    'k8s.namespace.name': namespace,
    'k8s.object.name': name,
    'k8s.object.resource': collectionName({ group, plural: resource }),
  };
}

type SpanDeps = Pick<KeyTracerDeps, 'exporter' | 'now'>;

function tracedClient(client: KubeClient, parent: TraceContext, deps: SpanDeps): KubeClient {
  return {
    ...client,
    request: async (request) =>
      await clientSpan(
        deps,
        { parent, name: request.method, attributes: { 'url.path': request.path } },
        async () => await client.request(request),
        (error) => (error instanceof ApiError ? error.status : undefined),
      ),
  };
}

/** Calls of `fetch` by the author's clients are spans of the key that is being reconciled. */
function traceFetch(current: AsyncLocalStorage<TraceContext>, deps: SpanDeps): void {
  const untraced = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const parent = current.getStore();
    if (parent === undefined) return await untraced(input, init);
    const url = URL.parse(input instanceof Request ? input.url : String(input));
    const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
    // The path of an outside system may contain a token.
    const attributes = { 'server.address': url?.host };
    return await clientSpan(deps, { parent, name: method, attributes }, async () => await untraced(input, init));
  };
}

async function clientSpan<T extends { readonly status: number }>(
  { exporter, now }: SpanDeps,
  {
    parent,
    name,
    attributes,
  }: {
    readonly parent: TraceContext;
    readonly name: string;
    readonly attributes: Readonly<Record<string, string | undefined>>;
  },
  call: () => Promise<T>,
  statusOf: (error: unknown) => number | undefined = () => undefined,
): Promise<T> {
  const startMs = now();
  const record = (status: number | undefined, error?: string) =>
    exporter.record({
      name,
      kind: 'client',
      context: childOf(parent),
      parentSpanId: parent.spanId,
      startMs,
      endMs: now(),
      attributes: { 'http.request.method': name, ...attributes, 'http.response.status_code': status },
      error,
    });
  try {
    const response = await call();
    record(response.status);
    return response;
  } catch (error) {
    record(statusOf(error), redact(toError(error).message));
    throw error;
  }
}
