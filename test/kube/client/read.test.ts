// Reads of one object and of lists, as requests; the memory that a list uses.
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { pageLimits } from '../../../src/kube/client/answer.ts';
import { createClient, type KubeClient } from '../../../src/kube/client/client.ts';
import { ConnectError, isGone, ResponseError, TooLargeError } from '../../../src/kube/client/errors.ts';
import { parseObject } from '../../../src/kube/client/object.ts';
import { getObject, type ListOptions, listPages, listPagesAs } from '../../../src/kube/client/read.ts';
import { sendJson, startWireServer, statusOf, type WireServer } from '../wire-server.ts';

const pods = { group: '', version: 'v1', plural: 'pods', namespaced: true };
const pod = (name: string) => ({ metadata: { name, namespace: 'shop', uid: name } });

it('getObject returns the object, undefined if it does not exist, and throws other errors', async () => {
  const stored = { metadata: { name: 'there', namespace: 'shop', uid: 'u', resourceVersion: '1' } };
  const notFound = (details: object) => statusOf(404, 'NotFound', { details });
  const server = await startWireServer(({ path }, response) => {
    if (path.endsWith('/there')) sendJson(response, 200, stored);
    else if (path.endsWith('/missing')) sendJson(response, 404, notFound({ name: 'missing', kind: 'pods' }));
    else if (path.endsWith('/unnamed')) sendJson(response, 404, notFound({}));
    else if (path.endsWith('/wrong')) sendJson(response, 200, pod('there'));
    else sendJson(response, 403, statusOf(403, 'Forbidden'));
  });
  const read = (name: string) => getObject(server.client(), pods, { namespace: 'shop', name });
  expect(await read('there')).toMatchObject(stored);
  expect(await read('missing')).toBeUndefined();
  await expect(read('unnamed')).rejects.toMatchObject({ status: 404 });
  await expect(read('wrong')).rejects.toThrow('is not this object');
  await expect(read('forbidden')).rejects.toMatchObject({ status: 403 });
});

it('K9: an object of an aggregated API is read without uid and version, and its list without a version', async () => {
  const metrics = {
    apiVersion: 'metrics.k8s.io/v1beta1',
    kind: 'PodMetrics',
    metadata: { name: 'a', namespace: 'shop' },
  };
  const list = { apiVersion: 'metrics.k8s.io/v1beta1', kind: 'PodMetricsList', metadata: {}, items: [metrics] };
  const server = await startWireServer(({ path }, response) =>
    sendJson(response, 200, path.endsWith('/a') ? metrics : list),
  );
  const { plural, namespaced } = pods;
  const kind = { group: 'metrics.k8s.io', version: 'v1beta1', plural, namespaced, aggregated: true };
  expect(await getObject(server.client(), kind, { namespace: 'shop', name: 'a' })).toMatchObject(metrics);
  const found: unknown[] = [];
  for await (const { items } of listPages(server.client(), kind)) found.push(...items);
  expect(found).toMatchObject([metrics]);
  // metrics-server names the object by its namespace and name, and sample-apiserver another kind.
  for (const details of [
    { name: 'shop/b', kind: 'pods' },
    { name: 'b', group: '', kind: 'PodMetrics' },
  ]) {
    const other = await startWireServer((_, response) =>
      sendJson(response, 404, statusOf(404, 'NotFound', { details })),
    );
    expect(await getObject(other.client(), kind, { namespace: 'shop', name: 'b' })).toBeUndefined();
    await expect(
      getObject(other.client(), { ...kind, aggregated: false }, { namespace: 'shop', name: 'b' }),
    ).rejects.toMatchObject({ status: 404 });
  }
  const unserved = await startWireServer((_, response) => sendJson(response, 404, statusOf(404, 'NotFound')));
  await expect(getObject(unserved.client(), kind, { namespace: 'shop', name: 'b' })).rejects.toThrow('404');
  const stored = { ...kind, aggregated: false };
  await expect(getObject(server.client(), stored, { namespace: 'shop', name: 'a' })).rejects.toThrow(
    'is not this object',
  );
  await expect(listPages(server.client(), stored).next()).rejects.toThrow('is not a list');
});

const twoPages = () =>
  startWireServer(({ query }, response) =>
    sendJson(response, 200, {
      apiVersion: 'v1',
      kind: 'PodList',
      metadata: { resourceVersion: '7', continue: query.continue === 'more' ? '' : 'more' },
      items: [pod(query.continue ?? 'first')],
    }),
  );
const names = async (server: WireServer, options: ListOptions) => {
  const found: unknown[] = [];
  for await (const page of listPages(server.client(), pods, options))
    found.push(...page.items.map((item) => [item.kind, item.metadata.name]));
  return found;
};

it.each([
  { what: 'bytes', spec: 'x'.repeat(2_000_000) },
  { what: 'values and keys', spec: Array.from({ length: 150_000 }, () => 0) },
])('listPages halves a page with more $what than the client accepts, and an object with more fails', async (one) => {
  let [objects, copies] = [10, 1];
  const server = await startWireServer(({ query }, response) => {
    const [from, limit] = [Number(query.continue ?? 0), Number(query.limit)];
    const spec = Array.from({ length: copies }, () => one.spec);
    const items = Array.from({ length: Math.min(limit, objects - from) }, (_, index) => ({
      ...pod(`${from + index}`),
      spec,
    }));
    const end = from + items.length;
    const metadata = { resourceVersion: '7', continue: end < objects ? `${end}` : '' };
    sendJson(response, 200, { metadata, items });
  });
  const read = async () => {
    const found: unknown[] = [];
    for await (const { items } of listPages(server.client(), pods, { limit: 10 }))
      found.push(...items.map(({ metadata }) => metadata.name));
    return found;
  };
  expect(await read()).toEqual(Array.from({ length: 10 }, (_, index) => `${index}`));
  expect(server.arrived.map(({ query }) => Number(query.limit)).slice(0, 2)).toEqual([10, 5]);
  [objects, copies] = [1, 9];
  await expect(read()).rejects.toThrow(TooLargeError);
  expect(server.arrived.at(-1)?.query.limit).toBe('1');
});

// Control T144.
it('a page of 20 MB, which a function of 256 MB could not parse, is requested again with half of its objects', async () => {
  const server = await startWireServer(({ query }, response) => {
    const items = Array.from({ length: Number(query.limit) }, () => ({ ...pod('a'), spec: 'x'.repeat(500_000) }));
    sendJson(response, 200, { metadata: { resourceVersion: '7' }, items });
  });
  for await (const { items } of listPages(server.client(), pods, { limit: 40 })) expect(items).toHaveLength(20);
  expect(server.arrived.map(({ query }) => query.limit)).toEqual(['40', '20']);
});

it('listPages reads all pages, and sends the resourceVersion only once', async () => {
  const server = await twoPages();
  const options = {
    namespace: 'shop',
    labelSelector: 'a=b',
    resourceVersion: '7',
    resourceVersionMatch: 'Exact',
    limit: 1,
  } as const;
  expect(await names(server, options)).toEqual([
    ['Pod', 'first'],
    ['Pod', 'more'],
  ]);
  expect(server.arrived.map(({ path }) => path)).toEqual(Array(2).fill('/api/v1/namespaces/shop/pods'));
  expect(server.arrived.map(({ query }) => query)).toEqual([
    { labelSelector: 'a=b', limit: '1', resourceVersion: '7', resourceVersionMatch: 'Exact' },
    { labelSelector: 'a=b', limit: '1', continue: 'more' },
  ]);
});

it('listPages requests 500 objects per page across all namespaces, and only metadata with metadataOnly', async () => {
  const server = await twoPages();
  await names(server, { metadataOnly: true });
  expect(server.arrived[0]).toMatchObject({ path: '/api/v1/pods', query: { limit: '500' } });
  expect(server.arrived[0]?.headers.accept).toBe('application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1');
});

it('listPages yields an empty page for null items, as Go encodes an empty list', async () => {
  const server = await startWireServer((_, response) =>
    sendJson(response, 200, { metadata: { resourceVersion: '7' }, items: null }),
  );
  expect(await names(server, {})).toEqual([]);
});

it('listPages yields the first pages and throws isGone for an expired continue token', async () => {
  const server = await startWireServer(({ query }, response) => {
    if (query.continue !== undefined) sendJson(response, 410, statusOf(410, 'Expired'));
    else sendJson(response, 200, { metadata: { resourceVersion: '7', continue: 'more' }, items: [pod('first')] });
  });
  const seen: string[] = [];
  const read = async () => {
    for await (const page of listPages(server.client(), pods))
      seen.push(...page.items.map((item) => item.metadata.name));
  };
  await expect(read()).rejects.toSatisfy(isGone);
  expect(seen).toEqual(['first']);
});

it('listPages throws an error for a response that is not a list', async () => {
  const server = await startWireServer((_, response) => sendJson(response, 200, pod('a')));
  await expect(names(server, {})).rejects.toThrow('not a list');
});

it('listPagesAs keeps only the parsed items of a page while it requests the next one', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const bodies: WeakRef<object>[] = [];
  const held: boolean[] = [];
  const server = await startWireServer(() => undefined);
  const client = {
    ...server.client(),
    request: async () => {
      // A WeakRef keeps its object until the end of the turn in which it was created or dereferenced.
      await turn();
      collect();
      const last = bodies.at(-1);
      if (last !== undefined) held.push(last.deref() !== undefined);
      const more = bodies.length < 4 ? { continue: `after ${bodies.length}` } : {};
      const body = { metadata: { resourceVersion: '7', ...more }, items: [pod(`a${bodies.length}`)] };
      bodies.push(new WeakRef(body.items));
      return { status: 200, headers: {}, body };
    },
  };
  const names: string[] = [];
  for await (const { items } of listPagesAs(client, pods, (item) => parseObject(item).metadata.name)) {
    names.push(...items);
  }
  expect(names).toEqual(['a0', 'a1', 'a2', 'a3', 'a4']);
  expect(held).toEqual([false, false, false, false]);
});

const endless = (token: (page: number) => string): KubeClient => {
  let pages = 0;
  return {
    ...createClient({ server: new URL('http://127.0.0.1:1') }),
    request: async () => {
      pages += 1;
      const metadata = { resourceVersion: '7', continue: token(pages) };
      return { status: 200, headers: {}, body: { metadata, items: [] } };
    },
  };
};
const countPages = async (client: KubeClient, options: ListOptions = {}) => {
  let pages = 0;
  for await (const _ of listPages(client, pods, options)) pages += 1;
  return pages;
};

it('a list whose continue token repeats is an error after two pages', async () => {
  await expect(countPages(endless(() => 'again'))).rejects.toThrow('GET /api/v1/pods: the list does not end; it had 2');
});

// Control T102.
it('a list with ever new continue tokens is an error after a bounded number of pages', async () => {
  await expect(countPages(endless((page) => `${page}`))).rejects.toThrow('it had 10000 pages');
});

it('a list whose pages take more than an hour together is an error, however few pages it had', async () => {
  const slow = (minutes: number) => {
    let milliseconds = 5_000_000;
    return { monotonicMs: () => (milliseconds += minutes * 60_000) };
  };
  const six = () => endless((page) => (page === 6 ? '' : `${page}`));
  await expect(countPages(six(), slow(13))).rejects.toThrow('the list does not end; it had 5 pages');
  expect(await countPages(six(), slow(12))).toBe(6);
});

const list = {
  metadata: { resourceVersion: '7' },
  items: Array.from({ length: 1000 }, (_, index) => pod(`p${index}`)),
};
const serve = async (body: Buffer, { length = body.length } = {}) =>
  await startWireServer((_, response) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'content-length': length,
    });
    response.write(body, () => {
      if (length > body.length) response.destroy();
      else response.end();
    });
  });
const firstPage = async (server: WireServer) => {
  for await (const page of listPages(server.client(), pods)) return page.items;
  throw new Error('no page');
};
const compressed = gzipSync(JSON.stringify(list));

it('a list requests gzip and reads it, and a single object does not', async () => {
  const server = await serve(compressed);
  expect(await firstPage(server)).toHaveLength(1000);
  await getObject(server.client(), pods, { namespace: 'shop', name: 'a' }).catch(() => undefined);
  expect(server.arrived.map(({ headers }) => headers['accept-encoding'])).toEqual(['gzip', undefined]);
});

// Control T103.
it('a compressed list that is larger than the limit is an error, however small it is compressed', async () => {
  const server = await serve(gzipSync(Buffer.alloc(pageLimits.bytes + 1, ' ')));
  await expect(firstPage(server)).rejects.toThrow(`larger than ${pageLimits.bytes} bytes`);
});

it.each([
  ['is not gzip', Buffer.from('{"metadata":{}}')],
  ['ends within the compressed data', compressed.subarray(0, -20)],
])('a list that %s is an error of the response', async (_, body) => {
  await expect(firstPage(await serve(body))).rejects.toThrow(ResponseError);
});

it('a compressed list whose connection is lost is an error of the connection', async () => {
  const server = await serve(compressed.subarray(0, 1000), { length: compressed.length });
  await expect(firstPage(server)).rejects.toThrow(ConnectError);
});
