// A server that plays its part in a watch by a script, a follower of it, and time that the test moves: a wait for backoff ends at
// once, the idle timer when the test says so.
import type { ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { type WatchEvent, type WatchOptions, watchHeads } from '../../../src/kube/watch.ts';
import { type Arrived, sendJson, startWireServer } from '../wire-server.ts';

const tanks = { group: 'plant.example.com', version: 'v1', plural: 'watertanks', namespaced: true };
/** An object at a version, as the API has it. */
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
/** A frame of a watch. */
export const frame = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;

/** What a scripted server answers to the three requests of a watch. */
interface Script {
  probe?(response: ServerResponse, count: number): void;
  list?(request: Arrived, response: ServerResponse, count: number): void;
  watch?(request: Arrived, response: ServerResponse, count: number): void;
}

const kindOf = ({ query }: Arrived) => (query.watch === 'true' ? 'watch' : query.limit === '1' ? 'probe' : 'list');
/** A list at a version. */
export const listOf = (version: string, ...items: object[]) => ({ metadata: { resourceVersion: version }, items });
/** Answers a watch with frames, and keeps it open. */
export const openWatch = (response: ServerResponse, ...frames: string[]) => {
  response.writeHead(200);
  response.flushHeaders();
  if (frames.length > 0) response.write(frames.join(''));
};

/** Starts a server that answers a watch's requests as scripted: where nothing is said, one object at version 100. */
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

/** Time that passes when the test says so. Backoffs end at once; the idle timer only through `silence`. */
export function createTime() {
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

/** Follows the scripted collection; `take` reads some events. */
export function follow(client: KubeClient, time = createTime(), options: Partial<WatchOptions> = {}) {
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

/** Events in a word or two each. */
export const brief = (events: readonly WatchEvent[]) =>
  events.map((event) => {
    if (event.type === 'page') return `page ${event.mode}: ${event.items.map((item) => item.name).join()}`;
    if (event.type === 'listing') return `listing ${event.mode}`;
    if (event.type === 'listed') return `listed ${event.mode} ${event.resourceVersion}`;
    if (event.type === 'bookmark') return `bookmark ${event.resourceVersion}`;
    if (event.type === 'trouble') return `trouble ${event.retryInSeconds}`;
    return `${event.type} ${event.head.name}@${event.head.resourceVersion}`;
  });
