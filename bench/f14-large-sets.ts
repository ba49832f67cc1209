// f14: large sets on a real kube-apiserver: what one reconcile requests, how long it takes, and what its process holds.
// A thousand children, of which one changes at a time; the same beside a hundred thousand foreign objects of their kind
// in the namespace; an object of 1 MB; a status of 200 kB.
import { performance } from 'node:perf_hooks';
import * as z from 'zod';
import { silentLog } from '../src/core/log.ts';
import { crdOf } from '../src/generate/crd/crd.ts';
import { createClient } from '../src/kube/client/client.ts';
import { defineKind, foreignKind } from '../src/outrigger.ts';
import { createReconcile } from '../src/reconciling/reconcile.ts';
import type { Message } from '../src/sqs/message.ts';
import { collectionOf } from './measuring-client.ts';
import { create, untilObjectsServed, untilServed } from './populate.ts';
import type { Row } from './row.ts';
import { openBenchSetup, putObjects } from './setup.ts';

type PingObject = { readonly metadata: { readonly name: string }; readonly spec: { readonly value: number } };
const Ping = foreignKind<PingObject, 'Ping'>({ group: 'bench.example.com', version: 'v1', kind: 'Ping' });
const Crowd = defineKind({
  group: 'bench.example.com',
  version: 'v1',
  kind: 'Crowd',
  spec: z.object({ children: z.number().int(), changed: z.number().int(), text: z.string(), answer: z.number().int() }),
  status: z.object({ changed: z.number().int(), text: z.string() }),
  conditions: [],
});
const crowd = Crowd.controller('crowd', {
  owns: [Ping],
  reconcile: async ({ metadata, spec: { children, changed, answer } }, { applyAll }) => {
    const child = (_: unknown, index: number) => ({
      metadata: { name: `${metadata.name}-${index}` },
      spec: { value: Math.floor(changed / children) + (index < changed % children ? 1 : 0) },
    });
    await applyAll(Ping, Array.from({ length: children }, child));
    return { status: { changed, text: 'x'.repeat(answer) }, conditions: {} };
  },
});

const namespace = 'default';
const crowds = '/apis/bench.example.com/v1/namespaces/default/crowds';
const merge = { 'content-type': 'application/merge-patch+json' };
const others = 100_000;
const changes = 10;
const timeoutMs = 300_000;

/** Measures; no peer has such a job. */
export async function f14({ children = 1_000 }: { readonly children?: number } = {}): Promise<readonly Row[]> {
  await using cleanup = new AsyncDisposableStack();
  const setup = await openBenchSetup(cleanup);
  const { api, plane } = setup;
  await create(api, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crdOf(Crowd));
  await untilServed(api, crowds);
  let requests = 0;
  const onRequest = () => {
    requests += 1;
  };
  const client = cleanup.adopt(createClient(plane.connection(), { onRequest }), (one) => one.close());
  const { name: controller, declaration } = crowd;
  const reconcile = createReconcile({
    name: controller,
    declaration,
    instance: crowd.start({}),
    now: () => new Date(),
  });
  const rows: Row[] = [];

  /** Reconciles an object so many times, each after a change of its spec; the row has the values of one reconcile. */
  async function measure(what: string, name: string, times: number, change?: (index: number) => object): Promise<void> {
    const took: number[] = [];
    const asked: number[] = [];
    for (let index = 0; index < times; index += 1) {
      if (change !== undefined) await api.call('PATCH', `${crowds}/${name}`, { spec: change(index) }, merge);
      const cause = { type: 'change', observedAt: Date.now() } as const;
      const key = { controller, cluster: 'bench', group: 'bench.example.com', resource: 'crowds', namespace, name };
      const message: Message = { ...key, cause };
      const signal = AbortSignal.timeout(timeoutMs);
      requests = 0;
      const startedAt = performance.now();
      const { outcome } = await reconcile({ client, message, messageId: `${index}`, log: silentLog, signal });
      if (outcome.type !== 'done')
        throw new Error(`f14: ${what}: ${JSON.stringify(outcome)} ${String('error' in outcome && outcome.error)}`);
      took.push((performance.now() - startedAt) / 1000);
      asked.push(requests);
    }
    const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
    const megabytes = Math.round(process.memoryUsage().rss / 2 ** 20);
    const ours = `${middle(asked)} requests, ${middle(took).toFixed(2)} s, resident ${megabytes} MB`;
    rows.push({ figure: 'f14', what, ours, goal: '-' });
  }

  const object = (name: string, spec: object) => ({
    apiVersion: 'bench.example.com/v1',
    kind: 'Crowd',
    metadata: { name },
    spec: { children, changed: 0, text: '', answer: 0, ...spec },
  });
  await create(api, crowds, object('large', {}));
  await measure(`${children} children are created`, 'large', 1);
  await measure(`${children} children, converged`, 'large', 1);
  await measure(`one of ${children} children changes`, 'large', changes, (index) => ({ changed: index + 1 }));
  await measure(`all ${children} children change`, 'large', 1, () => ({ changed: 5 * children }));
  await putObjects(setup, { plural: 'pings', namespace }, { count: others, prefix: 'other', observed: true });
  await untilObjectsServed(api, collectionOf({ plural: 'pings', namespace }), others + children);
  const beside = `beside ${others} others in the namespace`;
  await measure(`${children} children, converged, ${beside}`, 'large', 1);
  await measure(`one of ${children} changes, ${beside}`, 'large', changes, (index) => ({
    changed: 5 * children + index + 1,
  }));
  await create(api, crowds, object('heavy', { children: 1, text: 'x'.repeat(1_000_000) }));
  await measure('an object of 1 MB', 'heavy', changes, (index) => ({ changed: index + 1 }));
  await create(api, crowds, object('talkative', { children: 1, answer: 200_000 }));
  await measure('a status of 200 kB', 'talkative', changes, (index) => ({ changed: index + 1 }));
  return rows;
}
