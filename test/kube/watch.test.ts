// Following a collection over a real socket through everything a server can do to it. Time is moved by the test: a wait ends
// when the test says so. Excluded: the table of states (watch-state.test.ts), the watcher's store and predicates.
import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { KubeClient } from '../../src/kube/client.ts';
import { type WatchEvent, type WatchOptions, watchHeads } from '../../src/kube/watch.ts';
import { type Arrived, sendJson, startWireServer, statusOf } from './wire-server.ts';

const tanks = { group: 'plant.example.com', version: 'v1', plural: 'watertanks', namespaced: true };
const tank = (name: string, resourceVersion: string) => ({
  metadata: {
    name,
    namespace: 'plant',
    uid: `uid-${name}`,
    resourceVersion,
    generation: 1,
    annotations: { wanted: 'w', 'kubectl.kubernetes.io/last-applied-configuration': 'secret' },
    managedFields: [{ manager: 'kubectl' }],
  },
});
const frame = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;

/** What a scripted server answers to the three requests of a watch. */
interface Script {
  probe?(response: ServerResponse, count: number): void;
  list?(request: Arrived, response: ServerResponse, count: number): void;
  watch?(request: Arrived, response: ServerResponse, count: number): void;
}

const kindOf = ({ query }: Arrived) => (query.watch === 'true' ? 'watch' : query.limit === '1' ? 'probe' : 'list');
const listOf = (version: string, ...items: object[]) => ({ metadata: { resourceVersion: version }, items });
const openWatch = (response: ServerResponse, ...frames: string[]) => {
  response.writeHead(200);
  response.flushHeaders();
  if (frames.length > 0) response.write(frames.join(''));
};

async function startScript(script: Script) {
  const counts = { probe: 0, list: 0, watch: 0 };
  const server = await startWireServer((request, response) => {
    const kind = kindOf(request);
    counts[kind] += 1;
    if (kind === 'watch') (script.watch ?? ((_, open) => openWatch(open)))(request, response, counts.watch);
    else if (kind === 'probe') (script.probe ?? ((open) => sendJson(open, 200, listOf('200'))))(response, counts.probe);
    else
      (script.list ?? ((_, open) => sendJson(open, 200, listOf('100', tank('a', '90')))))(
        request,
        response,
        counts.list,
      );
  });
  return { server, sequence: () => server.arrived.map(kindOf) };
}

/** Time that passes when the test says so. Backoffs end at once; the idle timer only through `silence`. */
function createTime() {
  const backoffs: number[] = [];
  const idle: (() => void)[] = [];
  const wait: WatchOptions['wait'] = (seconds, signal) => {
    if (seconds !== 70) {
      backoffs.push(seconds);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      idle.push(resolve);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  };
  return { wait, backoffs, silence: () => idle.at(-1)?.() };
}

function follow(client: KubeClient, time = createTime(), options: Partial<WatchOptions> = {}) {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const target = { resource: tanks, namespace: 'plant', labelSelector: 'a=b', wanted: { annotations: ['wanted'] } };
  const events = watchHeads(client, target, {
    signal: controller.signal,
    wait: time.wait,
    random: () => 0,
    ...options,
  });
  const take = async (count: number) => {
    const taken: WatchEvent[] = [];
    while (taken.length < count) {
      const next = await events.next();
      if (next.done === true) break;
      taken.push(next.value);
    }
    return taken;
  };
  return { take, events, stop: () => controller.abort() };
}

const brief = (events: readonly WatchEvent[]) =>
  events.map((event) => {
    if (event.type === 'page') return `page ${event.mode}: ${event.items.map((item) => item.name).join()}`;
    if (event.type === 'listing') return `listing ${event.mode}`;
    if (event.type === 'listed') return `listed ${event.mode} ${event.resourceVersion}`;
    if (event.type === 'bookmark') return `bookmark ${event.resourceVersion}`;
    if (event.type === 'trouble') return `trouble ${event.retryInSeconds}`;
    return `${event.type} ${event.head.name}@${event.head.resourceVersion}`;
  });

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
