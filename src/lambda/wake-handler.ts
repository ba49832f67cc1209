// The Lambda handler of events outside of the clusters. The rules of EventBridge invoke it. The code is in src/waking.
import type { ControllerDefinition } from '../api/definition.ts';
import { openClusters } from '../clusters/open-clusters.ts';
import { functionUserAgent, wakeFunction } from '../core/names.ts';
import { readTraceHeader, readWakeSettings } from '../settings.ts';
import { createSend } from '../sqs/send.ts';
import { createSqsClient } from '../sqs/sqs-client.ts';
import { createWake, parseEvent } from '../waking/wake.ts';
import { deadlineOf } from './clock.ts';
import { logFatalErrors } from './fatal-errors.ts';
import { type Handler, type Started, startOnce } from './start-once.ts';
import { tableOptions } from './table-options.ts';
import { createTelemetry, telemetryOptions } from './telemetry.ts';

/** Creates the handler of the wake function. Its first call throws SettingsError if settings are missing. */
export function createWakeHandler(
  registry: readonly ControllerDefinition[],
): Handler<unknown, { readonly keys: number }> {
  return startOnce(() => start(registry));
}

function start(registry: readonly ControllerDefinition[]): Started<unknown, { readonly keys: number }> {
  const settings = readWakeSettings();
  const telemetry = createTelemetry(wakeFunction, telemetryOptions(settings));
  logFatalErrors(telemetry);
  const userAgent = functionUserAgent(wakeFunction, settings.PROJECT);
  const { table } = openClusters(settings.CLUSTERS, userAgent, tableOptions(telemetry));
  const wake = createWake({
    registry,
    listClusters: async () => await table.list(),
    send: createSend(createSqsClient(), settings.QUEUE_URL_PREFIX, { traceHeader: readTraceHeader }),
    log: telemetry.log({}),
    nowMs: () => Date.now(),
  });
  return {
    handle: async (event, context) => ({ keys: await wake(parseEvent(event), { signal: deadlineOf(context) }) }),
    telemetry,
  };
}
