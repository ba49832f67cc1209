// Only that the checker detects violations: concurrent reconciles, extra writes, a portion that was not measured. On
// made-up histories, because a checker that never reports a violation proves nothing.
import { afterEach, describe, expect, it } from 'vitest';
import { type Checker, countOverlaps, isExtraWrite, startChecker } from '../../../tools/chaos/checker.ts';
import { createPlainApi } from '../../../tools/chaos/plain-api.ts';
import { type Portion, parseWatchLine } from '../../../tools/chaos/portions.ts';
import type { PantryRequest } from '../../../tools/chaos/slow-pantry.ts';
import { type HttpServer, startHttpServer } from '../../support/listen.ts';

const request = (holder: string, startedAt: number, endedAt?: number): PantryRequest =>
  endedAt === undefined ? { holder, startedAt } : { holder, startedAt, endedAt };

it.each([
  { title: 'one after the other', requests: [request('a', 0, 1), request('a', 1, 2)], count: 0 },
  { title: 'of different objects', requests: [request('a', 0, 5), request('b', 1, 2)], count: 0 },
  { title: 'one within the other', requests: [request('a', 0, 5), request('a', 1, 2)], count: 1 },
  { title: 'one without an end', requests: [request('a', 0), request('a', 9, 10)], count: 1 },
  { title: 'recorded in another order', requests: [request('a', 4, 6), request('a', 0, 5)], count: 1 },
])('countOverlaps of requests $title is $count', ({ requests, count }) => {
  expect(countOverlaps(requests)).toBe(count);
});

describe('isExtraWrite', () => {
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
  it('a write without a new generation, observed generation or finalizer is an extra write', () => {
    expect(isExtraWrite(at('1', 1, 1), at('2', 1, 1))).toBe(true);
  });
  it.each([
    ['a new generation', at('2', 2, 1)],
    ['a new observed generation', at('2', 1, 2)],
    ['a new finalizer', at('2', 1, 1, ['f'])],
    ['the same version received again', at('1', 1, 1)],
  ])('%s is not an extra write', (_, next) => {
    expect(isExtraWrite(at('1', 1, 1), next)).toBe(false);
  });
});

describe('lost changes', () => {
  const running: { checker: Checker; server: HttpServer }[] = [];
  afterEach(async () => {
    for (const { checker, server } of running.splice(0)) {
      await server.close();
      await checker.close();
    }
  });

  /** A checker with one portion, and with a pantry that has measured this amount. */
  async function openChecker(
    observedGeneration: number,
    measured: number,
    { waiting = 0, finalizers = [] }: { readonly waiting?: number; readonly finalizers?: readonly string[] } = {},
  ): Promise<Checker & { vanish(): Promise<void> }> {
    const metadata = { name: 'a', uid: 'u', resourceVersion: '7', generation: 2, finalizers };
    const conditions = [{ type: 'Ready', status: 'True' }];
    const status = { observedGeneration, conditions, measured: { amount: 3 } };
    let items = [{ metadata, spec: { item: 'rice', amount: 3 }, status }];
    const watched = Promise.withResolvers<void>();
    const server = await startHttpServer(({ url = '' }, response) => {
      // A watch without events.
      if (url.includes('watch')) {
        watched.resolve();
        return;
      }
      const counts = { Attributes: { ApproximateNumberOfMessages: waiting } };
      const holding = { measured: { amount: measured } };
      const list = { metadata: { resourceVersion: '7' }, items };
      response.end(JSON.stringify(url.startsWith('/holders') ? holding : url === '/' ? counts : list));
    });
    const client = createPlainApi({ url: server.url });
    const checker = await startChecker({ api: client, pantry: client, sqs: client, queueUrl: 'q', requests: () => [] });
    running.push({ checker, server });
    return {
      ...checker,
      vanish: async () => {
        await watched.promise;
        items = [];
      },
    };
  }

  const older = 'a: generation 2 (version 7) requests 3; the status of generation 1 has 3, Ready True';
  it.each<[string, [observedGeneration: number, measured: number, waiting: number], number, string[]]>([
    ['nothing when the status and the pantry match the spec', [2, 3, 0], 60, []],
    ['a status of an older generation', [1, 3, 0], 0, [older]],
    [
      'a portion that the pantry has not measured, whatever its status',
      [2, 1, 0],
      0,
      ['a: the pantry has 1 of 3 measured'],
    ],
    ['a queue that is not empty', [2, 3, 1], 0, ['1 messages are still on the queue']],
  ])('Checker.untilConverged reports %s', async (_, [observedGeneration, measured, waiting], seconds, reported) => {
    const checker = await openChecker(observedGeneration, measured, { waiting });
    expect(await checker.untilConverged(seconds)).toEqual(reported);
  });
  const left = ['a (u) is deleted, but its portion still exists'];
  it('Checker.untilConverged reports a portion whose object was deleted', async () => {
    const checker = await openChecker(2, 3, { finalizers: ['f'] });
    await checker.vanish();
    expect(await checker.untilConverged(0)).toEqual(left);
    expect(await checker.untilConverged(0, { named: async () => ['other'] })).toEqual(left);
    // A dead letter names it.
    expect(await checker.untilConverged(10, { named: async () => ['u'] })).toEqual([]);
  });
  it.each([
    { of: 'a missing object', finalizers: ['f'], first: 'vanish', result: 'ignored', lost: [] },
    { of: 'an object without its finalizer', finalizers: [], first: 'restore', result: 'ignored', lost: [] },
    { of: 'an object with its finalizer', finalizers: ['f'], first: 'restore', result: 'reported', lost: left },
  ] as const)('after a restore, the remaining portion of $of is $result', async ({ finalizers, first, lost }) => {
    const checker = await openChecker(2, 3, { finalizers });
    if (first === 'vanish') await checker.vanish();
    await checker.recordRestore();
    await checker.vanish();
    expect(await checker.untilConverged(0)).toEqual(lost);
  });
});
