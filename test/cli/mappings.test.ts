// Only the list of the event source mappings; what pause and doctor do with it is in their tests.
import { LambdaClient } from '@aws-sdk/client-lambda';
import { expect, it, onTestFinished, vi } from 'vitest';
import { readMappings } from '../../src/cli/mappings.ts';

it('readMappings with credentials that never arrive fails after 20 seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const client = new LambdaClient({ region: 'us-east-1', credentials: () => new Promise(() => {}) });
  const { signal } = new AbortController();
  const reading = readMappings(client, { urlPrefix: 'https://sqs/1/p-', queues: ['a.fifo'] }, { signal });
  const failed = expect(reading).rejects.toThrow('no response within 20 s');
  await vi.advanceTimersByTimeAsync(20_000);
  await failed;
}, 10_000);
