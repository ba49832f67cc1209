// Only the reader of the flow where a service does not respond, or refuses.
import { SQSClient } from '@aws-sdk/client-sqs';
import { createFlowReader, type FlowDeps } from '@outrigger/cli/console/flow';
import { createHistory } from '@outrigger/cli/console/history';
import { expect, it, onTestFinished, vi } from 'vitest';
import { foo } from '../../src/controllers/foo.ts';

it('the flow is read without SQS and without Lambda, and says why: once for all queues, and Lambda after 5 s', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const readFlow = flowWithoutSqs(() => new Promise(() => {}));
  const reading = readFlow(new AbortController().signal);
  await vi.advanceTimersByTimeAsync(5_000);
  const { controllers, notes } = await reading;
  expect(controllers).toMatchObject([{ name: 'foo', health: { state: 'not known', tone: 'unknown' } }]);
  expect(notes).toEqual([
    'Queues cannot be read: foo-dlq.fifo, foo.fifo, resync-dlq and 2 more: AccessDenied: not authorized on p-foo-dlq.fifo',
    'Which controllers are paused cannot be read: no response within 5 s',
  ]);
}, 10_000);

it('a function whose queue cannot be read is not working: it may receive nothing; a paused one is paused', async () => {
  const healthIf = async (paused: readonly string[]) => {
    const { controllers } = await flowWithoutSqs(async () => new Set(paused))(new AbortController().signal);
    return controllers.map(({ health }) => health);
  };
  const text = 'its queue cannot be read';
  expect(await healthIf([])).toEqual([{ state: 'not known', tone: 'unknown', text }]);
  expect(await healthIf(['foo'])).toMatchObject([{ state: 'paused' }]);
});

function flowWithoutSqs(pausedControllers: FlowDeps['pausedControllers']) {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const sqs = new SQSClient({ region: 'eu-west-1', endpoint: 'http://127.0.0.1:9', maxAttempts: 1, credentials });
  onTestFinished(() => sqs.destroy());
  // As AWS says it, with the ARN of the queue at the end.
  vi.spyOn(sqs, 'send').mockImplementation(async ({ input }) => {
    const queue = 'QueueUrl' in input ? input.QueueUrl?.split('/').at(-1) : undefined;
    return await Promise.reject(Object.assign(new Error(`not authorized on ${queue}`), { name: 'AccessDenied' }));
  });
  return createFlowReader([foo], {
    sqs,
    urlPrefix: 'http://127.0.0.1:9/1/p-',
    history: createHistory([foo], { onEntry: () => undefined }),
    maxAgeMilliseconds: 0,
    pausedControllers,
    read: async () => ({ clusters: [] }),
  });
}
