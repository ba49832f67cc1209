// The SQS server of a test file.
import { afterAll } from 'vitest';
import { startTestQueues, type TestQueues } from './fauxqs.ts';

/** Starts a server with these queues, which ends after the tests of the file. */
export async function useTestQueues(...names: readonly string[]): Promise<TestQueues> {
  const queues = await startTestQueues();
  afterAll(() => queues.stop());
  await queues.create(...names);
  return queues;
}
