// Redriving dead letters from their queue to their controller's queue, also if the process is killed at any point.
// Against an SQS server. Excluded: the functions that receive the messages.
import type { SQSClient } from '@aws-sdk/client-sqs';
import { type RedriveResult, readDeadLetters, redrive } from '@outrigger/cli/operations/redrive';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createQueueBrowser, type QueueBrowserOptions, QueueCallError } from '../../src/sqs/browse.ts';
import type { DeadLetter } from '../../src/sqs/dead-letter.ts';
import { attemptOf, formatMessage, type Message, parseMessage } from '../../src/sqs/message.ts';
import { createSend } from '../../src/sqs/send.ts';
import { createSqsClient } from '../../src/sqs/sqs-client.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { aMessage, asRetry } from '../sqs/messages.ts';

const { signal } = new AbortController();
const now = () => new Date(1_800_000_000_000);
const noWait = { random: () => 0, wait: async () => undefined };

let queues: TestQueues;
beforeAll(async () => {
  queues = await startTestQueues();
});
afterAll(async () => await queues.stop());

/** Creates the queues of a new controller, with dead letters: messages with these changes, or these bodies. */
async function controllerWith(
  controller: string,
  bodies: readonly (string | Partial<Message>)[],
  more: Readonly<Record<string, string>> = {},
) {
  const [queue, deadLetters] = [`${controller}.fifo`, `${controller}-dlq.fifo`];
  await queues.create(queue, deadLetters);
  const entries = bodies.map((one, number) => {
    const body =
      typeof one === 'string' ? one : formatMessage(aMessage({ controller, ...asRetry({ attempt: 9 }), ...one }));
    const group = typeof one === 'string' ? 'none' : `${one.name}`;
    const attributes = { reason: 'terminal', messageId: `${controller}-${number}`, ...more };
    return { body, groupId: group, deduplicationId: `${controller} ${number}`, attributes };
  });
  const sent = await createSend(queues.sqs, queues.urlPrefix)(deadLetters, entries, { signal });
  expect(sent.filter(({ accepted }) => !accepted)).toEqual([]);
  const run = async ({
    matches = () => true,
    dryRun = false,
    browserOptions = {},
    sqs = queues.sqs,
  }: Partial<{
    matches: (deadLetter: DeadLetter) => boolean;
    dryRun: boolean;
    browserOptions: QueueBrowserOptions;
    sqs: SQSClient;
  }> = {}): Promise<readonly RedriveResult[]> => {
    const deps = {
      browser: createQueueBrowser(sqs, queues.urlPrefix, deadLetters, { waitSeconds: 0, ...browserOptions }),
      send: createSend(sqs, queues.urlPrefix, noWait),
      now,
      at: '',
    };
    const results: RedriveResult[] = [];
    for await (const one of redrive(deps, { matches, dryRun, signal })) results.push(one);
    return results;
  };
  return { queue, deadLetters, run };
}

/** Creates a client whose process is killed after the server has carried out this many calls. */
function killedAfter(effects: number): { readonly sqs: SQSClient; readonly done: () => number } {
  const sqs = createSqsClient({ region: 'us-east-1', endpoint: queues.endpoint });
  let done = 0;
  sqs.middlewareStack.add(
    (next) => async (call) => {
      if (done >= effects) throw new Error('killed');
      const response = await next(call);
      done += 1;
      if (done >= effects) throw new Error('killed');
      return response;
    },
    { step: 'initialize' },
  );
  return { sqs, done: () => done };
}

const namesOn = async (queue: string) =>
  (await queues.drain(queue)).map(({ Body = '' }) => parseMessage(Body).name).sort();

it('redrive leaves a dead letter with the object of a finalize that was not completed', async () => {
  const object = { kind: 'Widget', metadata: { name: 'a', uid: 'u' }, spec: { token: 'password=of-the-spec' } };
  const more = { object: JSON.stringify(object) };
  const { queue, deadLetters, run } = await controllerWith('gone', [{ name: 'a' }], more);
  const reason = expect.stringContaining('dlq delete');
  expect(await run()).toMatchObject([{ type: 'refused', reason, deadLetter: { object } }]);
  expect(queues.holds(queue)).toBe(false);
  expect(queues.holds(deadLetters)).toBe(true);
});

it('redrive sends every dead letter as a command, without attempts, and deletes it', async () => {
  const { queue, deadLetters, run } = await controllerWith('whole', [{ name: 'a' }, { name: 'b' }]);
  expect((await run()).map(({ type }) => type)).toEqual(['sent', 'sent']);
  expect(queues.holds(deadLetters)).toBe(false);
  const bodies = (await queues.drain(queue)).map(({ Body = '' }) => parseMessage(Body));
  const observedAt = 1_800_000_000_000;
  expect(bodies.map(({ name, cause }) => [name, cause])).toEqual([
    ['a', { type: 'command', observedAt, id: 'whole-0' }],
    ['b', { type: 'command', observedAt, id: 'whole-1' }],
  ]);
});

it('redrive sends all dead letters of one object, even if SQS does not return them at once', async () => {
  const many = Array.from({ length: 23 }, () => ({ name: 'same' }));
  const { queue, deadLetters, run } = await controllerWith('many', many);
  expect(await run()).toHaveLength(23);
  expect(queues.holds(deadLetters)).toBe(false);
  expect(await namesOn(queue)).toHaveLength(23);
});

it('redrive leaves dead letters that do not match or are not messages, in their order', async () => {
  const bodies = [{ name: 'a' }, 'not { JSON \t \r\n é', { name: 'b' }, { name: 'b', ...asRetry({ attempt: 3 }) }];
  const { queue, deadLetters, run } = await controllerWith('some', bodies);
  const done = await run({ matches: ({ message }) => message?.name !== 'b' });
  expect(done.map(({ type }) => type).sort()).toEqual(['refused', 'sent']);
  expect(await namesOn(queue)).toEqual(['a']);
  const remaining = (await queues.drain(deadLetters)).map(({ Body = '' }) => Body);
  expect(remaining).toHaveLength(3);
  expect(remaining).toContain('not { JSON \t \r\n é');
  const ofB = remaining.filter((body) => body.startsWith('{')).map((body) => attemptOf(parseMessage(body)));
  expect(ofB).toEqual([9, 3]);
});

it('redrive with `dryRun` returns what it would send, and makes all dead letters visible again', async () => {
  const { queue, deadLetters, run } = await controllerWith('dry', [{ name: 'a' }, 'junk']);
  expect((await run({ dryRun: true })).map(({ type }) => type).sort()).toEqual(['refused', 'would-be-sent']);
  expect(queues.holds(queue)).toBe(false);
  expect(await queues.drain(deadLetters)).toHaveLength(2);
});

it('redrive leaves a dead letter that its queue rejects', async () => {
  const { deadLetters, run } = await controllerWith('stray', [{ name: 'a', controller: 'nowhere' }]);
  expect(await run()).toMatchObject([
    { type: 'refused', reason: expect.stringContaining('queue nowhere.fifo does not exist; run outrigger doctor') },
  ]);
  expect(await queues.drain(deadLetters)).toHaveLength(1);
});

it('redrive does not send a dead letter again that fails immediately', async () => {
  const { queue, deadLetters, run } = await controllerWith('loop', [{ name: 'a' }]);
  const send = createSend(queues.sqs, queues.urlPrefix);
  let returned = 0;
  const done = run({ browserOptions: { waitSeconds: 1 } });
  // The function: every message becomes a dead letter.
  const failing = (async () => {
    const [{ Body = '', MessageId = '' } = {}] = await queues.drain(queue, { waitSeconds: 5 });
    const entry = { body: Body, groupId: 'a', deduplicationId: 'again', attributes: { messageId: MessageId } };
    returned = (await send(deadLetters, [entry], { signal })).length;
  })();
  expect(await done).toHaveLength(1);
  await failing;
  expect(returned).toBe(1);
  expect(await queues.drain(deadLetters)).toHaveLength(1);
  expect(queues.holds(queue)).toBe(false);
});

it(
  'redrive that is killed after any of its effects and rerun sends each dead letter once',
  { timeout: 60_000 },
  async () => {
    const bodies = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
    const clean = killedAfter(Number.POSITIVE_INFINITY);
    await (await controllerWith('clean', bodies)).run({ sqs: clean.sqs });
    // Two receives, three sends, three deletions.
    expect(clean.done()).toBe(8);
    const ends = Array.from({ length: clean.done() }, async (_, index) => {
      const { queue, deadLetters, run } = await controllerWith(`killed-${index}`, bodies);
      const { sqs } = killedAfter(index + 1);
      await run({ sqs, browserOptions: { visibilitySeconds: 1 } }).catch(() => undefined);
      // The messages of the killed process become visible again after their timeout. A long poll receives them then.
      for (let tries = 0; tries < 10 && queues.holds(deadLetters); tries += 1)
        await run({ browserOptions: { waitSeconds: 2 } });
      return [queues.holds(deadLetters), await namesOn(queue)];
    });
    // The server keeps one message per deduplication id. A second send with another id would be a fourth message.
    expect(await Promise.all(ends)).toEqual(ends.map(() => [false, ['a', 'b', 'c']]));
  },
);

it('readDeadLetters removes nothing, and the next call returns the same dead letters', async () => {
  const { deadLetters } = await controllerWith('listed', [{ name: 'a' }, 'junk', { name: 'b' }]);
  const readAll = async () =>
    await readDeadLetters(createQueueBrowser(queues.sqs, queues.urlPrefix, deadLetters, { waitSeconds: 0 }), {
      most: 100,
      signal,
    });
  const first = await readAll();
  expect(first.map(({ messageId }) => messageId).sort()).toEqual(['listed-0', 'listed-1', 'listed-2']);
  expect(await readAll()).toEqual(first);
  expect(await queues.drain(deadLetters)).toHaveLength(3);
});

it('readDeadLetters makes all received messages visible again', async () => {
  const { deadLetters } = await controllerWith(
    'long',
    Array.from({ length: 25 }, (_, n) => ({ name: `n${n}` })),
  );
  const browser = createQueueBrowser(queues.sqs, queues.urlPrefix, deadLetters, { waitSeconds: 0 });
  expect((await readDeadLetters(browser, { most: 10, signal })).length).toBe(10);
  expect(await queues.drain(deadLetters)).toHaveLength(25);
});

it('readDeadLetters of a queue that does not exist throws an error that names it', async () => {
  const browser = createQueueBrowser(queues.sqs, queues.urlPrefix, 'nothing-dlq.fifo', { waitSeconds: 0 });
  const failed = readDeadLetters(browser, { most: 10, signal });
  await expect(failed).rejects.toThrow(new QueueCallError('queue nothing-dlq.fifo does not exist'));
});
