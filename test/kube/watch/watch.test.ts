// The start and the end of listAndWatch, over a real socket. Excluded: its recovery (watch-reconnect.test.ts), the
// state machine (watch-state.test.ts), the watcher's store and predicates.
import { expect, it } from 'vitest';
import { sendJson, statusOf } from '../wire-server.ts';
import { brief, createTime, eventLine, listOf, openWatch, startScript, startWatch, tank } from './watch-script.ts';

it('listAndWatch without a version lists the selected metadata, and watches from the list’s version, with bookmarks', async () => {
  const { server } = await startScript({
    watch: (_, response) =>
      openWatch(
        response,
        eventLine('MODIFIED', tank('a', '101')),
        eventLine('DELETED', tank('a', '102')),
        eventLine('BOOKMARK', { metadata: { resourceVersion: '110' } }),
      ),
  });
  const events = await startWatch(server.client()).take(6);
  expect(brief(events)).toEqual([
    'listing initial',
    'page initial: a',
    'listed initial 100',
    'changed a@101',
    'deleted a@102',
    'bookmark 110',
  ]);
  const identity = { uid: 'uid-a', resourceVersion: '90', generation: 1, namespace: 'plant', name: 'a' };
  const items = [{ ...identity, deleting: false, owners: [], annotations: { wanted: 'w' } }];
  expect(events[1]).toEqual({ type: 'page', mode: 'initial', items });
  expect(server.arrived[1]).toMatchObject({
    path: '/apis/plant.example.com/v1/namespaces/plant/watertanks',
    query: { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: '100', labelSelector: 'a=b' },
    headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' },
  });
});

it('listAndWatch with a version probes the server, lists exactly that version, and watches from it', async () => {
  const { server, sequence } = await startScript({
    list: (_, response) => sendJson(response, 200, listOf('50', tank('a', '40'))),
    watch: (_, response) => openWatch(response, eventLine('ADDED', tank('b', '60'))),
  });
  const events = await startWatch(server.client(), createTime(), { start: '50' }).take(4);
  expect(brief(events)).toEqual(['listing exact', 'page exact: a', 'listed exact 50', 'changed b@60']);
  expect(sequence()).toEqual(['probe', 'list', 'watch']);
  expect(server.arrived[1]?.query).toMatchObject({
    resourceVersion: '50',
    resourceVersionMatch: 'Exact',
    limit: '500',
  });
});

it('listAndWatch with a version that is too old lists the newest version in the mode expired', async () => {
  const { server } = await startScript({
    list: ({ query }, response) =>
      query.resourceVersion === undefined
        ? sendJson(response, 200, listOf('100'))
        : sendJson(response, 410, statusOf(410, 'Expired')),
  });
  const time = createTime();
  const events = await startWatch(server.client(), time, { start: '50' }).take(5);
  expect(brief(events)).toEqual([
    'listing exact',
    'error 0',
    'listing expired',
    'page expired: ',
    'listed expired 100',
  ]);
  expect(time.backoffs).toEqual([]);
});

it('listAndWatch with a version newer than the server’s opens no watch and lists a restored server', async () => {
  const { server } = await startScript({
    probe: (response) => sendJson(response, 200, listOf('7')),
    list: (_, response) => sendJson(response, 200, listOf('7')),
  });
  const events = await startWatch(server.client(), createTime(), { start: '50' }).take(3);
  expect(brief(events)).toEqual(['listing restored', 'page restored: ', 'listed restored 7']);
  expect(server.arrived.map(({ query }) => query.resourceVersion)).not.toContain('50');
});

it('listAndWatch yields another listing after a list failed, and starts over, with larger pages after its token expired', async () => {
  const { server } = await startScript({
    list: ({ query }, response, count) => {
      const more = query.continue === undefined ? 'more' : '';
      if (count === 2) sendJson(response, 410, statusOf(410, 'Expired'));
      else
        sendJson(response, 200, {
          metadata: { resourceVersion: '100', continue: more },
          items: [tank(`p${count}`, '1')],
        });
    },
  });
  const events = await startWatch(server.client()).take(7);
  expect(brief(events)).toEqual([
    ...['listing initial', 'page initial: p1', 'error 0'],
    ...['listing initial', 'page initial: p3', 'page initial: p4', 'listed initial 100'],
  ]);
  expect(server.arrived.map(({ query }) => query.limit)).toEqual(['500', '500', '2000', '2000']);
});

it('listAndWatch ends without an error when the signal aborts, while it watches and while it lists', async () => {
  const { server } = await startScript({});
  const { take, events, stop } = startWatch(server.client());
  await take(3);
  const next = events.next();
  stop();
  expect(await next).toEqual({ done: true, value: undefined });

  const unresponsive = await startScript({ list: () => undefined });
  const listing = startWatch(unresponsive.server.client());
  await listing.take(1);
  const page = listing.events.next();
  listing.stop();
  expect(await page).toEqual({ done: true, value: undefined });
});
