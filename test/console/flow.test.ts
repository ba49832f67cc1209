// Only the reader of the flow where a service does not respond.
import { SQSClient } from '@aws-sdk/client-sqs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createFlowReader } from '../../src/console/flow.ts';
import { createHistory } from '../../src/console/history.ts';
import { foo } from '../../src/controllers/foo.ts';

it('the flow is read without Lambda after 5 s, and says that it is not known which controllers are paused', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const sqs = new SQSClient({ region: 'eu-west-1', endpoint: 'http://127.0.0.1:9', maxAttempts: 1, credentials });
  onTestFinished(() => sqs.destroy());
  const readFlow = createFlowReader([foo], {
    ...{
      sqs,
      urlPrefix: 'http://127.0.0.1:9/1/p-',
      history: createHistory([foo], { onEntry: () => undefined }),
      maxAgeMilliseconds: 0,
    },
    pausedControllers: () => new Promise(() => {}),
    read: async () => ({ watchers: 1, clusters: [] }),
  });
  const reading = readFlow(new AbortController().signal);
  await vi.advanceTimersByTimeAsync(5_000);
  const { controllers, notes } = await reading;
  expect(controllers).toMatchObject([{ name: 'foo' }]);
  expect(notes).toEqual(['Which controllers are paused cannot be read: no response within 5 s']);
}, 10_000);
