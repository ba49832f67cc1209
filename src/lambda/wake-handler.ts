// The Lambda handler of events outside of the clusters. The rules of EventBridge invoke it. The code is in src/waking.
import type { ControllerDefinition } from '../api/definition.ts';
import { openClusters } from '../clusters/open-clusters.ts';
import { functionUserAgent, wakeFunction } from '../core/names.ts';
import { readTraceHeader, readWakeSettings } from '../settings.ts';
import { readProbe } from '../sqs/probe.ts';
import { createSend } from '../sqs/send.ts';
import { createSqsClient } from '../sqs/sqs-client.ts';
import { createWake, parseEvent } from '../waking/wake.ts';
import { deadlineOf } from './clock.ts';
import { logFatalErrors } from './fatal-errors.ts';
import { answerProbe } from './probes.ts';
import { type Handler, type Started, startOnce } from './start-once.ts';
import { tableOptions } from './table-options.ts';
import { createTelemetry, telemetryOptions } from './telemetry.ts';

/** Creates the handler of the wake function. Its first call throws SettingsError if settings are missing. */
export function createWakeHandler(registry: readonly ControllerDefinition[]): Handler<
  unknown,
  {
    /** How many keys were sent. */
    readonly keys: number;
  }
> {
  return startOnce(() => start(registry));
}

function start(registry: readonly ControllerDefinition[]): Started<unknown, { readonly keys: number }> {
  const settings = readWakeSettings();
  const telemetry = createTelemetry(wakeFunction, telemetryOptions(settings));
  logFatalErrors(telemetry);
  const userAgent = functionUserAgent(wakeFunction, settings.PROJECT);
  const { table } = openClusters(settings.CLUSTERS, userAgent, tableOptions(telemetry));
  const send = createSend(createSqsClient(), settings.QUEUE_URL_PREFIX, { traceHeader: readTraceHeader });
  const log = telemetry.log({});
  const wake = createWake({
    registry,
    listClusters: async () => await table.list(),
    send,
    log,
    nowMs: () => Date.now(),
  });
  return {
    handle: async (event, context) => {
      const signal = deadlineOf(context);
      const probe = readProbe(JSON.stringify(event));
      if (probe === undefined) return { keys: await wake(parseEvent(event), { signal }) };
      await answerProbe({ log, send }, probe, signal);
      return { keys: 0 };
    },
    telemetry,
  };
}
