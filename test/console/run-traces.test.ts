// Only the way of spans from the runtime's exporter over the local collector into the timeline of an object, and its
// bounds. That the functions and watchers of a local system send them is browser/dev.test.ts.
import { RunTraces } from '@outrigger/cli/console/dev/run-traces';
import type { TimelineEntry } from '@outrigger/cli/console/wire';
import { startTraceCollector } from '@outrigger/cli/dev/trace-collector';
import { afterEach, expect, it } from 'vitest';
import { createClient } from '../../src/kube/client/client.ts';
import { formatMessage, type Message } from '../../src/sqs/message.ts';
import { createExporter } from '../../src/tracing/exporter.ts';
import { createKeyTracer } from '../../src/tracing/key-tracer.ts';
import { createTracedSend } from '../../src/tracing/traced-send.ts';
import { record } from '../reconciling/batch-harness.ts';
import { aMessage, asChange, asRequeue } from '../sqs/messages.ts';
import { startHttpServer } from '../support/listen.ts';

const realFetch = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = realFetch;
});

const id = 'alpha:gadgets.example.com/shop/one';
const path = '/apis/example.com/v1/namespaces/shop/gadgets/one';
const { signal } = new AbortController();
const entry = (messageId: string, traceId = ''): TimelineEntry => ({
  at: 9,
  type: 'reconcile',
  text: 'ran',
  messageId,
  traceId,
});

it('a change and its run are a waterfall: watcher, queue, and each request; of each object ten runs are kept', async () => {
  await using parts = new AsyncDisposableStack();
  const server = await startHttpServer((_, response) => void response.writeHead(409).end('{}'));
  parts.defer(() => server.close());
  const client = createClient({ server: new URL(server.url) });
  parts.defer(async () => client.close());
  const traces = new RunTraces();
  const collector = await startTraceCollector((spans) => traces.add(spans));
  parts.defer(() => collector.close());
  const endpoint = collector.url;
  const dropped: unknown[] = [];
  const exporter = createExporter(
    { endpoint, headers: async () => new Map(), service: 'gadget' },
    { onDropped: (...reason) => dropped.push(reason) },
  );
  let nowMs = 1_000;
  const now = () => nowMs;
  const start = createKeyTracer({ exporter, now, random: () => 0, ratio: 1 });
  let traceHeader: string | undefined;
  const sent = createTracedSend(
    async (_, [one]) => {
      traceHeader = one?.traceHeader;
      nowMs += 8;
      return [{ accepted: true, messageId: 'm-0' }];
    },
    { exporter, sample: () => true, now },
  );
  const run = async (messageId: string, message: Message) => {
    const trace = start(message, [{ ...record('one'), messageId, traceHeader }]);
    nowMs += 2;
    await trace
      ?.client(client)
      .request({ method: 'PATCH', path, body: { secret: 's' }, signal })
      .catch(() => undefined);
    nowMs += 3;
    trace?.end({ outcome: 'done' });
    await exporter.flush(5_000);
    return entry(messageId, trace?.traceId);
  };
  const changed = aMessage(asChange({ observedAt: 1_000 }));
  await sent('gadget.fifo', [{ body: formatMessage(changed), groupId: 'g', deduplicationId: 'd' }], { signal });
  nowMs += 20;
  const first = await run('m-0', changed);
  const request = { method: 'PATCH', target: path, status: 409, startMs: 2, durationMs: 0 };
  const trace = { startedAt: 1_028, forwardedAt: 1_000, requests: [request] };
  const [joined, other] = traces.join(id, [first, entry('m-1', first.traceId)]);
  expect(joined?.trace).toMatchObject({ ...trace, queuedAt: 1_008 });
  expect(other).not.toHaveProperty('trace');
  expect(JSON.stringify(joined)).not.toContain('secret');
  const runs = [first];
  // The last message is received twice.
  for (let index = 1; index <= 10; index += 1) runs.push(await run(`m-${Math.min(index, 9)}`, aMessage(asRequeue())));
  const known = traces.join(id, runs);
  expect(known.map((one) => one.trace?.requests.length ?? 0)).toEqual([0, ...Array(10).fill(1)]);
  expect(new Set(known.map((one) => one.trace?.startedAt)).size).toBe(11);
  // Of a run that no watcher has forwarded it is not known when its message was sent.
  expect(known[10]?.trace).not.toHaveProperty('queuedAt');
  expect(dropped).toEqual([]);
  const post = async (url: string | URL, headers = {}) => (await fetch(url, { method: 'POST', headers })).status;
  expect(await post(new URL('/v1/traces', endpoint))).toBe(404);
  expect(await post(`${endpoint}/v1/traces`, { origin: 'http://evil.example' })).toBe(403);
});
