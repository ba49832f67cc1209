// Only the changes that the cache reports, and when it lists again. The journeys cover the watch.
import { expect, it, vi } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { type CachedChange, createObjectCache } from '../../src/dev/object-cache.ts';
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

/** A client whose watches have these events and do not end, or end at once. Counts its lists. */
function fakeClient({ ends }: { readonly ends: boolean }) {
  const counted = { lists: 0 };
  const client: KubeClient = {
    request: async () => {
      counted.lists += 1;
      if (counted.lists > 10) throw new Error('listed in a loop');
      return { status: 200, headers: {}, body: { metadata: { resourceVersion: '1' }, items: [] } };
    },
    stream: async () => {
      const closed = Promise.withResolvers<void>();
      return {
        headers: {},
        close: () => closed.resolve(),
        [Symbol.asyncIterator]: () => ({
          next: async () => {
            if (!ends) await closed.promise;
            return { done: true, value: undefined };
          },
        }),
      };
    },
    webSocket: async () => undefined,
    close: () => undefined,
  };
  return { client, counted };
}

it.each([
  ['is silent, as after a machine has slept, lists again after 90 seconds, and reports it', false, 89, 93],
  ['ends at once, as behind a proxy, lists again after a second, and not in a loop', true, 0.9, 1.1],
])('a watch that %s', async (_, ends, before, after) => {
  vi.useFakeTimers();
  const ending = new AbortController();
  const failures: string[] = [];
  try {
    const { client, counted } = fakeClient({ ends });
    const onFailure = ({ message }: Error) => void failures.push(message);
    createObjectCache(client, [configMaps], { signal: ending.signal, onFailure });
    await vi.advanceTimersByTimeAsync(before * 1000);
    expect([counted.lists, failures]).toEqual([1, []]);
    await vi.advanceTimersByTimeAsync((after - before) * 1000);
    expect([counted.lists, failures]).toEqual([2, ends ? [] : ['the watch received no event for 90 s']]);
  } finally {
    ending.abort();
    vi.useRealTimers();
  }
});
