// The beginning of a trace: the watcher forwards a change. Each sampled message has a span of its own, from the change
// to its acceptance by SQS, and carries its context as the system attribute AWSTraceHeader.

import { parseMessage } from '../sqs/message.ts';
import type { Send } from '../sqs/sender.ts';
import type { Exporter } from './exporter.ts';
import { attributesOf } from './key-tracer.ts';
import { formatTraceHeader, newTrace, type TraceContext } from './trace-context.ts';

/** Whether the next change is sampled. */
export type Sampler = () => boolean;

/** Creates a sampler: one change a second, and this part of the others, so that a burst costs little more. */
export function createSampler({
  now,
  random,
  ratio,
}: {
  readonly now: () => number;
  readonly random: () => number;
  readonly ratio: number;
}): Sampler {
  let nextAt = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = now();
    if (nowMs < nextAt && nextAt - nowMs <= 1_000) return random() < ratio;
    nextAt = nowMs + 1_000;
    return true;
  };
}

/** Creates a Send that begins the traces of changes. Messages of other causes are sent as they are. */
export function createTracedSend(
  send: Send,
  {
    exporter,
    sample,
    now,
  }: { readonly exporter: Pick<Exporter, 'record'>; readonly sample: Sampler; readonly now: () => number },
): Send {
  return async (queue, entries, options) => {
    // Only FIFO queues are a controller's.
    const contexts = entries.map(({ groupId }): TraceContext | undefined =>
      groupId !== undefined && sample() ? newTrace(now()) : undefined,
    );
    const traced = entries.map((entry, index) => {
      const context = contexts[index];
      return context === undefined ? entry : { ...entry, traceHeader: formatTraceHeader(context) };
    });
    const results = await send(queue, traced, options);
    for (const [index, context] of contexts.entries()) {
      const entry = entries[index];
      const result = results[index];
      if (context === undefined || entry === undefined || result?.accepted !== true) continue;
      const message = parseMessage(entry.body);
      const startMs = message.cause.type === 'change' ? message.cause.observedAt : now();
      exporter.record({
        name: `forward ${message.resource}`,
        kind: 'producer',
        context,
        startMs,
        endMs: now(),
        attributes: {
          ...attributesOf(message),
          'messaging.system': 'aws_sqs',
          'messaging.destination.name': queue,
          'messaging.message.id': result.messageId,
        },
      });
    }
    return results;
  };
}
