// A scripted server for the requests of a watch, a client that watches it, and a fake clock: a backoff ends at once,
// and the idle timeout expires when the test triggers it.
import type { ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { type ListWatchItem, listAndWatch, type WatchOptions } from '../../../src/kube/watch/watch.ts';
import { type ReceivedRequest, sendJson, startWireServer } from '../wire-server.ts';

const tanks = { group: 'plant.example.com', version: 'v1', plural: 'watertanks', namespaced: true };
/** An object of the API at a resourceVersion. */
export const tank = (name: string, resourceVersion: string) => ({
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
/** One line of a watch response. */
export const eventLine = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;

/** How a scripted server responds to the three requests of a watch. */
type Script = {
  probe?(response: ServerResponse, count: number): void;
  list?(request: ReceivedRequest, response: ServerResponse, count: number): void;
  watch?(request: ReceivedRequest, response: ServerResponse, count: number): void;
};

const kindOf = ({ query }: ReceivedRequest) =>
  query.watch === 'true' ? 'watch' : query.limit === '1' ? 'probe' : 'list';
/** A list at a resourceVersion. */
export const listOf = (version: string, ...items: object[]) => ({ metadata: { resourceVersion: version }, items });
/** Responds to a watch with events, and keeps it open. */
export const openWatch = (response: ServerResponse, ...lines: string[]) => {
  response.writeHead(200);
  response.flushHeaders();
  if (lines.length > 0) response.write(lines.join(''));
};

/** Starts a scripted server. Without a script it lists one object at version 100. */
export async function startScript(script: Script) {
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

/** A fake clock. A backoff ends at once; the idle timeout only expires through `expireIdleTimeout`. */
export function createTime() {
  const backoffs: number[] = [];
  const idle: (() => void)[] = [];
  const wait: WatchOptions['wait'] = (seconds, signal) => {
    // The idle timeout is 70 s, less the moments since the last event.
    if (seconds < 60) {
      backoffs.push(seconds);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      idle.push(resolve);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  };
  return { wait, backoffs, expireIdleTimeout: () => idle.at(-1)?.() };
}

/** Watches the scripted collection. `take` reads a number of items. */
export function startWatch(client: KubeClient, time = createTime(), options: Partial<WatchOptions> = {}) {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const target = { resource: tanks, namespace: 'plant', labelSelector: 'a=b', metadata: { annotations: ['wanted'] } };
  const events = listAndWatch(client, target, {
    signal: controller.signal,
    wait: time.wait,
    random: () => 0,
    ...options,
  });
  const take = async (count: number) => {
    const taken: ListWatchItem[] = [];
    while (taken.length < count) {
      const next = await events.next();
      if (next.done === true) break;
      taken.push(next.value);
    }
    return taken;
  };
  return { take, events, stop: () => controller.abort() };
}

/** Formats each item in a few words. */
export const brief = (events: readonly ListWatchItem[]) =>
  events.map((event) => {
    if (event.type === 'page') return `page ${event.mode}: ${event.items.map((item) => item.name).join()}`;
    if (event.type === 'listing') return `listing ${event.mode}`;
    if (event.type === 'listed') return `listed ${event.mode} ${event.resourceVersion}`;
    if (event.type === 'bookmark') return `bookmark ${event.resourceVersion}`;
    if (event.type === 'error') return `error ${event.retryInSeconds}`;
    return `${event.type} ${event.metadata.name}@${event.metadata.resourceVersion}`;
  });
