// Collects all metrics and log entries that the functions write to their standard output. Each handler processes
// messages with every outcome, in this process, against an API server, queues and a clusters table of its own.
import { vi } from 'vitest';
import * as z from 'zod';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { defaultRetry } from '../../src/core/controller-options.ts';
import { TerminalError } from '../../src/core/errors.ts';
import { createReconcileHandler } from '../../src/lambda/reconcile-handler.ts';
import { createResyncHandler } from '../../src/lambda/resync-handler.ts';
import { createTimersHandler } from '../../src/lambda/timers-handler.ts';
import { formatResyncMessage, type ResyncMessage } from '../../src/resync/message.ts';
import type { Message } from '../../src/sqs/message.ts';
import { asChange, asRequeue, asResync, asRetry } from '../sqs/messages.ts';
import { captureConsole } from '../support/capture-console.ts';
import { startFunctionSystem, widgetRecord } from './function-system.ts';
import { aContext, anEvent, aRecord } from './invocation.ts';
import { startNoopServer } from './noop-server.ts';
import { widget } from './widget.ts';

/** The name of the controller whose emissions are collected. */
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

/** A metric, with the names and values of its dimensions. */
export type Emitted = {
  readonly namespace: string;
  readonly name: string;
  readonly unit: string;
  readonly dimensions: Readonly<Record<string, string>>;
};

/** The metrics and log entries of the functions. */
export type Emissions = {
  readonly metrics: readonly Emitted[];
  readonly entries: readonly Readonly<Record<string, unknown>>[];
};

/** Creates a controller. The name of a widget decides the outcome of its reconcile. */
function makeController(): ControllerDefinition {
  let reconciles = 0;
  return widget.controller(emitting, {
    reconcile: async ({ metadata: { name } }, { signal, metrics }) => {
      metrics.count('PartsMade', 2);
      if (name === 'fails') throw new Error('no such luck');
      if (name === 'terminal') throw new TerminalError('never');
      if (name === 'endless') await new Promise((_, reject) => signal.addEventListener('abort', reject));
      reconciles += 1;
      return {
        status: { note: name === 'drifts' ? `reconcile ${reconciles}` : 'built' },
        conditions: { Built: { status: 'True', reason: 'Built' } },
      };
    },
  });
}

/** Runs the functions and collects their emissions. `perCluster` is METRICS_PER_CLUSTER. */
export async function collectEmissions({ perCluster }: { readonly perCluster: boolean }): Promise<Emissions> {
  await using resources = new AsyncDisposableStack();
  let noopUrl = '';
  const system = resources.use(
    await startFunctionSystem((entry) => ({
      alpha: entry,
      noop: { ...entry, server: noopUrl },
      broken: {},
      old: { ...entry, decommissioning: true },
    })),
  );
  const noop = await startNoopServer(system.server.url);
  resources.defer(() => noop.close());
  noopUrl = noop.url;
  await system.writeTable();
  for (const name of ['done', 'fails', 'terminal', 'endless', 'drifts', 'never-reconciled']) await system.apply(name);
  const environment = {
    ...system.environment,
    METRICS_NAMESPACE: 'outrigger/test',
    METRICS_PER_CLUSTER: String(perCluster),
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  resources.defer(async () => void vi.unstubAllEnvs());
  const { lines, restore } = captureConsole();
  resources.defer(async () => restore());
  await runAll(makeController());
  return read(lines);
}

async function runAll(controller: ControllerDefinition): Promise<void> {
  const reconcile = createReconcileHandler(controller);
  let id = 0;
  const deliver = async (name: string, more: Partial<Message> = {}, remainingMs?: number) => {
    id += 1;
    await reconcile(anEvent(widgetRecord(name, more, `m${id}`)), aContext(remainingMs));
  };
  await deliver('done');
  await deliver('nowhere');
  await deliver('fails');
  await deliver('fails', asRetry({ attempt: defaultRetry.attempts - 1 }));
  await deliver('terminal');
  await deliver('done', { resource: 'gadgets' });
  await deliver('done', { cluster: 'broken', ...asRetry({ postponements: 1 }) });
  await deliver('done', { cluster: 'old' });
  // The context has little time left, so the reconcile is aborted.
  await deliver('endless', {}, 3_100);
  await deliver('drifts');
  await deliver('drifts', asResync());
  await deliver('drifts', asChange({ object: ['apps', 'deployments', 'default', 'drifts'] }));
  // A write that changed nothing, as this server reports.
  await deliver('drifts', { cluster: 'noop' });
  await reconcile(anEvent(aRecord('strange', 'not a message')), aContext());

  const resync = createResyncHandler([controller]);
  const now = new Date().toISOString();
  const list = async (more: Partial<ResyncMessage>) => {
    const message: ResyncMessage = { v: 1, type: 'resync', run: now, cluster: 'alpha', controller: emitting, ...more };
    await resync(anEvent(aRecord('p', formatResyncMessage(message))), aContext(120_000));
  };
  await resync({ time: now }, aContext(120_000));
  await list({});
  await list({ cluster: 'noop' });
  await list({ cluster: 'broken' });
  await list({ cluster: 'old' });
  await list({ controller: 'unknown' });
  await list({ run: '2020-01-01T00:00:00Z' });
  // The depth of the dead-letter queues is for the alarm of lean monitoring alone.
  vi.stubEnv('MONITORING', 'lean');
  await createResyncHandler([controller])({ time: now }, aContext(120_000));
  vi.stubEnv('MONITORING', 'full');

  // Last: no function takes its message, and the queue would be that of a paused controller.
  const dueAt = Math.floor(Date.now() / 1000);
  const due = widgetRecord('done', asRequeue({ dueAt, slot: `30/${dueAt}` }));
  await createTimersHandler([emitting])(anEvent(due, aRecord('t2', 'not a message')), aContext());
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
