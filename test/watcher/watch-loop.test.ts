// One loop over the embedded API server with a forwarder whose queue is a list: what lists, lost streams, cursors and
// restored clusters mean for keys, for the store and for how far the cursor may move. The process is main.test.ts.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { existingKind } from '../../src/core/kind.ts';
import type { Subscriber, WatchedResource } from '../../src/core/watch-list.ts';
import { controllerLabel, ownerAnnotation } from '../../src/core/words.ts';
import { applyObject } from '../../src/kube/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client.ts';
import { objectPath } from '../../src/kube/path.ts';
import { listPages } from '../../src/kube/read.ts';
import type { Wait } from '../../src/kube/wait.ts';
import { type ApiServer, startApiServer } from '../../src/local/api-server/server.ts';
import { type Message, parseMessage } from '../../src/queue/message.ts';
import { createForwarder } from '../../src/runtime/forwarder.ts';
import type { Progress } from '../../src/runtime/progress.ts';
import { noCursor } from '../../src/watcher/cursor.ts';
import { createHealth } from '../../src/watcher/health.ts';
import { createWatchLoop } from '../../src/watcher/watch-loop.ts';
import { createWitness } from '../runtime/witness.ts';

const configMap = existingKind<object>({ group: '', version: 'v1', kind: 'ConfigMap' });
const names = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
const dish = { group: 'kitchen.test', version: 'v1', plural: 'dishes', kind: 'Dish', namespaced: true };
const primary: Subscriber = { controller: 'pot', as: 'primary', primary: names, predicate: 'resourceVersion' };
const owned: Subscriber = { controller: 'dish', as: 'owned', primary: dish, predicate: 'any' };
const pots: WatchedResource = { ...names, subscribers: [primary] };
const parts: WatchedResource = { ...names, subscribers: [owned] };

let server: ApiServer;
let user: KubeClient;
let over: AbortController;
beforeEach(async () => {
  server = await startApiServer();
  user = createClient({ server: new URL(server.url) });
  over = new AbortController();
});
afterEach(async () => {
  over.abort();
  user.close();
  await server.close();
});

const put = async (name: string, value = '1', metadata: object = {}) =>
  await applyObject(
    user,
    configMap,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', ...metadata }, data: { value } },
    { fieldManager: 'user' },
  );
const remove = async (name: string) =>
  await user.request({ method: 'DELETE', path: objectPath(configMap, { namespace: 'default', name }) });
const versionNow = async () => {
  for await (const page of listPages(user, configMap)) return page.resourceVersion;
  throw new Error('no page');
};
const childOf = (owner: string) => ({
  labels: { [controllerLabel]: 'dish' },
  annotations: { [ownerAnnotation]: `default/${owner}` },
});

/** Follows a resource with everything at hand that a test looks at. */
function follow(
  resource: WatchedResource,
  { start, breakOnce = false }: { start?: string | (() => Promise<string>); breakOnce?: boolean } = {},
) {
  const sent: { readonly queue: string; readonly message: Message }[] = [];
  const accepted: string[] = [];
  const dropped: string[] = [];
  const swept: string[] = [];
  const witness = createWitness();
  let refusing = false;
  let gate: PromiseWithResolvers<void> | undefined;
  let changed = Promise.withResolvers<void>();
  const tell = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  // Silence is never waited for, everything else only until a test says so.
  const waits: { readonly seconds: number; readonly end: () => void }[] = [];
  const wait: Wait = (seconds, signal) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      if (seconds < 70) waits.push({ seconds, end: resolve });
      tell();
    });
  const client = createClient({ server: new URL(server.url) });
  over.signal.addEventListener('abort', () => client.close());
  const gated: KubeClient = {
    ...client,
    stream: async (request) => {
      await gate?.promise;
      return await client.stream(request);
    },
    request: async (request) => {
      await gate?.promise;
      return await client.request(request);
    },
  };
  const health = createHealth(() => 0);
  const forwarder = createForwarder({
    send: async (queue, entries) => {
      if (refusing) return entries.map(() => ({ accepted: false, reason: 'away' }));
      sent.push(...entries.map(({ body }) => ({ queue, message: parseMessage(body) })));
      return entries.map(() => ({ accepted: true, messageId: '' }));
    },
    log: witness.log,
    meter: { accepted: tell, coalesced: tell, refused: tell },
    now: () => Date.now(),
    wait,
    random: () => 0.5,
    bulkPerSecond: 100,
    signal: over.signal,
  });
  let nonce = 0;
  const loop = createWatchLoop(
    {
      client: gated,
      forwarder,
      cursor: {
        ...noCursor,
        start: async () => (typeof start === 'function' ? await start() : start),
        accepted: (_, version) => {
          accepted.push(version);
          tell();
        },
        drop: (name) => void dropped.push(name),
      },
      health: health.loop('configmaps'),
      log: {
        ...witness.log,
        info: (...line) => {
          witness.log.info(...line);
          tell();
        },
      },
      now: () => Date.now(),
      wait,
      random: () => 0.5,
      nonce: () => {
        nonce += 1;
        if (breakOnce && nonce === 1) throw new Error('broken');
        return `${nonce}`;
      },
      sweep: (controllers) => void swept.push(...controllers),
    },
    { resource, cluster: 'c' },
  );
  void loop.run(over.signal);
  const until = async (condition: () => boolean) => {
    while (!condition()) await changed.promise;
  };
  const on = (queue: string) => sent.filter((one) => one.queue === queue).map(({ message: { name } }) => name);
  return {
    ...{ loop, sent, accepted, dropped, swept, waits, health, on, until },
    lists: () => witness.lines.filter(({ message }) => message === 'listed').map(({ fields }) => fields),
    refuse: (now: boolean) => {
      refusing = now;
    },
    /** Cuts the stream and lets nothing through, until `comeBack`. */
    goAway: () => {
      gate = Promise.withResolvers();
      server.breakStreams();
    },
    comeBack: () => {
      gate?.resolve();
      gate = undefined;
    },
    endWaits: () => {
      for (const { end } of waits.splice(0)) end();
    },
    caughtUpWith: async (version: string) => await until(() => Number(loop.accepted()) >= Number(version)),
  };
}

describe('without a cursor', () => {
  it('everything goes through timers, each key with the same run, and changes do not', async () => {
    await put('one');
    await put('two');
    const at = follow(pots);
    await at.until(() => at.on('timers').length === 2);
    expect(new Set(at.on('timers'))).toEqual(new Set(['one', 'two']));
    expect(new Set(at.sent.map(({ message }) => `${message.lane} ${message.run}`))).toEqual(
      new Set(['resync watcher-1']),
    );
    await put('two', '2');
    await at.until(() => at.on('pot.fifo').length === 1);
    expect(at.sent.at(-1)?.message).toMatchObject({ lane: 'watch', name: 'two' });
    expect(at.loop.objects()).toBe(2);
    await remove('two');
    await at.until(() => at.loop.objects() === 1);
  });

  it('nothing counts as accepted before the whole list is', async () => {
    await put('one');
    const at = follow(pots);
    at.refuse(true);
    await at.until(() => at.lists().length === 1);
    expect(at.loop.accepted()).toBeUndefined();
    at.refuse(false);
    await at.until(() => at.waits.length > 0);
    at.endWaits();
    await at.caughtUpWith(await versionNow());
    expect(at.accepted).toHaveLength(1);
  });
});

describe('after a stream was lost', () => {
  it('what happened meanwhile is forwarded once, and nothing else', async () => {
    await put('still');
    const at = follow(pots);
    await at.until(() => at.lists().length === 1);
    at.goAway();
    await put('fresh');
    at.comeBack();
    await at.until(() => at.on('pot.fifo').length > 0);
    expect(at.on('pot.fifo')).toEqual(['fresh']);
    expect(at.lists()).toHaveLength(1);
  });

  it('a list that has to be made again forwards what differs: new, changed and gone', async () => {
    for (const name of ['still', 'changed', 'gone']) await put(name);
    const at = follow(pots);
    await at.until(() => at.lists().length === 1);
    at.goAway();
    await put('new');
    await put('changed', '2');
    await remove('gone');
    server.expireWindow();
    at.comeBack();
    await at.until(() => at.on('pot.fifo').length === 3);
    expect(new Set(at.on('pot.fifo'))).toEqual(new Set(['new', 'changed', 'gone']));
    expect(at.lists().at(-1)).toMatchObject({ mode: 'relist', objects: 3, gone: 1 });
    await at.caughtUpWith(await versionNow());
  });

  it('the owner of a child that went meanwhile is woken, and so are both owners of one that changed hands', async () => {
    await put('gone', '1', childOf('soup'));
    await put('moved', '1', childOf('stew'));
    await put('still', '1', childOf('bread'));
    const at = follow(parts);
    await at.until(() => at.lists().length === 1);
    at.goAway();
    await remove('gone');
    await put('moved', '1', childOf('roast'));
    server.expireWindow();
    at.comeBack();
    await at.until(() => at.on('dish.fifo').length === 3);
    expect(new Set(at.on('dish.fifo'))).toEqual(new Set(['soup', 'stew', 'roast']));
  });
});

describe('from a cursor', () => {
  it('only what happened since is forwarded', async () => {
    for (const name of ['still', 'changed', 'gone']) await put(name);
    const start = await versionNow();
    await put('changed', '2');
    await remove('gone');
    const at = follow(pots, { start });
    await at.until(() => at.on('pot.fifo').length === 2);
    expect(new Set(at.on('pot.fifo'))).toEqual(new Set(['changed', 'gone']));
    expect(at.on('timers')).toEqual([]);
    expect(at.lists()).toMatchObject([{ mode: 'exact', objects: 3 }]);
  });

  it('too old a one forwards what is newer, and asks for the primaries whose children may be gone', async () => {
    await put('still', '1', childOf('bread'));
    const start = await versionNow();
    await put('newer', '1', childOf('soup'));
    server.expireWindow();
    const at = follow(parts, { start });
    await at.until(() => at.lists().length === 1);
    await at.until(() => at.on('dish.fifo').length === 1);
    expect(at.on('dish.fifo')).toEqual(['soup']);
    expect(at.swept).toEqual(['dish']);
  });

  it('one that cannot be read is asked for again, and nothing is forwarded without it', async () => {
    await put('still');
    const version = await versionNow();
    let reads = 0;
    const start = async () => {
      reads += 1;
      if (reads === 1) throw new Error('away');
      return version;
    };
    const at = follow(pots, { start });
    await at.until(() => at.waits.length === 1);
    at.endWaits();
    await at.until(() => at.lists().length === 1);
    expect(at.lists()).toMatchObject([{ mode: 'exact' }]);
    expect(at.sent).toEqual([]);
  });

  it('a cluster that was restored from a backup is begun anew, and its old version forgotten', async () => {
    await put('one');
    const at = follow(pots, { start: '999999999' });
    await at.until(() => at.on('timers').length === 1);
    expect(at.dropped).toHaveLength(1);
    await at.caughtUpWith(await versionNow());
    expect(at.accepted.every((version) => Number(version) < 999_999_999)).toBe(true);
  });

  it('a cluster that is restored while it is watched is begun anew too, whatever was known of it', async () => {
    for (let value = 0; value < 20; value += 1) await put('one', `${value}`);
    const at = follow(pots);
    await at.until(() => at.on('timers').length === 1);
    await at.caughtUpWith(await versionNow());
    const port = Number(new URL(server.url).port);
    await server.close();
    await at.until(() => at.waits.length > 0);
    server = await startApiServer({ port });
    await put('one');
    expect(Number(await versionNow())).toBeLessThan(Number(at.loop.accepted()));
    at.refuse(true);
    at.endWaits();
    await at.until(() => at.lists().length === 2);
    expect(at.loop.accepted()).toBeUndefined();
    at.refuse(false);
    await at.until(() => at.waits.length > 0);
    at.endWaits();
    await at.caughtUpWith(await versionNow());
    expect([at.on('timers'), at.on('pot.fifo')]).toEqual([['one', 'one'], []]);
  });
});

it('a kind of an aggregated API has no cursor, and its versions are never compared', async () => {
  await put('one');
  const at = follow({ ...pots, aggregated: true }, { start: '999999999' });
  await at.until(() => at.on('timers').length === 1 && at.lists().length === 1);
  expect(at.lists()).toMatchObject([{ mode: 'initial' }]);
  await at.caughtUpWith(await versionNow());
  expect([at.accepted, at.dropped]).toEqual([[], []]);
});

it('a loop that breaks begins anew from its cursor, and is counted', async () => {
  await put('one');
  const at = follow(pots, { start: await versionNow(), breakOnce: true });
  await at.until(() => at.waits.length === 1);
  expect(at.waits[0]?.seconds).toBe(5);
  expect(at.health.report()).toMatchObject([{ restarts: 1 }]);
  at.endWaits();
  await at.until(() => at.lists().length === 1);
  expect(at.lists()).toMatchObject([{ mode: 'exact', objects: 1 }]);
});

describe('how far everything is accepted', () => {
  it('a key that SQS refuses holds its version back, and bookmarks of later ones with it', async () => {
    const at = follow(pots);
    await at.until(() => at.lists().length === 1);
    const before = at.loop.accepted();
    at.refuse(true);
    await put('one');
    await at.until(() => at.waits.length > 0);
    await put('two');
    expect(at.loop.accepted()).toBe(before);
    at.refuse(false);
    at.endWaits();
    await at.caughtUpWith(await versionNow());
  });

  it('a sweep that waits for the first list holds back the version of whoever asked for it', async () => {
    await put('one');
    const at = follow(pots);
    at.goAway();
    const opened: unknown[] = [];
    const closed: unknown[] = [];
    const progress: Progress = {
      open: () => {
        const ticket = { before: undefined };
        opened.push(ticket);
        return ticket;
      },
      close: (ticket) => void closed.push(ticket),
      heard: () => undefined,
      accepted: () => undefined,
      reset: () => undefined,
    };
    at.loop.sweep('pot', progress);
    expect(opened).toHaveLength(1);
    at.comeBack();
    await at.until(() => closed.length === 2);
    expect(new Set(closed)).toEqual(new Set(opened));
    expect(new Set(at.on('timers'))).toEqual(new Set(['one']));
  });
});

describe('a kind that is not there', () => {
  it('is reported and tried again until it is', async () => {
    const absent: WatchedResource = { ...dish, subscribers: [{ ...primary, primary: dish }] };
    const at = follow(absent);
    await at.until(() => at.waits.length > 0);
    expect(at.health.report()).toMatchObject([{ served: false }]);
    expect(at.health.ready()).toBe(false);
    expect(at.health.alive()).toBe(true);
    const [{ seconds = 0 } = {}] = at.waits;
    expect(seconds).toBeGreaterThan(0.7);
    at.endWaits();
    await at.until(() => at.waits.length > 0);
    expect(at.on('timers')).toEqual([]);
  });
});
