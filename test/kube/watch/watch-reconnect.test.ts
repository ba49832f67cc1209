// Everything a server can do to a watch, and that it goes on. Excluded: its start and end (watch.test.ts), the table of states
// (watch-state.test.ts).
import { describe, expect, it } from 'vitest';
import { createRestoration } from '../../../src/kube/restoration.ts';
import type { WatchOptions } from '../../../src/kube/watch.ts';
import { brief, createTime, follow, frame, listOf, openWatch, startScript, tank } from './watch-script.ts';
import { sendJson, startWireServer, statusOf } from '../wire-server.ts';

describe('a watch that', () => {
  it('the server ends goes on at once from the last version, after a look whether the server was restored', async () => {
    const { server, sequence } = await startScript({
      watch: (_, response, count) => {
        openWatch(response, frame('MODIFIED', tank('a', String(100 + count))));
        if (count === 1) response.end();
      },
      probe: (response) => sendJson(response, 200, listOf('120')),
    });
    const time = createTime();
    const events = await follow(server.client(), time).take(5);
    expect(brief(events.slice(3))).toEqual(['changed a@101', 'changed a@102']);
    expect(sequence()).toEqual(['list', 'watch', 'probe', 'watch']);
    expect(server.arrived.at(-1)?.query.resourceVersion).toBe('101');
    expect(time.backoffs).toEqual([]);
  });

  it('of versions that mean nothing goes on from its last, whatever the server’s is', async () => {
    const { server, sequence } = await startScript({
      watch: (_, response, count) => {
        openWatch(response, frame('MODIFIED', tank('a', count === 1 ? '900' : '7')));
        if (count === 1) response.end();
      },
      probe: (response) => sendJson(response, 200, listOf('6')),
    });
    const events = await follow(server.client(), createTime(), { comparable: false }).take(5);
    expect(brief(events.slice(3))).toEqual(['changed a@900', 'changed a@7']);
    expect(sequence()).toEqual(['list', 'watch', 'probe', 'watch']);
  });

  it('is reset within a frame goes on from the last whole one', async () => {
    const whole = frame('MODIFIED', tank('a', '101'));
    const { server } = await startScript({
      watch: (_, response, count) => {
        if (count === 1)
          response
            .writeHead(200)
            .write(whole + frame('MODIFIED', tank('b', '102')).slice(0, 40), () => response.socket?.resetAndDestroy());
        else openWatch(response, frame('MODIFIED', tank('b', '102')));
      },
    });
    const events = await follow(server.client()).take(6);
    expect(brief(events.slice(3))).toEqual(['changed a@101', 'trouble 0.8', 'changed b@102']);
    expect(server.arrived.at(-1)?.query.resourceVersion).toBe('101');
  });

  it('is told 410 in the stream lists again', async () => {
    const { server } = await startScript({
      watch: (_, response, count) =>
        count === 1 ? openWatch(response, frame('ERROR', statusOf(410, 'Expired'))) : openWatch(response),
    });
    const events = await follow(server.client()).take(7);
    expect(brief(events.slice(3))).toEqual(['trouble 0', 'listing relist', 'page relist: a', 'listed relist 100']);
    expect(events[3]).toMatchObject({ error: { status: 410 } });
  });

  it('is told 410 as the answer lists again, and waits when that goes on', async () => {
    const { server } = await startScript({ watch: (_, response) => sendJson(response, 410, statusOf(410, 'Expired')) });
    const time = createTime();
    const events = await follow(server.client(), time).take(12);
    expect(brief(events).filter((event) => event.startsWith('trouble'))).toEqual([
      'trouble 0',
      'trouble 1.6',
      'trouble 3.2',
    ]);
    expect(time.backoffs).toEqual([1.6]);
  });

  it('is silent for 70 s is dropped, and goes on from the last version', async () => {
    const { server } = await startScript({
      watch: (_, response, count) =>
        openWatch(
          response,
          ...(count === 1 ? [frame('MODIFIED', tank('a', '101'))] : [frame('MODIFIED', tank('a', '102'))]),
        ),
    });
    const time = createTime();
    const { take, events } = follow(server.client(), time);
    await take(4);
    const next = events.next();
    // The stream is being read by now: its idle timer runs.
    await Promise.resolve();
    time.silence();
    expect(brief([(await next).value].filter((event) => event !== undefined))).toEqual(['trouble 0.8']);
    expect(brief(await take(1))).toEqual(['changed a@102']);
    expect(server.arrived.at(-1)?.query.resourceVersion).toBe('101');
  });

  it('meets a restored server on its way back lists it and forgets its version', async () => {
    const { server } = await startScript({
      watch: (_, response, count) => {
        openWatch(response, frame('MODIFIED', tank('a', count === 1 ? '101' : '9')));
        if (count === 1) response.end();
      },
      probe: (response) => sendJson(response, 200, listOf('8')),
      list: (_, response, count) => sendJson(response, 200, listOf(count === 1 ? '100' : '8')),
    });
    const events = await follow(server.client()).take(8);
    expect(brief(events.slice(3))).toEqual([
      'changed a@101',
      'listing restored',
      'page restored: ',
      'listed restored 8',
      'changed a@9',
    ]);
    expect(server.arrived.at(-1)?.query.resourceVersion).toBe('8');
  });

  it('meets a restored server says so to others, which list it too, once, whatever their own versions', async () => {
    const { server } = await startScript({
      // The first of the two watches is ended by the server, the second by the news.
      watch: (_, response, count) => {
        openWatch(response, frame('MODIFIED', tank('a', count < 3 ? '101' : '9')));
        if (count === 2) response.end();
      },
      probe: (response) => sendJson(response, 200, listOf('8')),
      list: (_, response, count) => sendJson(response, 200, listOf(count < 3 ? '100' : '8')),
    });
    const restoration = createRestoration();
    const [told, finder] = [
      follow(server.client(), createTime(), { restoration }),
      follow(server.client(), createTime(), { restoration }),
    ];
    for (const one of [told, finder]) expect(brief(await one.take(4)).at(-1)).toBe('changed a@101');
    for (const one of [finder, told]) {
      expect(brief(await one.take(4))).toEqual([
        'listing restored',
        'page restored: ',
        'listed restored 8',
        'changed a@9',
      ]);
    }
    expect(restoration.count()).toBe(1);
  });

  it('waits for its turn does not wait any longer for the news that the server was restored', async () => {
    const { server } = await startScript({
      watch: (_request, response) => sendJson(response, 503, statusOf(503, 'No')),
    });
    const restoration = createRestoration();
    // A backoff that only the news ends.
    const wait: WatchOptions['wait'] = (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const { take } = follow(server.client(), { ...createTime(), wait }, { restoration });
    expect(brief(await take(4)).at(-1)).toBe('trouble 0.8');
    const next = take(1);
    restoration.tell();
    expect(brief(await next)).toEqual(['listing restored']);
  });

  it.each([
    ['throttled waits as long as it is told', 429, { 'retry-after': '20' }, [20, 20, 20, 20]],
    ['refused by a failing server waits longer and longer', 503, {}, [0.8, 1.6, 3.2, 6.4]],
    ['not allowed waits longer and longer', 403, {}, [0.8, 1.6, 3.2, 6.4]],
    ['of a kind that is not there waits longer and longer', 404, {}, [0.8, 1.6, 3.2, 6.4]],
  ])('is %s', async (_, code, headers, expected) => {
    const { server } = await startScript({
      watch: (_request, response) => sendJson(response, code, statusOf(code, 'No'), headers),
    });
    const time = createTime();
    const events = await follow(server.client(), time).take(7);
    expect(brief(events.slice(3))).toEqual(expected.map((seconds) => `trouble ${seconds}`));
  });

  it('is not authorised reads the token again and goes on', async () => {
    let token = 'stale';
    const refresh = () => {
      token = 'fresh';
    };
    const server = await startWireServer((request, response) => {
      if (request.headers.authorization !== 'Bearer fresh') sendJson(response, 401, statusOf(401, 'Unauthorized'));
      else sendJson(response, 200, listOf('100'));
    });
    const events = await follow(server.client({}, { token: async () => token, refresh })).take(3);
    expect(brief(events)).toEqual(['listing initial', 'page initial: ', 'listed initial 100']);
  });

  it('brings something unheard of starts again from the last version', async () => {
    const { server } = await startScript({
      watch: (_, response, count) =>
        count === 1 ? openWatch(response, '{"type":"NEW"}\n') : openWatch(response, frame('ADDED', tank('a', '101'))),
    });
    expect(brief((await follow(server.client()).take(5)).slice(3))).toEqual(['trouble 0.8', 'changed a@101']);
  });
});
