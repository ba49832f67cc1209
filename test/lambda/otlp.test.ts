// The trace of one change, from the watcher's message through the function to each request, as a loopback collector
// receives it; and that nothing of it is loaded without a collector. How a console shows it is not tested.
import { writeFile } from 'node:fs/promises';
import type http from 'node:http';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { changeEntry } from '../../src/forwarding/forwarder.ts';
import { createReconcileHandler } from '../../src/lambda/reconcile-handler.ts';
import { formatMessage } from '../../src/sqs/message.ts';
import { createExporter } from '../../src/tracing/exporter.ts';
import { formatTraceHeader, parseTraceHeader } from '../../src/tracing/trace-context.ts';
import { createSampler, createTracedSend } from '../../src/tracing/traced-send.ts';
import { aMessage, asRequeue } from '../sqs/messages.ts';
import { captureConsole } from '../support/capture-console.ts';
import { startHttpServer } from '../support/listen.ts';
import { functionSystem } from './function-system.ts';
import { aContext, anEvent, aRecord } from './invocation.ts';
import { widget } from './widget.ts';

// OTLP's JSON (opentelemetry-proto, docs/specs/otlp): strict, so that a wrong field fails.
const hex = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));
const attributes = z.array(
  z.strictObject({
    key: z.string(),
    value: z.union([
      z.strictObject({ stringValue: z.string() }),
      z.strictObject({ intValue: z.string().regex(/^\d+$/) }),
    ]),
  }),
);
const spanSchema = z.strictObject({
  traceId: hex(32),
  spanId: hex(16),
  parentSpanId: hex(16).optional(),
  name: z.string(),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: z.string().regex(/^\d{19}$/),
  endTimeUnixNano: z.string().regex(/^\d{19}$/),
  attributes,
  links: z.array(z.strictObject({ traceId: hex(32), spanId: hex(16) })).optional(),
  status: z.strictObject({ code: z.literal(2), message: z.string() }).optional(),
});
const requestSchema = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeSpans: z.array(z.strictObject({ scope: z.strictObject({ name: z.string() }), spans: z.array(spanSchema) })),
    }),
  ),
});
type Span = z.infer<typeof spanSchema>;

let outside = '';
const controller = widget.controller('widget', {
  reconcile: async ({ metadata }) => {
    await (await fetch(`${outside}/level?key=secret`)).text();
    return { status: { note: metadata.name }, conditions: { Built: { status: 'True', reason: 'Built' } } };
  },
});

const functions = functionSystem({
  environment: { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b,other=1', LOG_LEVEL: 'INFO' },
});
let endpoint: string;
let spans: Span[] = [];
let headers: http.IncomingHttpHeaders = {};
let answer = 200;
let isHanging = false;
let reconciledAt: number | undefined;
const realFetch = globalThis.fetch;

beforeAll(async () => {
  const collector = await startHttpServer(async (request, response) => {
    if (request.url !== '/v1/traces') {
      reconciledAt = performance.now();
      return void response.end('42');
    }
    if (isHanging) return;
    headers = request.headers;
    const { resourceSpans } = requestSchema.parse(await json(request));
    spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
    response.writeHead(answer).end('{}');
  });
  endpoint = collector.url;
  outside = endpoint;
  await functions.apply('one');
  return collector.close;
});
beforeEach(() => {
  spans = [];
  answer = 200;
  isHanging = false;
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', endpoint);
});
afterEach(() => {
  globalThis.fetch = realFetch;
});

const key = { group: widget.group, resource: widget.plural, namespace: 'default', name: 'one' };
const target = { controller: 'widget', cluster: 'alpha', ...key };

/** Sends changes of children as the watcher does, and returns the body and the trace header of their message. */
async function forwarded(
  versions: readonly string[] = ['1', '2'],
): Promise<{ readonly body: string; readonly header: string | undefined }> {
  const exporter = createExporter(
    { endpoint, headers: async () => new Map(), service: 'watcher' },
    { onDropped: () => undefined },
  );
  const sent: { readonly body: string; readonly header: string | undefined }[] = [];
  const send = createTracedSend(
    async (_, entries) => {
      sent.push(...entries.map(({ body, traceHeader: header }) => ({ body, header })));
      return entries.map(() => ({ accepted: true, messageId: 'm' }));
    },
    { exporter, sample: () => true, now: Date.now },
  );
  const sources = versions.map((resourceVersion) => ({
    uid: `u-${resourceVersion}`,
    resourceVersion,
    object: ['', 'pods', 'default', `pod-${resourceVersion}`] as const,
  }));
  const entry = changeEntry({ target, sources, observedAt: Date.now() - 50 });
  await send('widget.fifo', [entry], { signal: AbortSignal.timeout(5_000) });
  await exporter.flush(5_000);
  const [first] = sent;
  if (first === undefined) throw new Error('nothing was sent');
  return first;
}

/** Invokes the function with one record, and returns the log lines. */
async function invoke(
  body: string,
  header: string | undefined,
  context = aContext(),
): Promise<readonly Record<string, unknown>[]> {
  const { lines, restore } = captureConsole();
  const record = aRecord('m', body);
  const traced = header === undefined ? {} : { AWSTraceHeader: header };
  const handler = createReconcileHandler(controller);
  const response = await handler(
    anEvent({ ...record, attributes: { ...record.attributes, ...traced } }),
    context,
  ).finally(restore);
  expect(response).toEqual({ batchItemFailures: [] });
  return lines.map((line) => JSON.parse(line));
}

const attributeOf = ({ attributes: all }: Span, name: string): unknown =>
  Object.values(all.find(({ key: one }) => one === name)?.value ?? {})[0];
const named = (name: string) => spans.find((span) => span.name === name);

it('a trace has the change, below it the reconcile, and below that each request; the log line has its id and cause', async () => {
  const { body, header } = await forwarded();
  const lines = await invoke(body, header);
  const change = named('forward widgets');
  const reconcile = named('reconcile widgets');
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(change?.parentSpanId).toBeUndefined();
  expect(reconcile?.parentSpanId).toBe(change?.spanId);
  const requests = spans.filter(({ kind }) => kind === 3);
  expect(new Set(requests.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([reconcile?.spanId]));
  const paths = requests.map(
    (span) => `${span.name} ${attributeOf(span, 'url.path') ?? attributeOf(span, 'server.address')}`,
  );
  const object = `/apis/${widget.apiVersion}/namespaces/default/widgets/one`;
  expect(paths).toEqual([`GET ${object}`, `GET ${new URL(endpoint).host}`, `PATCH ${object}/status`]);
  expect(JSON.stringify(spans)).not.toContain('secret');
  if (reconcile === undefined) throw new Error('the reconcile has no span');
  expect(
    ['outrigger.caused_by', 'outrigger.merged', 'outrigger.outcome'].map((one) => attributeOf(reconcile, one)),
  ).toEqual(['pods/default/pod-2', '1', 'done']);
  expect(lines.find(({ message }) => message === 'reconciled')).toMatchObject({
    cause: 'change',
    causedBy: 'pods/default/pod-2',
    merged: 1,
    mergedCauses: ['change pods/default/pod-1'],
    traceId: reconcile.traceId,
  });
  expect(headers).toMatchObject({ 'x-key': 'a b', other: '1' });
});

it('the headers for the collector can be in a secret, and a collector that is reached without it loses the spans', async () => {
  const secret = path.join(functions.system.folder, 'headers');
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS_SECRET', `file:${secret}`);
  const { body, header } = await forwarded();
  headers = {};
  const lines = await invoke(body, header);
  expect(headers).toEqual({});
  expect(lines.find(({ message }) => message === 'spans dropped')).toMatchObject({
    reason: expect.stringContaining('OTEL_EXPORTER_OTLP_HEADERS_SECRET'),
  });
  await writeFile(secret, 'x-key=from%20secret');
  await invoke(body, header);
  expect(headers).toMatchObject({ 'x-key': 'from secret', other: '1' });
});

it('a requeue begins a trace of its own with a link, and a change that is not sampled has none', async () => {
  vi.stubEnv('OTEL_TRACES_SAMPLER_ARG', '1');
  const origin = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true };
  await invoke(formatMessage({ ...aMessage(target), ...asRequeue() }), formatTraceHeader(origin));
  const reconcile = named('reconcile widgets');
  expect(reconcile?.traceId).not.toBe(origin.traceId);
  expect(reconcile?.links).toEqual([{ traceId: origin.traceId, spanId: origin.spanId }]);
  spans = [];
  const { body } = await forwarded();
  spans = [];
  await invoke(body, formatTraceHeader({ ...origin, sampled: false }));
  expect(spans).toEqual([]);
  // An emulated queue keeps no header.
  await invoke(body, undefined);
  expect(named('reconcile widgets')).toBeDefined();
  spans = [];
  vi.stubEnv('OTEL_TRACES_SAMPLER_ARG', '0.9999');
  await invoke(body, undefined);
  expect(spans).toEqual([]);
});

it('spans that the collector does not accept are dropped with a warning, and the reconcile is done', async () => {
  const { body, header } = await forwarded();
  answer = 503;
  const lines = await invoke(body, header);
  expect(lines.find(({ message }) => message === 'spans dropped')).toMatchObject({
    spans: 3,
    reason: 'the collector responded with 503',
  });
});

it('a collector that hangs does not hold the function beyond its time, whatever its own time-out is', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '60000');
  const { body, header } = await forwarded();
  isHanging = true;
  reconciledAt = undefined;
  const remaining = () => (reconciledAt === undefined ? 30_000 : 3_000 - Math.round(performance.now() - reconciledAt));
  const context = { ...aContext(), getRemainingTimeInMillis: remaining };
  const lines = await invoke(body, header, context);
  expect(remaining()).toBeGreaterThan(1_000);
  expect(lines.find(({ message }) => message === 'spans dropped')).toMatchObject({ spans: 3 });
});

it('without a collector nothing is traced, and fetch is untouched', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', '');
  const { body, header } = await forwarded();
  spans = [];
  const lines = await invoke(body, header);
  expect(spans).toEqual([]);
  expect(globalThis.fetch).toBe(realFetch);
  expect(JSON.stringify(lines)).not.toContain('traceId');
});

it('beyond 2,000 spans that wait, spans are dropped and counted, and the next ones are sent', async () => {
  const dropped: unknown[] = [];
  const options = { endpoint, headers: async () => new Map(), service: 'watcher' };
  const exporter = createExporter(options, { onDropped: (...what) => void dropped.push(what) });
  const context = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true };
  const span = { name: 'x', kind: 'client', context, startMs: Date.now(), endMs: Date.now(), attributes: {} } as const;
  for (let count = 0; count < 2_003; count += 1) exporter.record(span);
  await exporter.flush(5_000);
  expect([spans.length, dropped]).toEqual([2_000, [[3, 'more than 2000 spans are waiting']]]);
  exporter.record(span);
  await exporter.flush(5_000);
  expect([spans.length, dropped.length]).toEqual([2_001, 1]);
});

it('a trace header is read as it was written, and another one is none', () => {
  const context = { traceId: '0123456789abcdef'.repeat(2), spanId: 'fedcba9876543210', sampled: true };
  expect(parseTraceHeader(formatTraceHeader(context))).toEqual(context);
  expect(parseTraceHeader(`Self=1;${formatTraceHeader(context)};Lineage=1:a:0`)).toEqual(context);
  for (const header of [undefined, '', 'Root=1-x', 'Root=\u0000', 'Root=1-5759e988-bd862e3fe1be46a994272793'])
    expect(parseTraceHeader(header)).toBeUndefined();
});

it('one change a second is sampled, and the ratio of the others', () => {
  let nowMs = 0;
  let random = 0.5;
  const sample = createSampler({ now: () => nowMs, random: () => random, ratio: 0.1 });
  const taken: boolean[] = [];
  for (nowMs = 0; nowMs < 3_000; nowMs += 100) taken.push(sample());
  expect(taken.filter((one) => one)).toHaveLength(3);
  random = 0.05;
  nowMs = 2_950;
  expect(sample()).toBe(true);
});
