// The recovery of listAndWatch from everything that a server can do to a watch. Excluded: start and end
// (watch.test.ts), the state machine (watch-state.test.ts).
import type { ServerResponse } from 'node:http';
import { expect, it, onTestFinished, vi } from 'vitest';
import { sleep } from '../../../src/core/time.ts';
import { createRestoreDetection } from '../../../src/kube/watch/restore-detection.ts';
import type { WatchOptions } from '../../../src/kube/watch/watch.ts';
import { sendJson, statusOf } from '../wire-server.ts';
import { brief, createTime, eventLine, listOf, openWatch, startScript, startWatch, tank } from './watch-script.ts';

it.each([
  ['at once when the server ends the watch', ['101', '102'], '120', {}],
  ['if versions are incomparable, whatever the server’s is', ['900', '7'], '6', { comparable: false }],
])('listAndWatch probes and resumes at the last version %s', async (_, [first = '', second = ''], probed, options) => {
  const { server, sequence } = await startScript({
    watch: (_request, response, count) => {
      openWatch(response, eventLine('MODIFIED', tank('a', count === 1 ? first : second)));
      if (count === 1) response.end();
    },
    probe: (response) => sendJson(response, 200, listOf(probed)),
  });
  const time = createTime();
  const events = await startWatch(server.client(), time, options).take(5);
  expect(brief(events.slice(3))).toEqual([`changed a@${first}`, `changed a@${second}`]);
  expect(sequence()).toEqual(['list', 'watch', 'probe', 'watch']);
  expect(server.arrived.at(-1)?.query.resourceVersion).toBe(first);
  expect(time.backoffs).toEqual([]);
});

it.each([
  ['ends', ''],
  ['expires', eventLine('ERROR', statusOf(410, 'Expired'))],
])('listAndWatch waits a second before each next watch of a server that %s each after an event', async (_, last) => {
  const { server } = await startScript({
    watch: (_, response, count) => {
      openWatch(response, eventLine('MODIFIED', tank('a', String(100 + count))), last);
      response.end();
    },
    probe: (response) => sendJson(response, 200, listOf('900')),
  });
  const time = createTime();
  await startWatch(server.client(), time).take(40);
  const watches = server.arrived.filter(({ query }) => query.watch === 'true').length;
  expect(watches).toBeGreaterThan(5);
  // The first two are opened at once; the machine may be too slow for one of the others to be short.
  expect(time.backoffs.filter((seconds) => seconds === 1).length).toBeGreaterThan(watches / 2 - 2);
});

it('listAndWatch resumes at the last complete event when the connection is reset within an event', async () => {
  const complete = eventLine('MODIFIED', tank('a', '101'));
  const { server } = await startScript({
    watch: (_, response, count) => {
      if (count === 1)
        response
          .writeHead(200)
          .write(complete + eventLine('MODIFIED', tank('b', '102')).slice(0, 40), () =>
            response.socket?.resetAndDestroy(),
          );
      else openWatch(response, eventLine('MODIFIED', tank('b', '102')));
    },
  });
  const events = await startWatch(server.client()).take(6);
  expect(brief(events.slice(3))).toEqual(['changed a@101', 'error 0.8', 'changed b@102']);
  expect(server.arrived.at(-1)?.query.resourceVersion).toBe('101');
});

it('listAndWatch relists after an ERROR event with 410', async () => {
  const { server } = await startScript({
    watch: (_, response, count) =>
      count === 1 ? openWatch(response, eventLine('ERROR', statusOf(410, 'Expired'))) : openWatch(response),
  });
  const events = await startWatch(server.client()).take(7);
  expect(brief(events.slice(3))).toEqual(['error 0', 'listing relist', 'page relist: a', 'listed relist 100']);
  expect(events[3]).toMatchObject({ error: { status: 410 } });
});

it('listAndWatch relists after a 410 response, and backs off when it repeats', async () => {
  const { server } = await startScript({ watch: (_, response) => sendJson(response, 410, statusOf(410, 'Expired')) });
  const time = createTime();
  const events = await startWatch(server.client(), time).take(12);
  expect(brief(events).filter((event) => event.startsWith('error'))).toEqual(['error 0', 'error 1.6', 'error 3.2']);
  expect(time.backoffs).toEqual([1.6]);
});

it('listAndWatch relists at once after the first 410 that follows an outage, and backs off when it repeats', async () => {
  const { server } = await startScript({
    watch: (_, response, count) => {
      if (count <= 3) sendJson(response, 503, statusOf(503, 'ServiceUnavailable'));
      else if (count <= 5) sendJson(response, 410, statusOf(410, 'Expired'));
      else openWatch(response);
    },
  });
  const events = await startWatch(server.client()).take(14);
  expect(brief(events.slice(3)).filter((event) => !event.startsWith('page'))).toEqual([
    ...['error 0.8', 'error 1.6', 'error 3.2'],
    ...['error 0', 'listing relist', 'listed relist 100'],
    ...['error 12.8', 'listing relist', 'listed relist 100'],
  ]);
});

it('listAndWatch lists in larger pages after a 410, in smaller ones after a timeout, and keeps them otherwise', async () => {
  const failures = [410, 503, 410, 500, 504, 410, 504, 504, 504, 504, 200];
  const limits: unknown[] = [];
  const { server } = await startScript({
    list: ({ query }, response, count) => {
      limits.push(Number(query.limit));
      const code = failures[count - 1] ?? 200;
      sendJson(response, code, code === 200 ? listOf('100') : statusOf(code, 'No'));
    },
  });
  const { take } = startWatch(server.client());
  while (limits.length < failures.length) await take(1);
  expect(limits).toEqual([500, 2000, 2000, 4000, 4000, 2000, 4000, 2000, 1000, 500, 500]);
});

it('listAndWatch closes a watch after the idle timeout and resumes at the last version', async () => {
  const { server } = await startScript({
    watch: (_, response, count) => openWatch(response, eventLine('MODIFIED', tank('a', String(100 + count)))),
  });
  const time = createTime();
  const { take, events } = startWatch(server.client(), time);
  await take(4);
  const next = events.next();
  // The stream is being read, so its idle timeout is running.
  await Promise.resolve();
  time.expireIdleTimeout();
  expect(brief([(await next).value].filter((event) => event !== undefined))).toEqual(['error 0.8']);
  expect(brief(await take(1))).toEqual(['changed a@102']);
  expect(server.arrived.at(-1)?.query.resourceVersion).toBe('101');
});

it.each([
  ['closes', (response: ServerResponse) => response.end()],
  ['cuts', (response: ServerResponse) => response.socket?.end()],
])('listAndWatch waits no longer each time a proxy %s a watch that had no event for more than a second', async (_, close) => {
  const { server } = await startScript({
    watch: (_request, response) => {
      openWatch(response);
      close(response);
    },
  });
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 2_000));
  onTestFinished(() => clock.mockRestore());
  const items = brief(await startWatch(server.client()).take(7)).slice(3);
  expect(items).toEqual(['error 0.8', 'error 0.8', 'error 0.8', 'error 0.8']);
});

it.each([
  ['blank lines', '\n'],
  ['an event that never ends', ' '],
])('listAndWatch closes a watch that receives %s for the idle timeout, and resumes', async (_, bytes) => {
  const { server } = await startScript({
    watch: (_request, response, count) => {
      openWatch(response, eventLine('MODIFIED', tank('a', String(100 + count))));
      if (count > 1) return;
      const trickle = setInterval(() => response.write(bytes), 20);
      response.once('close', () => clearInterval(trickle));
    },
  });
  const options = { idleTimeoutSeconds: 0.3, wait: sleep };
  const items = await startWatch(server.client(), createTime(), options).take(6);
  expect(brief(items.slice(3))).toEqual(['changed a@101', 'error 0.8', 'changed a@102']);
});

it('listAndWatch keeps a watch whose last event takes longer than the idle timeout to process', async () => {
  const watches: ServerResponse[] = [];
  const { server } = await startScript({
    watch: (_, response) => {
      watches.push(response);
      openWatch(response, eventLine('MODIFIED', tank('a', '101')));
    },
  });
  const { take } = startWatch(server.client(), createTime());
  expect(brief(await take(4)).at(-1)).toBe('changed a@101');
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 100_000);
  onTestFinished(() => clock.mockRestore());
  watches[0]?.write(eventLine('MODIFIED', tank('a', '102')));
  expect(brief(await take(1))).toEqual(['changed a@102']);
  expect(watches).toHaveLength(1);
});

it('listAndWatch lists a restored server and forgets its version when it reconnects', async () => {
  const { server } = await startScript({
    watch: (_, response, count) => {
      openWatch(response, eventLine('MODIFIED', tank('a', count === 1 ? '101' : '9')));
      if (count === 1) response.end();
    },
    probe: (response) => sendJson(response, 200, listOf('8')),
    list: (_, response, count) => sendJson(response, 200, listOf(count === 1 ? '100' : '8')),
  });
  const events = await startWatch(server.client()).take(8);
  expect(brief(events.slice(3))).toEqual([
    'changed a@101',
    'listing restored',
    'page restored: ',
    'listed restored 8',
    'changed a@9',
  ]);
  expect(server.arrived.at(-1)?.query.resourceVersion).toBe('8');
});

it('listAndWatch reports a restore to the server’s other watches, which list it once, at any version', async () => {
  const { server } = await startScript({
    // The server ends one of the two watches. The reported restore interrupts the other one.
    watch: (_, response, count) => {
      openWatch(response, eventLine('MODIFIED', tank('a', count < 3 ? '101' : '9')));
      if (count === 2) response.end();
    },
    probe: (response) => sendJson(response, 200, listOf('8')),
    list: (_, response, count) => sendJson(response, 200, listOf(count < 3 ? '100' : '8')),
  });
  const restoreDetection = createRestoreDetection();
  const [notified, reporter] = [
    startWatch(server.client(), createTime(), { restoreDetection }),
    startWatch(server.client(), createTime(), { restoreDetection }),
  ];
  for (const one of [notified, reporter]) expect(brief(await one.take(4)).at(-1)).toBe('changed a@101');
  for (const one of [reporter, notified]) {
    expect(brief(await one.take(4))).toEqual([
      'listing restored',
      'page restored: ',
      'listed restored 8',
      'changed a@9',
    ]);
  }
  expect(restoreDetection.count()).toBe(1);
});

it('listAndWatch ends its backoff when another watch reports a restore', async () => {
  const { server } = await startScript({
    watch: (_request, response) => sendJson(response, 503, statusOf(503, 'No')),
  });
  const restoreDetection = createRestoreDetection();
  // A backoff that only the reported restore ends.
  const wait: WatchOptions['wait'] = (_, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const { take } = startWatch(server.client(), { ...createTime(), wait }, { restoreDetection });
  expect(brief(await take(4)).at(-1)).toBe('error 0.8');
  const next = take(1);
  restoreDetection.report();
  expect(brief(await next)).toEqual(['listing restored']);
});

it.each([
  ['Retry-After after a 429', 429, { 'retry-after': '20' }, [20, 20, 20, 20]],
  ['growing delays after a 503', 503, {}, [0.8, 1.6, 3.2, 6.4]],
  ['growing delays after a 403', 403, {}, [0.8, 1.6, 3.2, 6.4]],
  ['growing delays after a 404', 404, {}, [0.8, 1.6, 3.2, 6.4]],
])('listAndWatch retries with %s', async (_, code, headers, expected) => {
  const { server } = await startScript({
    watch: (_request, response) => sendJson(response, code, statusOf(code, 'No'), headers),
  });
  const time = createTime();
  const events = await startWatch(server.client(), time).take(7);
  expect(brief(events.slice(3))).toEqual(expected.map((seconds) => `error ${seconds}`));
});

it('listAndWatch resumes at the last version after an event of unknown type', async () => {
  const { server } = await startScript({
    watch: (_, response, count) =>
      count === 1 ? openWatch(response, '{"type":"NEW"}\n') : openWatch(response, eventLine('ADDED', tank('a', '101'))),
  });
  expect(brief((await startWatch(server.client()).take(5)).slice(3))).toEqual(['error 0.8', 'changed a@101']);
});
