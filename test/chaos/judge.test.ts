// Only that the judge sees what it is there to see: objects that meet, writes for nothing, a portion that was not laid out. On
// histories made by hand: a judge that never convicts proves nothing.
import http from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { isExtra, type Judge, meetings, startJudge } from './judge.ts';
import { createPlainApi } from '../../tools/chaos/plain-api.ts';
import { type Portion, parseWatchLine } from '../../tools/chaos/portions.ts';
import type { Visit } from './slow-world.ts';

const visit = (holder: string, entered: number, left?: number): Visit =>
  left === undefined ? { holder, entered } : { holder, entered, left };

describe('meetings', () => {
  it.each([
    { title: 'one after the other', visits: [visit('a', 0, 1), visit('a', 1, 2)], count: 0 },
    { title: 'of different objects', visits: [visit('a', 0, 5), visit('b', 1, 2)], count: 0 },
    { title: 'one within the other', visits: [visit('a', 0, 5), visit('a', 1, 2)], count: 1 },
    { title: 'one that never left', visits: [visit('a', 0), visit('a', 9, 10)], count: 1 },
    { title: 'noted in another order', visits: [visit('a', 4, 6), visit('a', 0, 5)], count: 1 },
  ])('visits $title count as $count', ({ visits, count }) => {
    expect(meetings(visits)).toBe(count);
  });
});

describe('extra writes', () => {
  const at = (
    resourceVersion: string,
    generation: number,
    observedGeneration: number,
    finalizers: string[] = [],
  ): Portion => {
    const metadata = { name: 'a', uid: 'u', resourceVersion, generation, finalizers };
    const object = { metadata, spec: { item: 'rice', amount: 1 }, status: { observedGeneration } };
    const { portion } = parseWatchLine(JSON.stringify({ type: 'MODIFIED', object }));
    if (portion === undefined) throw new Error('not a portion');
    return portion;
  };
  it('a write that brings neither a generation, nor the first word on it, nor a finalizer is extra', () => {
    expect(isExtra(at('1', 1, 1), at('2', 1, 1))).toBe(true);
  });
  it.each([
    ['a new generation', at('2', 2, 1)],
    ['the first word on a generation', at('2', 1, 2)],
    ['a finalizer', at('2', 1, 1, ['f'])],
    ['nothing, seen again', at('1', 1, 1)],
  ])('%s is not', (_, next) => {
    expect(isExtra(at('1', 1, 1), next)).toBe(false);
  });
});

describe('what was lost', () => {
  const running: { judge: Judge; server: http.Server }[] = [];
  afterEach(async () => {
    for (const { judge, server } of running.splice(0)) {
      server.closeAllConnections();
      await judge.close();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  /** A judge in front of one portion, and of a pantry that has laid out so much. */
  async function judgeOf(
    observedGeneration: number,
    laidOut: number,
    { waiting = 0, finalizers = [] }: { readonly waiting?: number; readonly finalizers?: readonly string[] } = {},
  ): Promise<Judge & { vanish(): Promise<void> }> {
    const metadata = { name: 'a', uid: 'u', resourceVersion: '7', generation: 2, finalizers };
    const conditions = [{ type: 'Ready', status: 'True' }];
    const status = { observedGeneration, conditions, measured: { amount: 3 } };
    let items = [{ metadata, spec: { item: 'rice', amount: 3 }, status }];
    const watched = Promise.withResolvers<void>();
    const server = http.createServer(({ url = '' }, response) => {
      // A watch that says nothing.
      if (url.includes('watch')) {
        watched.resolve();
        return;
      }
      const counts = { Attributes: { ApproximateNumberOfMessages: waiting } };
      const holding = { measured: { amount: laidOut } };
      const list = { metadata: { resourceVersion: '7' }, items };
      response.end(JSON.stringify(url.startsWith('/holders') ? holding : url === '/' ? counts : list));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const all = createPlainApi({ url: `http://127.0.0.1:${port}` });
    const judge = await startJudge({ api: all, pantry: all, sqs: all, queueUrl: 'q', visits: () => [] });
    running.push({ judge, server });
    return {
      ...judge,
      vanish: async () => {
        await watched.promise;
        items = [];
      },
    };
  }

  it('nothing is lost where status and pantry say what the spec says', async () => {
    expect(await (await judgeOf(2, 3)).untilConverged(60)).toEqual([]);
  });
  it('a status about an older spec is a loss', async () => {
    const said = 'generation 2 (version 7) wants 3; the status of generation 1 says 3, Ready True';
    expect(await (await judgeOf(1, 3)).untilConverged(0)).toEqual([`a: ${said}`]);
  });
  it('a portion that the pantry has not laid out is a loss, whatever the status says', async () => {
    expect(await (await judgeOf(2, 1)).untilConverged(0)).toEqual(['a: the pantry has 1 of 3 laid out']);
  });
  it('a queue that never empties is a loss', async () => {
    expect(await (await judgeOf(2, 3, { waiting: 1 })).untilConverged(0)).toEqual([
      '1 messages are still on the queue',
    ]);
  });
  it('a portion that is left behind is a loss', async () => {
    const judge = await judgeOf(2, 3, { finalizers: ['f'] });
    await judge.vanish();
    expect(await judge.untilConverged(0)).toEqual(['a (u) is gone, its portion is not']);
  });
  it.each([
    { of: 'an object that is no longer there', finalizers: ['f'], first: 'vanish', verdict: 'excused', lost: [] },
    { of: 'an object without its finalizer', finalizers: [], first: 'rewound', verdict: 'excused', lost: [] },
    {
      of: 'an object with its finalizer',
      finalizers: ['f'],
      first: 'rewound',
      verdict: 'a loss',
      lost: ['a (u) is gone, its portion is not'],
    },
  ] as const)('of a cluster that has gone back, the portion of $of that is left behind: $verdict', async ({
    finalizers,
    first,
    lost,
  }) => {
    const judge = await judgeOf(2, 3, { finalizers });
    if (first === 'vanish') await judge.vanish();
    await judge.rewound();
    await judge.vanish();
    expect(await judge.untilConverged(0)).toEqual(lost);
  });
});
