// Only how many pages of lists are read at once, and that clusters without responses use up no slot of the others.
import { expect, it } from 'vitest';
import type { KubeClient, KubeRequest } from '../../../src/kube/client/client.ts';
import { ConnectError } from '../../../src/kube/client/errors.ts';
import { createListLimiter } from '../../../src/kube/client/limit-lists.ts';

const page: KubeRequest = { method: 'GET', path: '/api/v1/configmaps', query: { limit: 500 } };

/** A client whose requests end when the test ends them. */
function controlledClient() {
  const open: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  const client: KubeClient = {
    request: async () => {
      await new Promise<void>((resolve, reject) => open.push({ resolve, reject }));
      return { status: 200, body: {}, headers: {} };
    },
    stream: () => Promise.reject(new Error('not in this test')),
    webSocket: () => Promise.reject(new Error('not in this test')),
    close: () => undefined,
  };
  return { client, open };
}

/** Ends the requests of a client, and those that follow from them. */
async function answer(open: ReturnType<typeof controlledClient>['open']): Promise<void> {
  for (let number = 0; number < 4; number += 1) {
    await turn();
    for (const { resolve } of open) resolve();
  }
}
const turn = async () => await new Promise<void>((resolve) => setImmediate(resolve));

it('a cluster reads at most its own number of pages at once', async () => {
  const { client, open } = controlledClient();
  const limited = createListLimiter({ pages: 16, pagesOfCluster: 2 }).limit(client);
  const reads = Promise.all(Array.from({ length: 5 }, () => limited.request(page)));
  const started: number[] = [];
  for (let ended = 0; ended < 5; ended += 1) {
    await turn();
    started.push(open.length - ended);
    open[ended]?.resolve();
  }
  expect(started).toEqual([2, 2, 2, 2, 1]);
  expect(await reads).toHaveLength(5);
});

it('requests other than pages are not limited', async () => {
  const { client, open } = controlledClient();
  const limited = createListLimiter({ pages: 1, pagesOfCluster: 1 }).limit(client);
  for (let number = 0; number < 3; number += 1) void limited.request({ method: 'GET', path: '/version' });
  await turn();
  expect(open).toHaveLength(3);
});

it('clusters that never respond leave the slots of the process to the others', async () => {
  const limiter = createListLimiter({ pages: 1, pagesOfCluster: 1 });
  const silent = Array.from({ length: 5 }, controlledClient);
  for (const { client } of silent) void limiter.limit(client).request(page);
  const good = controlledClient();
  const limited = limiter.limit(good.client);
  const reads = Promise.all([limited.request(page), limited.request(page)]);
  await answer(good.open);
  expect(await reads).toHaveLength(2);
});

it('a cluster that stops responding gives its slot of the process back', async () => {
  const limiter = createListLimiter({ pages: 1, pagesOfCluster: 1 });
  const [bad, good] = [controlledClient(), controlledClient()];
  const [badClient, goodClient] = [limiter.limit(bad.client), limiter.limit(good.client)];
  const first = badClient.request(page);
  await turn();
  bad.open[0]?.resolve();
  await first;
  const second = badClient.request(page);
  await turn();
  bad.open[1]?.reject(new ConnectError('no response'));
  await expect(second).rejects.toThrow('no response');
  // From here on it holds no slot of the process, however long it takes.
  void badClient.request(page);
  const reads = Promise.all([goodClient.request(page), goodClient.request(page)]);
  await answer(good.open);
  expect(await reads).toHaveLength(2);
});

it.each([
  ['after a first response to any other request', '/version'],
  ['after the first wave of pages', page.path],
])('%s, all clusters together read at most the pages of the process at once', async (_, path) => {
  const limiter = createListLimiter({ pages: 2, pagesOfCluster: 1 });
  const clusters = Array.from({ length: 5 }, controlledClient);
  for (const { client } of clusters) {
    const limited = limiter.limit(client);
    const first = limited.request({ ...page, path, query: path === page.path ? page.query : {} });
    if (path === page.path) void limited.request(page);
    else void first.then(() => limited.request(page));
  }
  await turn();
  for (const { open } of clusters) open[0]?.resolve();
  await turn();
  expect(clusters.filter(({ open }) => open.length === 2)).toHaveLength(2);
});

it('a page that is given up while it waits leaves its turn to the next one', async () => {
  const { client, open } = controlledClient();
  const limited = createListLimiter({ pagesOfCluster: 1 }).limit(client);
  const gaveUp = new AbortController();
  const first = limited.request(page);
  const given = limited.request({ ...page, signal: gaveUp.signal });
  const third = limited.request(page);
  await turn();
  gaveUp.abort(new Error('given up'));
  await expect(given).rejects.toThrow('given up');
  await expect(limited.request({ ...page, signal: gaveUp.signal })).rejects.toThrow('given up');
  await answer(open);
  expect(await Promise.all([first, third])).toHaveLength(2);
});

it('a page that is given up by its reader says nothing of its cluster, which keeps to the slots of the process', async () => {
  const limiter = createListLimiter({ pages: 1, pagesOfCluster: 4 });
  const [one, other] = [controlledClient(), controlledClient()];
  const [first, second] = [limiter.limit(one.client), limiter.limit(other.client)];
  for (const [limited, { open }] of [[first, one] as const, [second, other] as const]) {
    const version = limited.request({ method: 'GET', path: '/version' });
    open[0]?.resolve();
    await version;
  }
  const gaveUp = new AbortController();
  const given = first.request({ ...page, signal: gaveUp.signal });
  await turn();
  gaveUp.abort(new Error('given up'));
  one.open[1]?.reject(new Error('given up'));
  await expect(given).rejects.toThrow('given up');
  // The other one holds the slot of the process, so this page waits.
  void second.request(page);
  void first.request(page);
  await turn();
  expect([other.open.length, one.open.length]).toEqual([2, 2]);
  other.open[1]?.resolve();
  await turn();
  expect(one.open).toHaveLength(3);
});
