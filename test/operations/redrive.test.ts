// Dead letters, from their queue back to their controller's, and what is where when that breaks off at any point. Against an SQS
// server; the functions that take the messages from there are not here.
import type { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeadLetter } from '../../src/queue/dead-letter.ts';
import { createHold, type HoldOptions, QueueCallError } from '../../src/queue/hold.ts';
import { formatMessage, type Message, parseMessage } from '../../src/queue/message.ts';
import { createSend } from '../../src/queue/send.ts';
import { createSqsClient } from '../../src/queue/sqs-client.ts';
import { type Redriven, readLetters, redrive } from '../../src/runtime/redrive.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { aMessage } from '../queue/messages.ts';

const { signal } = new AbortController();
const now = () => new Date(1_800_000_000_000);
const quick = { random: () => 0, wait: async () => undefined };

let queues: TestQueues;
beforeAll(async () => {
  queues = await startTestQueues();
});
afterAll(async () => await queues.stop());

/** Queues of a controller of its own, with letters on them: messages for objects of these names, or bodies as they are. */
async function controllerWith(controller: string, letters: readonly (string | Partial<Message>)[]) {
  const [queue, deadLetters] = [`${controller}.fifo`, `${controller}-dlq.fifo`];
  await queues.create(queue, deadLetters);
  const entries = letters.map((one, number) => {
    const body = typeof one === 'string' ? one : formatMessage(aMessage({ controller, attempt: 9, ...one }));
    const group = typeof one === 'string' ? 'none' : `${one.name}`;
    const attributes = { reason: 'why', messageId: `${controller}-${number}` };
    return { body, groupId: group, deduplicationId: `${controller} ${number}`, attributes };
  });
  const sent = await createSend(queues.sqs, queues.urlPrefix)(deadLetters, entries, { signal });
  expect(sent.filter(({ accepted }) => !accepted)).toEqual([]);
  const run = async ({
    matches = () => true,
    dryRun = false,
    hold = {},
    sqs = queues.sqs,
  }: Partial<{
    matches: (letter: DeadLetter) => boolean;
    dryRun: boolean;
    hold: HoldOptions;
    sqs: SQSClient;
  }> = {}): Promise<readonly Redriven[]> => {
    const parts = {
      hold: createHold(sqs, queues.urlPrefix, deadLetters, { waitSeconds: 0, ...hold }),
      send: createSend(sqs, queues.urlPrefix, quick),
      now,
    };
    const done: Redriven[] = [];
    for await (const one of redrive(parts, { matches, dryRun, signal })) done.push(one);
    return done;
  };
  return { queue, deadLetters, run };
}

/** A client of a process that is killed after so many calls that the server has carried out. */
function killedAfter(effects: number): { readonly sqs: SQSClient; readonly done: () => number } {
  const sqs = createSqsClient({ region: 'us-east-1', endpoint: queues.endpoint });
  let done = 0;
  sqs.middlewareStack.add(
    (next) => async (call) => {
      if (done >= effects) throw new Error('killed');
      const answer = await next(call);
      done += 1;
      if (done >= effects) throw new Error('killed');
      return answer;
    },
    { step: 'initialize' },
  );
  return { sqs, done: () => done };
}

const namesOn = async (queue: string) =>
  (await queues.drain(queue)).map(({ Body = '' }) => parseMessage(Body).name).sort();

describe('a redrive', () => {
  it('sends every letter on the replay lane with its attempts anew, and deletes it', async () => {
    const { queue, deadLetters, run } = await controllerWith('whole', [{ name: 'a' }, { name: 'b' }]);
    expect((await run()).map(({ type }) => type)).toEqual(['sent', 'sent']);
    expect(queues.holds(deadLetters)).toBe(false);
    const bodies = (await queues.drain(queue)).map(({ Body = '' }) => parseMessage(Body));
    expect(bodies.map(({ name, lane, attempt, seenAt, run: source }) => [name, lane, attempt, seenAt, source])).toEqual(
      [
        ['a', 'replay', 0, 1_800_000_000_000, 'whole-0'],
        ['b', 'replay', 0, 1_800_000_000_000, 'whole-1'],
      ],
    );
  });

  it('reaches all letters of one object, more than SQS gives out at once', async () => {
    const many = Array.from({ length: 23 }, () => ({ name: 'same' }));
    const { queue, deadLetters, run } = await controllerWith('many', many);
    expect(await run()).toHaveLength(23);
    expect(queues.holds(deadLetters)).toBe(false);
    expect(await namesOn(queue)).toHaveLength(23);
  });

  it('leaves what was not asked for, and what is no message, where it is and in its order', async () => {
    const letters = [{ name: 'a' }, 'not { JSON \t \r\n é', { name: 'b' }, { name: 'b', attempt: 3 }];
    const { queue, deadLetters, run } = await controllerWith('some', letters);
    const done = await run({ matches: ({ message }) => message?.name !== 'b' });
    expect(done.map(({ type }) => type).sort()).toEqual(['refused', 'sent']);
    expect(await namesOn(queue)).toEqual(['a']);
    const left = (await queues.drain(deadLetters)).map(({ Body = '' }) => Body);
    expect(left).toHaveLength(3);
    expect(left).toContain('not { JSON \t \r\n é');
    const ofB = left.filter((body) => body.startsWith('{')).map((body) => parseMessage(body).attempt);
    expect(ofB).toEqual([9, 3]);
  });

  it('as a dry run says what it would do, and leaves everything at once for others', async () => {
    const { queue, deadLetters, run } = await controllerWith('dry', [{ name: 'a' }, 'junk']);
    expect((await run({ dryRun: true })).map(({ type }) => type).sort()).toEqual(['refused', 'would-be-sent']);
    expect(queues.holds(queue)).toBe(false);
    expect(await queues.drain(deadLetters)).toHaveLength(2);
  });

  it('leaves a letter whose queue does not take it', async () => {
    const { deadLetters, run } = await controllerWith('stray', [{ name: 'a', controller: 'nowhere' }]);
    expect(await run()).toMatchObject([
      { type: 'refused', why: expect.stringContaining('there is no queue nowhere.fifo; outrigger doctor says') },
    ]);
    expect(await queues.drain(deadLetters)).toHaveLength(1);
  });

  it('does not run in circles with a letter that fails at once, again and again', async () => {
    const { queue, deadLetters, run } = await controllerWith('circle', [{ name: 'a' }]);
    const send = createSend(queues.sqs, queues.urlPrefix);
    let returned = 0;
    const done = run({ hold: { waitSeconds: 1 } });
    // The function, which gives up whatever it gets.
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
    'that is killed after any of its effects and run again has sent each letter once, and leaves none',
    { timeout: 60_000 },
    async () => {
      const letters = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
      const clean = killedAfter(Number.POSITIVE_INFINITY);
      await (await controllerWith('clean', letters)).run({ sqs: clean.sqs });
      // Two receives, three sends, three deletions.
      expect(clean.done()).toBe(8);
      const ends = Array.from({ length: clean.done() }, async (_, index) => {
        const { queue, deadLetters, run } = await controllerWith(`killed-${index}`, letters);
        const { sqs } = killedAfter(index + 1);
        await run({ sqs, hold: { holdSeconds: 1 } }).catch(() => undefined);
        // What the killed one held comes back by itself, and a long poll sees it come.
        for (let tries = 0; tries < 10 && queues.holds(deadLetters); tries += 1)
          await run({ hold: { waitSeconds: 2 } });
        return [queues.holds(deadLetters), await namesOn(queue)];
      });
      // The server keeps one message for each deduplication id: one with another id would be a fourth.
      expect(await Promise.all(ends)).toEqual(ends.map(() => [false, ['a', 'b', 'c']]));
    },
  );
});

describe('a list', () => {
  it('consumes nothing: whoever looks next sees the same letters', async () => {
    const { deadLetters } = await controllerWith('listed', [{ name: 'a' }, 'junk', { name: 'b' }]);
    const look = async () =>
      await readLetters(createHold(queues.sqs, queues.urlPrefix, deadLetters, { waitSeconds: 0 }), {
        most: 100,
        signal,
      });
    const first = await look();
    expect(first.map(({ messageId }) => messageId).sort()).toEqual(['listed-0', 'listed-1', 'listed-2']);
    expect(await look()).toEqual(first);
    expect(await queues.drain(deadLetters)).toHaveLength(3);
  });

  it('gives back also what it no longer reads', async () => {
    const { deadLetters } = await controllerWith(
      'long',
      Array.from({ length: 25 }, (_, n) => ({ name: `n${n}` })),
    );
    const hold = createHold(queues.sqs, queues.urlPrefix, deadLetters, { waitSeconds: 0 });
    expect((await readLetters(hold, { most: 10, signal })).length).toBe(10);
    expect(await queues.drain(deadLetters)).toHaveLength(25);
  });

  it('of a queue that does not exist is an error that names it', async () => {
    const hold = createHold(queues.sqs, queues.urlPrefix, 'nothing-dlq.fifo', { waitSeconds: 0 });
    const failed = readLetters(hold, { most: 10, signal });
    await expect(failed).rejects.toThrow(new QueueCallError('there is no queue nothing-dlq.fifo'));
  });
});
