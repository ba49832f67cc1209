// What the page knows after the events of its stream, and what it requests. The test responds to each fetch. Excluded:
// the views, and the page with its real server (test/console/browser).

import * as store from '@outrigger/cli/console/page/store';
import type { ConsoleEvents, Flow, ObjectEntry } from '@outrigger/cli/console/wire';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { rowOf } from '../fake-source.ts';

const token = 'a-token-of-some-length';
const [north, south] = [rowOf('lab:tanks/default/north'), rowOf('lab:tanks/garden/south')];
const entry = (at: number): ObjectEntry => ({ at, id: north.id, type: 'change', text: `change ${at}` });
const health = { state: 'working', tone: 'good' } as const;
const controller = { name: 'tank', health, kind: 'Tank', reconcilesPerSecond: 1, failuresPerSecond: 0 };
const flow: Flow = {
  at: 5_000,
  changesPerSecond: 0,
  waitingTimers: 7,
  sharedDeadLetters: 0,
  p50Ms: 40,
  clusters: ['lab', 'prod'].map((name) => ({ name, health })),
  controllers: [
    { ...controller, queued: 2, inFlight: 1, failuresPerSecond: 0.5 },
    { ...controller, queued: 3, reconcilesPerSecond: 4 },
  ],
};
const snapshot: ConsoleEvents['snapshot'] = {
  system: { mode: 'dev', name: 'local', command: 'outrigger dev' },
  rows: [north],
  recent: [],
  faults: [],
  experiments: [],
  series: { at: [1, 2], reconciles: [3, 4], failures: [0, 0], p50: [20, null], p99: [30, null] },
};

/** The streams that the page has opened, and the response to each other request. */
let streams: ReadableStreamDefaultController<Uint8Array>[];
let respond: (() => Response) | undefined;
let requests: { readonly path: string; readonly authorization: string | null; readonly body: unknown }[];

beforeEach(() => {
  [streams, requests, respond] = [[], [], undefined];
  store.connection.value = 'connecting';
  store.flow.value = undefined;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'Date'] });
  vi.stubGlobal('fetch', async (path: string, { headers, body }: RequestInit) => {
    const authorization = new Headers(headers).get('authorization');
    requests.push({ path, authorization, body });
    if (respond !== undefined) return respond();
    if (authorization !== `Bearer ${token}`) return new Response('{}', { status: 401 });
    return new Response(new ReadableStream({ start: (stream) => void streams.push(stream) }));
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Opens the page with this fragment of its URL, in a session. */
function open(hash = `#${token}`, session = new Map<string, string>()) {
  const [window, location] = [new EventTarget(), { hash, reload: vi.fn() }];
  const replaceState = (_: null, __: string, url: string) => Object.assign(location, { hash: url });
  vi.stubGlobal('location', location);
  vi.stubGlobal('history', { replaceState });
  vi.stubGlobal('addEventListener', window.addEventListener.bind(window));
  vi.stubGlobal('sessionStorage', {
    getItem: (name: string) => session.get(name) ?? null,
    setItem: (name: string, value: string) => session.set(name, value),
    removeItem: (name: string) => session.delete(name),
  });
  store.start();
  return { session, location, window };
}

/** Sends an event in pieces of this many bytes. */
function send<E extends keyof ConsoleEvents>(event: E, data: ConsoleEvents[E], piece = 10_000): void {
  const bytes = new TextEncoder().encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  for (let at = 0; at < bytes.length; at += piece) streams.at(-1)?.enqueue(bytes.slice(at, at + piece));
}

async function openLive() {
  open();
  await expect.poll(() => streams).toHaveLength(1);
  send('snapshot', snapshot);
  await expect.poll(() => store.connection.value).toBe('live');
}

describe('the stream', () => {
  it('the objects are those of the snapshot with all changes since, and an event may arrive byte by byte', async () => {
    await openLive();
    const shown = () => store.allRows.value.map(({ id, text }) => `${store.displayName(id)} ${text}`);
    expect(shown()).toEqual(['north Ready']);
    send('rows', { changed: [{ ...south, text: 'ü' }], removed: [] }, 1);
    await expect.poll(shown).toEqual(['north Ready', 'garden/south ü']);
    send('rows', { changed: [rowOf('lab:cups/default/a')], removed: [north.id] });
    await expect.poll(shown).toEqual(['a Ready', 'garden/south ü']);
    send('flow', flow);
    await expect.poll(shown).toEqual(['lab: a Ready', 'lab: garden/south ü']);
  });

  it('the activity is the newest 60 entries, and a listener gets the new ones until it is removed', async () => {
    await openLive();
    const received: number[] = [];
    const remove = store.onEntries((entries) => received.push(...entries.map(({ at }) => at)));
    send('entries', [entry(1), entry(2)]);
    await expect.poll(() => received).toEqual([1, 2]);
    remove();
    const later = Array.from({ length: 59 }, (_, index) => index + 3);
    send('entries', later.map(entry));
    await expect.poll(() => store.recent.value.map(({ at }) => at)).toEqual([2, ...later]);
    expect(received).toEqual([1, 2]);
  });

  it('a flow adds a point to each plot: sums over controllers, none where one is unknown, 300 points at most', async () => {
    await openLive();
    send('flow', flow);
    await expect
      .poll(() => store.plots.value)
      .toEqual({
        at: [1, 2, 5],
        reconciles: [3, 4, 5],
        failures: [0, 0, 0.5],
        p50: [20, null, 40],
        p99: [30, null, null],
        waiting: [null, null, 5],
        inFlight: [null, null, null],
        timers: [null, null, 7],
      });
    for (let point = 0; point < 300; point += 1) send('flow', { ...flow, at: point * 1_000 });
    await expect.poll(() => store.plots.value?.at).toEqual(Array.from({ length: 300 }, (_, point) => point));
  });

  it('a page that lost its server connects again each second, as often as its stream breaks, and shows what is there then', async () => {
    await openLive();
    streams[0]?.close();
    await expect.poll(() => store.connection.value).toBe('lost');
    expect(store.allRows.value).toEqual([north]);
    respond = () => new Response('', { status: 502 });
    const before = requests.length;
    await vi.advanceTimersByTimeAsync(5_000);
    expect([requests.length - before, store.connection.value]).toEqual([5, 'lost']);
    respond = undefined;
    await vi.advanceTimersByTimeAsync(1_000);
    const experiment = { fault: 'sqs-down', startedAt: 1, seconds: 8, total: 1, awaited: 1, failed: 0 };
    send('snapshot', { ...snapshot, rows: [south] });
    send('experiments', [experiment]);
    await expect.poll(() => store.experiments.value).toEqual([experiment]);
    expect([store.connection.value, store.allRows.value]).toEqual(['live', [south]]);
    expect(Date.now() - store.now.value).toBeLessThan(1_000);
    streams[1]?.error(new TypeError('network error'));
    await expect.poll(() => store.connection.value).toBe('lost');
    await vi.advanceTimersByTimeAsync(1_000);
    send('snapshot', snapshot);
    await expect.poll(() => [store.connection.value, store.allRows.value]).toEqual(['live', [north]]);
  });

  it('a server that is silent for eight seconds is lost, although its connection is open', async () => {
    await openLive();
    await vi.advanceTimersByTimeAsync(7_000);
    send('entries', [entry(9)]);
    await expect.poll(() => store.recent.value.at(-1)?.at).toBe(9);
    await vi.advanceTimersByTimeAsync(7_000);
    expect(store.connection.value).toBe('live');
    await vi.advanceTimersByTimeAsync(1_000);
    await expect.poll(() => store.connection.value).toBe('lost');
  });

  it('a page whose token is refused shows it, and does not connect again', async () => {
    open('#/flow');
    await vi.advanceTimersByTimeAsync(300);
    await expect.poll(() => store.connection.value).toBe('refused');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(requests).toHaveLength(1);
  });
});

it('the token of the URL is kept for the session, and is in no URL that a person could copy', async () => {
  const { session, location } = open();
  expect(location.hash).toBe('#/flow');
  open('#/queues', session);
  expect(requests.map(({ authorization }) => authorization)).toEqual([`Bearer ${token}`, `Bearer ${token}`]);
});

it('the URL of a console that was started again, opened in the page of the former one, loads the page of the new one', () => {
  const { session, location, window } = open();
  location.hash = '#another-token-of-some-length';
  window.dispatchEvent(new Event('hashchange'));
  expect([location.hash, location.reload.mock.calls.length]).toEqual(['#/flow', 1]);
  open(location.hash, session);
  expect(requests.at(-1)?.authorization).toBe('Bearer another-token-of-some-length');
});

it.each([
  ['', 'flow', undefined],
  ['#/queues', 'queues', undefined],
  ['#/objects/lab%3Atanks%2Fdefault%2Fnorth', 'objects', north.id],
  ['#/objects/100%', 'objects', '100%'],
  ['#/objects/100%?state=Failed', 'objects', '100%'],
])('the URL %j shows the view %s and the object %j', async (hash, view, id) => {
  const { location, window } = open('#/break');
  location.hash = hash;
  window.dispatchEvent(new Event('hashchange'));
  expect(store.route.value).toEqual({ view, id });
  if (id === north.id) expect(store.objectHref(id)).toBe(hash);
});

it('a time range of the URL is that of an object, and a filter that changes keeps it and the view', async () => {
  const { location, window } = open('#/break');
  location.hash = '#/history?from=2026-11-28T02:00:00.000Z&to=2026-11-28T03:00:00.000Z';
  window.dispatchEvent(new Event('hashchange'));
  expect(store.range.value).toEqual({ from: Date.UTC(2026, 10, 28, 2), to: Date.UTC(2026, 10, 28, 3) });
  respond = () => Response.json({});
  await store.fetchDetail('a', new AbortController().signal);
  const within = 'from=2026-11-28T02:00:00.000Z&to=2026-11-28T03:00:00.000Z';
  expect(requests.at(-1)?.path).toBe(`api/object?id=a&${within}`);
  store.setQuery({ show: 'Actions' });
  expect(decodeURIComponent(location.hash)).toBe(`#/history?${within}&show=Actions`);
  store.setQuery({ from: '', to: '', show: '' });
  expect([location.hash, store.range.value]).toEqual(['#/history', undefined]);
});

const [object, queues, actions] = ['api/object?id=a%3Ab', 'api/queues', 'api/actions'];
it.each([
  ['an object', object, 200, { yaml: 'a' }, { yaml: 'a' }],
  ['an object that does not exist', object, 404, { error: 'no' }, undefined],
  ['an object that cannot be read', object, 500, { error: 'no' }, 'the console responded with 500'],
  ['queues that cannot be read', queues, 500, { error: 'no' }, 'the console responded with 500'],
  ['an action', actions, 200, { text: 'Sent.' }, { text: 'Sent.' }],
  ['a refused action', actions, 409, { error: 'no such queue' }, 'no such queue'],
  ['a failed action without a reason', actions, 500, {}, 'the console responded with 500'],
])('a request of %s results in what the server sent, or in an error for a person', async (_, path, status, body, end) => {
  open();
  respond = () => Response.json(body, { status });
  const { signal } = new AbortController();
  const action = { type: 'reconcile', id: 'a:b' } as const;
  const read = { [object]: () => store.fetchDetail('a:b', signal), [queues]: () => store.fetchQueues(signal) };
  const request = (read[path] ?? (() => store.post(action)))();
  if (typeof end === 'string') await expect(request).rejects.toThrow(end);
  else expect(await request).toEqual(end);
  const sent = path === actions ? JSON.stringify(action) : undefined;
  expect(requests.at(-1)).toEqual({ path, authorization: `Bearer ${token}`, body: sent });
});
