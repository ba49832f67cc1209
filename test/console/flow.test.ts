// Only the reader of the flow where a service does not respond, or refuses.
import { SQSClient } from '@aws-sdk/client-sqs';
import { createFlowReader, type FlowDeps, sharedFlow } from '@outrigger/cli/console/flow';
import { createHistory } from '@outrigger/cli/console/history';
import type { Flow } from '@outrigger/cli/console/wire';
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

it('a flow that cannot be read any more is the last one with a note, and rejects only before the first', async () => {
  let answer: (() => Promise<Flow>) | undefined;
  const flow = sharedFlow(0, async () => await (answer?.() ?? Promise.reject(new Error('no answer of SQS'))));
  await expect(flow()).rejects.toThrow('no answer of SQS');
  const first: Flow = { at: 1_000, changesPerSecond: 2, clusters: [], controllers: [], notes: ['paused'] };
  answer = async () => first;
  await later();
  expect(await flow()).toEqual(first);
  answer = undefined;
  await later();
  const note = 'No new figures since 1970-01-01T00:00:01.000Z: no answer of SQS';
  expect(await flow()).toEqual({ ...first, notes: ['paused', note] });
});

it('a read of the flow that does not end has a deadline, and the next one is made', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  let reads = 0;
  const first: Flow = { at: 1_000, changesPerSecond: 2, clusters: [], controllers: [] };
  const flow = sharedFlow(0, async () => (reads++ === 0 ? await new Promise<never>(() => {}) : first));
  const hanging = expect(flow()).rejects.toThrow('no response within 10 s');
  await vi.advanceTimersByTimeAsync(10_000);
  await hanging;
  expect(await flow()).toEqual(first);
});

/** A read of the same millisecond is shared. */
async function later(): Promise<void> {
  const now = Date.now();
  while (Date.now() === now) await new Promise(setImmediate);
}

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
