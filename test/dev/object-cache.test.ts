// Only the changes that the cache reports, and when it lists again. The journeys cover the watch.

import { startApiServer } from '@outrigger/apiserver';
import { type CachedChange, createObjectCache } from '@outrigger/cli/dev/object-cache';
import { expect, it, vi } from 'vitest';
import { sleep } from '../../src/core/time.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true };

it('createObjectCache watches a kind with two controllers once', async () => {
  const server = await startApiServer();
  const client = createClient({ server: new URL(server.url) });
  const ending = new AbortController();
  const reported: CachedChange[] = [];
  let lists = 0;
  const counting: typeof client = {
    ...client,
    request: async (request) => {
      if (request.path.endsWith('/configmaps')) lists += 1;
      return await client.request(request);
    },
  };
  const options = { signal: ending.signal, onChange: (change: CachedChange) => void reported.push(change) };
  const view = createObjectCache(counting, [configMaps, { ...configMaps }], options);
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace: 'default' } };
  await client.request({ method: 'POST', path: '/api/v1/namespaces/default/configmaps', body });
  const seen = (now: Pick<typeof view, 'get'>) => now.get(configMaps, { namespace: 'default', name: 'one' });
  await view.until(seen, AbortSignal.timeout(15_000));
  expect(reported.map(({ after }) => after?.metadata.name)).toEqual(['one']);
  expect(lists).toBe(1);
  ending.abort();
  client.close();
  await server.close();
});

it('a kind of a project with namespaces is listed and watched in each of these alone', async () => {
  const server = await startApiServer();
  const client = createClient({ server: new URL(server.url) });
  const ending = new AbortController();
  const failures: string[] = [];
  const permitted = (path: string) => !path.endsWith('/v1/configmaps');
  const refused = async () => await Promise.reject(new Error('refused'));
  const limited: KubeClient = {
    ...client,
    request: async (one) => await (permitted(one.path) ? client.request(one) : refused()),
    stream: async (one) => await (permitted(one.path) ? client.stream(one) : refused()),
  };
  const create = async (path: string, kind: string, metadata: object) =>
    await client.request({ method: 'POST', path, body: { apiVersion: 'v1', kind, metadata } });
  for (const name of ['a', 'b']) await create('/api/v1/namespaces', 'Namespace', { name });
  const add = async (namespace: string, name: string) =>
    await create(`/api/v1/namespaces/${namespace}/configmaps`, 'ConfigMap', { name, namespace });
  for (const namespace of ['a', 'b', 'default']) await add(namespace, 'one');
  const onFailure = ({ message }: Error) => void failures.push(message);
  const view = createObjectCache(limited, [configMaps], { signal: ending.signal, namespaces: ['a', 'b'], onFailure });
  const both = (name: string) => (now: Pick<typeof view, 'get'>) =>
    ['a', 'b'].every((namespace) => now.get(configMaps, { namespace, name }) !== undefined) || undefined;
  await view.until(both('one'), AbortSignal.timeout(15_000));
  for (const namespace of ['a', 'b']) await add(namespace, 'two');
  await view.until(both('two'), AbortSignal.timeout(15_000));
  expect(view.get(configMaps, { namespace: 'default', name: 'one' })).toBeUndefined();
  expect(failures).toEqual([]);
  ending.abort();
  client.close();
  await server.close();
});

it('an object whose change cannot be shown, such as one that is nested too deeply, does not end the watch', async () => {
  const server = await startApiServer();
  const client = createClient({ server: new URL(server.url) });
  const ending = new AbortController();
  const failures: string[] = [];
  const view = createObjectCache(client, [configMaps], {
    signal: ending.signal,
    onChange: ({ after }) => {
      if (after?.metadata.name === 'deep') throw new RangeError('Maximum call stack size exceeded');
    },
    onFailure: ({ message }) => void failures.push(message),
  });
  for (const name of ['deep', 'next']) {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } };
    await client.request({ method: 'POST', path: '/api/v1/namespaces/default/configmaps', body });
  }
  const seen = (now: Pick<typeof view, 'get'>) => now.get(configMaps, { namespace: 'default', name: 'next' });
  await view.until(seen, AbortSignal.timeout(15_000));
  expect(failures).toEqual(['Maximum call stack size exceeded']);
  ending.abort();
  client.close();
  await server.close();
});

type WatchEvent = { readonly type: string; readonly seconds: number };

/** A client whose watches have this event, and do not end, or end at once. Counts its lists and its open watches. */
function fakeClient({ event, ends = false }: { readonly event?: WatchEvent; readonly ends?: boolean }) {
  const counted = { lists: 0, open: 0 };
  const client: KubeClient = {
    request: async () => {
      counted.lists += 1;
      if (counted.lists > 10) throw new Error('listed in a loop');
      return { status: 200, headers: {}, body: { metadata: { resourceVersion: '1' }, items: [] } };
    },
    stream: async () => {
      const closed = Promise.withResolvers<void>();
      counted.open += 1;
      closed.promise.then(() => {
        counted.open -= 1;
      });
      const chunks = async function* () {
        if (event !== undefined) {
          await sleep(event.seconds, new AbortController().signal);
          yield Buffer.from(`${JSON.stringify({ type: event.type })}\n`);
        }
        if (!ends) await closed.promise;
      };
      return { headers: {}, close: () => closed.resolve(), [Symbol.asyncIterator]: chunks };
    },
    webSocket: async () => undefined,
    close: () => undefined,
  };
  return { client, counted };
}

const idle = 'the watch received no event for 90 s';
it.each([
  ['is silent, as after a machine has slept, lists again after 90 seconds, and reports it', {}, 89, 93, [idle]],
  [
    'is silent after an event lists again 90 seconds after it',
    { event: { type: 'BOOKMARK', seconds: 60 } },
    149,
    153,
    [idle],
  ],
  ['ends at once, as behind a proxy, lists again after a second, and not in a loop', { ends: true }, 0.9, 1.1, []],
  ['has expired is closed, and lists again after a second', { event: { type: 'ERROR', seconds: 0.5 } }, 1.4, 1.6, []],
])('a watch that %s', async (_, watch, before, after, reported) => {
  vi.useFakeTimers();
  const ending = new AbortController();
  const failures: string[] = [];
  try {
    const { client, counted } = fakeClient(watch);
    const onFailure = ({ message }: Error) => void failures.push(message);
    createObjectCache(client, [configMaps], { signal: ending.signal, onFailure });
    await vi.advanceTimersByTimeAsync(before * 1000);
    expect([counted.lists, failures]).toEqual([1, []]);
    await vi.advanceTimersByTimeAsync((after - before) * 1000);
    expect([counted.lists, failures]).toEqual([2, reported]);
    expect(counted.open).toBeLessThanOrEqual(1);
  } finally {
    ending.abort();
    vi.useRealTimers();
  }
});
