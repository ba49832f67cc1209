// What a function writes: one JSON line for each log entry, and metrics whose only dimension is the controller.
import { Console } from 'node:console';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTelemetry } from '../../src/lambda/telemetry.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** Runs something and returns the JSON lines that were printed meanwhile. */
function printed(act: () => void): readonly Record<string, unknown>[] {
  const lines: string[] = [];
  const note = (line: unknown) => void lines.push(String(line));
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    vi.spyOn(Console.prototype, method).mockImplementation(note);
    vi.spyOn(globalThis.console, method).mockImplementation(note);
  }
  act();
  return lines.map((line) => JSON.parse(line));
}

const settings = { level: 'INFO', namespace: 'Outrigger' } as const;

describe('telemetry', () => {
  it('writes a line with the fields of its log and of the entry', () => {
    const lines = printed(() => {
      const { log } = createTelemetry('widget', settings);
      log({ key: 'a' }).warn('reconciled', { outcome: 'failed' });
      log({ key: 'a' }).debug('not at this level');
    });
    expect(lines).toMatchObject([
      { level: 'WARN', message: 'reconciled', service: 'widget', key: 'a', outcome: 'failed' },
    ]);
  });

  it.each([
    ['is sampled', 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1', ['xray_trace_id']],
    ['nobody keeps', 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=0', []],
  ])('says of an invocation whose trace %s no more than that is worth', (_, header, more) => {
    vi.stubEnv('_X_AMZN_TRACE_ID', header);
    const [line = {}] = printed(() => createTelemetry('widget', settings).log({ key: 'a' }).info('reconciled'));
    expect(Object.keys(line).sort()).toEqual(['key', 'level', 'message', 'service', 'timestamp', ...more].sort());
  });

  it('adds up what is counted, with the controller as the only dimension, and writes it once', () => {
    const lines = printed(() => {
      const { meter, flush } = createTelemetry('widget', settings);
      meter.count('ReconcilesDone');
      meter.count('ReconcilesDone', 2, { cluster: 'alpha' });
      meter.milliseconds('LagMilliseconds', 17);
      flush();
      flush();
    });
    expect(lines).toHaveLength(1);
    const [metrics] = lines;
    expect(metrics).toMatchObject({ service: 'widget', ReconcilesDone: [1, 2], LagMilliseconds: 17 });
    expect(metrics?._aws).toMatchObject({ CloudWatchMetrics: [{ Namespace: 'Outrigger', Dimensions: [['service']] }] });
  });
});
