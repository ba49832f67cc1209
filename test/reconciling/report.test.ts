// Only the log entry of a failed reconcile: whether it says where the error was thrown. Metrics and outcomes are in batch.test.ts.
import { expect, it } from 'vitest';
import { failed, postponed, reported } from './batch-harness.ts';

it('the log entry of a postponed reconcile has no frames: it says nothing about the author’s source', () => {
  expect(reported(postponed()).text).toContain('"error":"connect"');
  expect(reported(postponed()).text).not.toContain('"stack"');
});

// Control T113.
it('the log entry of a failed reconcile has the frames of the author’s source and the names of causes, without their messages', () => {
  const cause = new RangeError('the response was {"token":"hunter2"}');
  const error = new Error('no pump', { cause });
  const { text } = reported(failed(error));
  expect(text).toMatch(/at .*test\/reconciling\/report\.test\.ts:\d+:\d+/);
  expect(text).toContain('caused by RangeError');
  expect(text).not.toContain('hunter2');
  expect(text).not.toContain('node_modules');
});

it('a failed reconcile whose error is the cause of its cause is logged', () => {
  // As of errors that a package throws: no frame ends the search.
  const error = Object.assign(new Error('one'), { stack: '' });
  error.cause = Object.assign(new Error('two', { cause: error }), { stack: '' });
  expect(reported(failed(error)).text).toContain('one');
});
