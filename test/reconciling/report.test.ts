// Only the log entry of a failed reconcile: where the error was thrown. Metrics and outcomes are in batch.test.ts.
import { expect, it } from 'vitest';
import { silentMetrics } from '../../src/core/metrics.ts';
import { reportReconcile } from '../../src/reconciling/report.ts';
import { failed, keyGroup } from './batch-harness.ts';

it('the log entry of a failed reconcile has the frames of the author’s source and the names of causes, without their messages', () => {
  const cause = new RangeError('the response was {"token":"hunter2"}');
  const error = new Error('no pump', { cause });
  const logged: unknown[] = [];
  const add = (_: string, fields?: object) => void logged.push(fields);
  reportReconcile(silentMetrics, keyGroup(), {
    ...{ report: failed(error), action: { type: 'delete' }, durationMs: 1, nowMs: 2 },
    log: { debug: add, info: add, warn: add, error: add },
  });
  const text = JSON.stringify(logged);
  expect(text).toMatch(/at .*test\/reconciling\/report\.test\.ts:\d+:\d+/);
  expect(text).toContain('caused by RangeError');
  expect(text).not.toContain('hunter2');
  expect(text).not.toContain('node_modules');
});
