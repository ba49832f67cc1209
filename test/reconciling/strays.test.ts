// Children without their labels or their controller reference, from the watch event to the cluster: a watch loop of the
// watcher, its messages, and the reconcile of each. Cases for any API server. Excluded: which changes make a stray
// (test/forwarding/predicates.test.ts), and labels that were removed while no watcher ran (test/kube/apply).
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { type Message, parseMessage } from '../../src/sqs/message.ts';
import type { Send } from '../../src/sqs/sender.ts';
import { useApiServer } from '../harness/api-server.ts';
import { startWatch, type Watch } from '../statements/watch.ts';
import { configMap, widget, widgetsOn } from './widgets.ts';

const { connect } = await useApiServer({ controllers: 'none' });
const widgets = widgetsOn(connect);
const { apply, childPath, mergePatch, reconcile } = widgets;
const children = async () => (await widgets.list(configMap)).filter(({ metadata }) => metadata.ownerReferences);
const child = async (name: string) => (await children()).find(({ metadata }) => metadata.name === name)?.metadata;
const anObject = async (name: string) => (await widgets.list(configMap)).find(({ metadata }) => metadata.name === name);
const referenceToWidget = { apiVersion: widget.apiVersion, kind: 'Widget', controller: true };
const labels = { 'outrigger.dev/controller': null, 'outrigger.dev/owner-uid': null };
const strip = async (name: string, metadata: object = { labels }) =>
  await mergePatch(name, { metadata }, childPath(name));

let watching: Watch;
let arrived = Promise.withResolvers<void>();
let messages: Message[] = [];
const send: Send = async (queue, entries) => {
  if (queue === 'widget.fifo') messages.push(...entries.map(({ body }) => parseMessage(body)));
  arrived.resolve();
  return entries.map(() => ({ accepted: true, messageId: 'm' }));
};
beforeEach(async () => {
  await apply('a', { size: 1, parts: ['one', 'two'] });
  await reconcile('a');
  watching = startWatch(widgets.client, widgets.namespace, send, { controllers: widgets.registry });
  await vi.waitFor(() => expect(watching.ready()).toBe(true), { timeout: 30_000 });
  messages = [];
});
afterEach(async () => await watching.stop());

/** Reconciles each message until one is about this many strays, which is reconciled too. */
async function reconcileStrays(count: number): Promise<void> {
  for (let seen = 0; ; ) {
    const message = messages.shift();
    if (message === undefined) {
      await arrived.promise;
      arrived = Promise.withResolvers();
      continue;
    }
    await reconcile('a', message);
    seen += message.strays?.count ?? 0;
    if (seen >= count) return;
  }
}

it('K12: a kept child that gets its labels back has no further field of its controller', async () => {
  widgets.does(async (_, { applyAll }) => await applyAll(configMap, (existing) => existing));
  await mergePatch('one', { data: { theirs: '1' } }, childPath('one'));
  await strip('one');
  await reconcileStrays(1);
  const ours = (await child('one'))?.managedFields?.filter(({ manager }) => manager === 'outrigger-widget');
  expect(JSON.stringify(ours)).toContain('f:size');
  expect(JSON.stringify(ours)).not.toContain('f:theirs');
});

it('K19: children that all lost their labels at once, and are dropped, are all deleted', async () => {
  // No child is deleted before: a message about it would count as well.
  const parts = ['one', 'two', ...Array.from({ length: 10 }, (_, index) => `part-${index}`)];
  await apply('a', { size: 1, parts });
  await reconcile('a');
  await Promise.all(parts.map(async (name) => await strip(name)));
  await apply('a', { size: 1, parts: [] });
  await reconcileStrays(parts.length);
  expect(await children()).toEqual([]);
});

it('a deleted child costs one read by its name, and none once its owner is gone', async () => {
  await apply('a', { size: 1, parts: ['two'] });
  await reconcile('a');
  messages = messages.filter(({ strays }) => strays !== undefined);
  widgets.requests.length = 0;
  await reconcileStrays(1);
  const reads = () => widgets.requests.filter((one) => one === `GET ${childPath('one')}`);
  expect(reads()).toHaveLength(1);
  await widgets.vanish('a');
  widgets.requests.length = 0;
  await reconcile('a', { strays: { count: 1, objects: [['', 'configmaps', widgets.namespace, 'one']] } });
  expect(reads()).toEqual([]);
});

it('a child whose controller reference was removed is taken back, and deleted if it is dropped', async () => {
  const before = await child('one');
  await strip('one', { ownerReferences: null });
  await strip('two', { ownerReferences: null });
  await apply('a', { size: 1, parts: ['one'] });
  await reconcile('a');
  expect(await child('one')).toMatchObject({ uid: before?.uid, ownerReferences: before?.ownerReferences });
  expect((await widgets.list(configMap)).map(({ metadata }) => metadata.name)).not.toContain('two');
});

it.each<[string, (neighbour: KubeObject) => object]>([
  ['another controller', ({ metadata: { uid } }) => ({ ownerReferences: [{ ...referenceToWidget, name: 'b', uid }] })],
  ['no label of its owner', () => ({ ownerReferences: null, labels: { 'outrigger.dev/owner-uid': null } })],
  ['no entry of its controller', () => ({ ownerReferences: null, managedFields: [{}] })],
])('a child without its controller reference and with %s is left alone, and the status says NotOwned', async (_, metadata) => {
  await strip('one', metadata(await apply('b', { size: 1 })));
  const before = await anObject('one');
  await reconcile('a');
  expect(JSON.stringify((await widgets.read('a'))?.status)).toContain('NotOwned');
  expect(await anObject('one')).toEqual(before);
});

it('a child whose reference was removed because its owner is deleted with --cascade=orphan is not taken back', async () => {
  await strip('one', { ownerReferences: null });
  const before = await anObject('one');
  widgets.beforeReconciler(async () => await widgets.remove('a'));
  await reconcile('a');
  expect(await anObject('one')).toEqual(before);
});
