// The start of a watch and its end, over a real socket. Excluded: what happens to it in between (watch-again.test.ts), the table
// of states (watch-state.test.ts), the watcher's store and predicates.
import { describe, expect, it } from 'vitest';
import { brief, createTime, follow, frame, listOf, openWatch, startScript, tank } from './watch-script.ts';
import { sendJson, statusOf } from '../wire-server.ts';

describe('the start', () => {
  it('without a version lists everything and watches from there, metadata only and with bookmarks', async () => {
    const { server } = await startScript({
      watch: (_, response) =>
        openWatch(
          response,
          frame('MODIFIED', tank('a', '101')),
          frame('DELETED', tank('a', '102')),
          frame('BOOKMARK', { metadata: { resourceVersion: '110' } }),
        ),
    });
    const events = await follow(server.client()).take(6);
    expect(brief(events)).toEqual([
      'listing initial',
      'page initial: a',
      'listed initial 100',
      'changed a@101',
      'deleted a@102',
      'bookmark 110',
    ]);
    expect(server.arrived[1]).toMatchObject({
      path: '/apis/plant.example.com/v1/namespaces/plant/watertanks',
      query: { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: '100', labelSelector: 'a=b' },
      headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' },
    });
  });

  it('keeps of an object only what was asked for', async () => {
    const { server } = await startScript({});
    const [, page] = await follow(server.client()).take(2);
    expect(page).toEqual({
      type: 'page',
      mode: 'initial',
      items: [
        {
          uid: 'uid-a',
          resourceVersion: '90',
          generation: 1,
          deleting: false,
          namespace: 'plant',
          name: 'a',
          owners: [],
          annotations: { wanted: 'w' },
        },
      ],
    });
  });

  it('at a version asks whether the server is that far, lists exactly there, and watches from there', async () => {
    const { server, sequence } = await startScript({
      list: (_, response) => sendJson(response, 200, listOf('50', tank('a', '40'))),
      watch: (_, response) => openWatch(response, frame('ADDED', tank('b', '60'))),
    });
    const events = await follow(server.client(), createTime(), { start: '50' }).take(4);
    expect(brief(events)).toEqual(['listing exact', 'page exact: a', 'listed exact 50', 'changed b@60']);
    expect(sequence()).toEqual(['probe', 'list', 'watch']);
    expect(server.arrived[1]?.query).toMatchObject({
      resourceVersion: '50',
      resourceVersionMatch: 'Exact',
      limit: '500',
    });
  });

  it('at a version that is too old lists as of now, and says so', async () => {
    const { server } = await startScript({
      list: ({ query }, response) =>
        query.resourceVersion === undefined
          ? sendJson(response, 200, listOf('100'))
          : sendJson(response, 410, statusOf(410, 'Expired')),
    });
    const time = createTime();
    const events = await follow(server.client(), time, { start: '50' }).take(5);
    expect(brief(events)).toEqual([
      'listing exact',
      'trouble 0',
      'listing expired',
      'page expired: ',
      'listed expired 100',
    ]);
    expect(time.backoffs).toEqual([]);
  });

  it('at a version that the server has yet to reach lists a restored server, and opens no watch from the future', async () => {
    const { server } = await startScript({
      probe: (response) => sendJson(response, 200, listOf('7')),
      list: (_, response) => sendJson(response, 200, listOf('7')),
    });
    const events = await follow(server.client(), createTime(), { start: '50' }).take(3);
    expect(brief(events)).toEqual(['listing restored', 'page restored: ', 'listed restored 7']);
    expect(server.arrived.map(({ query }) => query.resourceVersion)).not.toContain('50');
  });

  it('a list that breaks off is announced anew, and its pages so far are void', async () => {
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
    const events = await follow(server.client()).take(7);
    expect(brief(events)).toEqual([
      ...['listing initial', 'page initial: p1', 'trouble 0'],
      ...['listing initial', 'page initial: p3', 'page initial: p4', 'listed initial 100'],
    ]);
  });
});

describe('the end', () => {
  it('comes with the signal, while listing, watching and waiting alike, and without an error', async () => {
    const { server } = await startScript({});
    const { take, events, stop } = follow(server.client());
    await take(3);
    const next = events.next();
    stop();
    expect(await next).toEqual({ done: true, value: undefined });

    const silent = await startScript({ list: () => undefined });
    const listing = follow(silent.server.client());
    await listing.take(1);
    const page = listing.events.next();
    listing.stop();
    expect(await page).toEqual({ done: true, value: undefined });
  });
});
