// Everything that the functions count and log, as their standard output carries it: each handler is run through each thing that
// can become of a message, in this process, against an API server, queues and a clusters table of its own.
import { Console } from 'node:console';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { vi } from 'vitest';
import * as z from 'zod';
import { maxAttempts } from '../../src/core/backoff.ts';
import { defineController, type Registered } from '../../src/core/controller.ts';
import { TerminalError } from '../../src/core/errors.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { createReconcileHandler } from '../../src/lambda/reconcile-handler.ts';
import { createResyncHandler } from '../../src/lambda/resync-handler.ts';
import { createTimersHandler } from '../../src/lambda/timers-handler.ts';
import { startApiServer } from '../../src/apiserver/server.ts';
import { formatMessage, type Message } from '../../src/queue/message.ts';
import { formatResyncMessage, type ResyncMessage } from '../../src/queue/resync-message.ts';
import { startTestQueues } from '../sqs/fauxqs.ts';
import { aMessage } from '../queue/messages.ts';
import { widgetDefinition } from '../support/widget-crd.ts';
import { define } from '../support/established.ts';
import { aContext, anEvent, aRecord } from './invocation.ts';
import { startOddServer } from './noop-server.ts';
import { widget } from './widget.ts';

/** The controller that stands for all. */
export const emitting = 'widget';

const emf = z.object({
  _aws: z.object({
    CloudWatchMetrics: z.array(
      z.object({
        Namespace: z.string(),
        Dimensions: z.array(z.array(z.string())),
        Metrics: z.array(z.object({ Name: z.string(), Unit: z.string() })),
      }),
    ),
  }),
});

/** A metric, with its dimensions' names and values. */
export type Emitted = {
  readonly namespace: string;
  readonly name: string;
  readonly unit: string;
  readonly dimensions: Readonly<Record<string, string>>;
};

/** What was written. */
export type Emissions = {
  readonly metrics: readonly Emitted[];
  readonly entries: readonly Readonly<Record<string, unknown>>[];
};

/** What becomes of a widget is in its name. */
function makeController(): Registered {
  let visits = 0;
  return defineController(widget)({
    name: emitting,
    reconcile: async ({ metadata: { name } }, { signal }) => {
      if (name === 'fails') throw new Error('no such luck');
      if (name === 'terminal') throw new TerminalError('never');
      if (name === 'endless') await new Promise((_, reject) => signal.addEventListener('abort', reject));
      visits += 1;
      return {
        status: { note: name === 'drifts' ? `visit ${visits}` : 'built' },
        conditions: { Built: { status: 'True', reason: 'Built' } },
      };
    },
  });
}

/** Runs the functions and collects what they wrote. `perCluster` as METRICS_PER_CLUSTER says. */
export async function collectEmissions({ perCluster }: { readonly perCluster: boolean }): Promise<Emissions> {
  await using parts = new AsyncDisposableStack();
  const server = await startApiServer();
  parts.defer(() => server.close());
  const client = createClient({ server: new URL(server.url) });
  parts.defer(() => client.close());
  const odd = await startOddServer(server.url);
  parts.defer(() => odd.close());
  const queues = await startTestQueues();
  parts.defer(() => queues.stop());
  const own = [`${emitting}.fifo`, `${emitting}-dlq.fifo`];
  await queues.create(...own, 'timers', 'timers-dlq', 'resync', 'resync-dlq');
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-emissions-'));
  parts.defer(() => rm(folder, { recursive: true }));
  const clusters = path.join(folder, 'clusters.json');
  const entry = { server: server.url, access: { type: 'none' } };
  const table = { alpha: entry, odd: { ...entry, server: odd.url }, broken: {}, old: { ...entry, leaving: true } };
  await writeFile(clusters, JSON.stringify(table));
  await define(client, widgetDefinition);
  for (const name of ['done', 'fails', 'terminal', 'endless', 'drifts']) {
    const { apiVersion, kind } = widget;
    const object = { apiVersion, kind, metadata: { name, namespace: 'default' }, spec: { size: 1 } };
    await applyObject(client, widget, object, { fieldManager: 'user' });
  }
  const environment = {
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_SQS: queues.endpoint,
    QUEUE_URL_PREFIX: queues.urlPrefix,
    CLUSTERS: clusters,
    METRICS_PER_CLUSTER: String(perCluster),
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  parts.defer(async () => void vi.unstubAllEnvs());
  const lines = listen(parts);
  await runAll(makeController());
  return read(lines);
}

async function runAll(controller: Registered): Promise<void> {
  const reconcile = createReconcileHandler(controller);
  let id = 0;
  const deliver = async (name: string, more: Partial<Message> = {}, remainingMs?: number) => {
    id += 1;
    await reconcile(anEvent(aRecord(`m${id}`, formatMessage(messageFor(name, more)))), aContext(remainingMs));
  };
  await deliver('done');
  await deliver('nowhere');
  await deliver('fails');
  await deliver('fails', { attempt: maxAttempts - 1 });
  await deliver('terminal');
  await deliver('done', { resource: 'gadgets' });
  await deliver('done', { cluster: 'broken', deferrals: 1 });
  await deliver('done', { cluster: 'old' });
  // A context with hardly any time left: what is not done by then is broken off.
  await deliver('endless', {}, 3_100);
  await deliver('drifts');
  await deliver('drifts', { lane: 'resync' });
  // A write, of which that server says that it changed nothing.
  await deliver('drifts', { cluster: 'odd' });
  await reconcile(anEvent(aRecord('strange', 'no message')), aContext());

  const dueAt = Math.floor(Date.now() / 1000);
  const due = messageFor('done', { lane: 'requeue', dueAt, slot: `30/${dueAt}` });
  await createTimersHandler()(anEvent(aRecord('t1', formatMessage(due)), aRecord('t2', 'no message')), aContext());

  const resync = createResyncHandler([controller]);
  const now = new Date().toISOString();
  const poll = async (more: Partial<ResyncMessage>) => {
    const message: ResyncMessage = { v: 1, kind: 'resync', run: now, cluster: 'alpha', controller: emitting, ...more };
    await resync(anEvent(aRecord('p', formatResyncMessage(message))), aContext(120_000));
  };
  await resync({ time: now }, aContext(120_000));
  await poll({});
  await poll({ cluster: 'odd' });
  await poll({ cluster: 'broken' });
  await poll({ cluster: 'old' });
  await poll({ controller: 'nobody' });
  await poll({ run: '2020-01-01T00:00:00Z' });
}

function messageFor(name: string, more: Partial<Message>): Message {
  const { group, plural: resource } = widget;
  const key = { controller: emitting, cluster: 'alpha', group, resource, namespace: 'default', name } as const;
  return aMessage({ ...key, lane: 'watch', seenAt: Date.now(), ...more });
}

/** Powertools writes to consoles of its own; all of them are heard. */
function listen(parts: AsyncDisposableStack): readonly string[] {
  const lines: string[] = [];
  const note = (line: unknown) => void lines.push(String(line));
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    for (const one of [Console.prototype, globalThis.console]) {
      const ear = vi.spyOn(one, method).mockImplementation(note);
      parts.defer(async () => ear.mockRestore());
    }
  }
  return lines;
}

function read(lines: readonly string[]): Emissions {
  const metrics: Emitted[] = [];
  const entries: Record<string, unknown>[] = [];
  for (const line of lines) {
    const value = z.record(z.string(), z.unknown()).parse(JSON.parse(line));
    const parsed = emf.safeParse(value);
    if (!parsed.success) entries.push(value);
    for (const { Namespace, Dimensions, Metrics } of parsed.data?._aws.CloudWatchMetrics ?? []) {
      for (const names of Dimensions) {
        const dimensions = Object.fromEntries(names.map((name) => [name, String(value[name])]));
        for (const { Name, Unit } of Metrics)
          metrics.push({ namespace: Namespace, name: Name, unit: Unit, dimensions });
      }
    }
  }
  return { metrics, entries };
}
