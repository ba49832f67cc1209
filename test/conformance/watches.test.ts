// Conformance: watches: their first version, their events and the order of these, and their end.
import { expect, it } from 'vitest';
import { gadget, gadgets } from './gadget.ts';
import { useSuite } from './suite.ts';
import type { WatchEvent } from './wire-watch.ts';

const metadataType = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const streamedList = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true };

const { wire, namespace, createGadget } = await useSuite();

const currentVersion = async (ns: string): Promise<string> =>
  (await wire.get(gadgets(ns))).body.metadata?.resourceVersion ?? '';

it('BK11: a watch from a version sends every later change once, in order', async () => {
  const ns = await namespace();
  await wire.post(gadgets(ns), gadget('before'));
  const start = await currentVersion(ns);
  await wire.post(gadgets(ns), gadget('one'));
  await wire.mergePatch(gadgets(ns, 'one'), { spec: { size: 2 } });
  await using watch = await wire.watch(gadgets(ns), { resourceVersion: start });
  await wire.mergePatch(gadgets(ns, 'one'), { spec: { size: 3 } });
  await wire.remove(gadgets(ns, 'one'));
  const events = await watch.until(({ type }) => type === 'DELETED');
  expect(events.map(summary)).toEqual(['ADDED one 1', 'MODIFIED one 2', 'MODIFIED one 3', 'DELETED one 3']);
  const versions = events.map(({ object }) => Number(object.metadata?.resourceVersion));
  expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
});

it('a DELETED event has the last state of the object and a new version', async () => {
  const { ns, main, made: body } = await createGadget({ size: 8 }, { labels: { a: 'b' } });
  await using watch = await wire.watch(gadgets(ns), { resourceVersion: body.metadata?.resourceVersion ?? '' });
  await wire.remove(main);
  const { type, object } = await watch.next();
  expect(type).toBe('DELETED');
  expect(object).toMatchObject({ metadata: { uid: body.metadata?.uid, labels: { a: 'b' } }, spec: { size: 8 } });
  expect(Number(object.metadata?.resourceVersion)).toBeGreaterThan(Number(body.metadata?.resourceVersion));
});

it('a watch sends no event for an update without a change', async () => {
  const { ns, main, made: body } = await createGadget();
  await using watch = await wire.watch(gadgets(ns), { resourceVersion: body.metadata?.resourceVersion ?? '' });
  await wire.mergePatch(main, { spec: { size: 1 } });
  await wire.mergePatch(main, { spec: { size: 2 } });
  expect(summary(await watch.next())).toBe('MODIFIED one 2');
});

it.each([
  {},
  { resourceVersion: '0' },
])('a watch with %j starts with an ADDED event for every object', async (query) => {
  const ns = await namespace();
  for (const name of ['a', 'b']) await wire.post(gadgets(ns), gadget(name));
  await currentVersion(ns); // a consistent read: the cache of the server is up to date afterwards
  await using watch = await wire.watch(gadgets(ns), query);
  await wire.post(gadgets(ns), gadget('c'));
  const events = [await watch.next(), await watch.next(), await watch.next()];
  expect(events.map(summary)).toEqual(['ADDED a 1', 'ADDED b 1', 'ADDED c 1']);
});

it('a watch with a label selector sends DELETED if an object loses the label and ADDED if it gains it', async () => {
  const { ns, main } = await createGadget({ size: 1 }, { labels: { shown: 'yes' } });
  await wire.post(gadgets(ns), gadget('two', { size: 1 }, { labels: { shown: 'no' } }));
  await using watch = await wire.watch(gadgets(ns), {
    resourceVersion: await currentVersion(ns),
    labelSelector: 'shown=yes',
  });
  const changed = await wire.mergePatch(main, { metadata: { labels: { shown: 'no' } }, spec: { size: 5 } });
  await wire.mergePatch(gadgets(ns, 'two'), { metadata: { labels: { shown: 'yes' } } });
  const left = await watch.next();
  expect(summary(left)).toBe('DELETED one 1');
  expect(left.object.metadata?.labels).toEqual({ shown: 'yes' });
  expect(left.object.metadata?.resourceVersion).toBe(changed.body.metadata?.resourceVersion);
  expect(summary(await watch.next())).toBe('ADDED two 1');
});

it('a watch with a selector of sets sends an object that enters it by a new label, and one that leaves it', async () => {
  const { ns, main } = await createGadget({ size: 1 }, { labels: { zone: 'a' } });
  await using watch = await wire.watch(gadgets(ns), {
    resourceVersion: await currentVersion(ns),
    labelSelector: '!hidden,zone notin (b,c)',
  });
  const label = async (labels: object) => await wire.mergePatch(main, { metadata: { labels } });
  for (const labels of [{ zone: 'b' }, { zone: null }, { hidden: '' }, { hidden: null, zone: 'd' }])
    await label(labels);
  const seen = [];
  for (let count = 0; count < 4; count += 1) seen.push(summary(await watch.next()));
  expect(seen).toEqual(['DELETED one 1', 'ADDED one 1', 'DELETED one 1', 'ADDED one 1']);
});

it('a watch of one name sends only events of that object', async () => {
  const ns = await namespace();
  const start = await currentVersion(ns);
  await using watch = await wire.watch(gadgets(ns), { resourceVersion: start, fieldSelector: 'metadata.name=two' });
  await wire.post(gadgets(ns), gadget('one'));
  await wire.post(gadgets(ns), gadget('two'));
  expect(summary(await watch.next())).toBe('ADDED two 1');
});

it('a metadata-only watch sends only metadata, also for changes of the status', async () => {
  const ns = await namespace();
  const start = await currentVersion(ns);
  await using watch = await wire.watch(gadgets(ns), { resourceVersion: start }, metadataType);
  await wire.post(gadgets(ns), gadget('one'));
  const status = await wire.mergePatch(gadgets(ns, 'one', 'status'), { status: { phase: 'Up' } });
  const [added, modified] = [await watch.next(), await watch.next()];
  expect(Object.keys(added.object).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
  expect(added.object.kind).toBe('PartialObjectMetadata');
  expect(modified).toMatchObject({ type: 'MODIFIED', object: { metadata: { generation: 1 } } });
  expect(modified.object.metadata?.resourceVersion).toBe(status.body.metadata?.resourceVersion);
});

it('a streamed list ends with an initial-events-end bookmark, and the watch continues', async () => {
  const ns = await namespace();
  for (const name of ['b', 'a']) await wire.post(gadgets(ns), gadget(name));
  await using watch = await wire.watch(gadgets(ns), streamedList, metadataType);
  const events = await watch.until(({ type }) => type === 'BOOKMARK');
  expect(events.map(({ type }) => type)).toEqual(['ADDED', 'ADDED', 'BOOKMARK']);
  const bookmark = events.at(-1)?.object;
  expect(bookmark?.metadata?.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
  expect(bookmark?.kind).toBe('PartialObjectMetadata');
  const newest = Math.max(...events.slice(0, 2).map(({ object }) => Number(object.metadata?.resourceVersion)));
  expect(Number(bookmark?.metadata?.resourceVersion)).toBeGreaterThanOrEqual(newest);
  await wire.post(gadgets(ns), gadget('c'));
  expect(summary(await watch.next())).toBe('ADDED c 1');
});

it('a streamed list without objects is one bookmark', async () => {
  const ns = await namespace();
  await using watch = await wire.watch(gadgets(ns), streamedList);
  const { type, object } = await watch.next();
  expect(type).toBe('BOOKMARK');
  expect(object).toMatchObject({ kind: 'Gadget', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } });
});

it.each<[string, string[], object]>([
  ['true and no bookmarks sends the objects that exist', ['one', 'two'], { sendInitialEvents: true }],
  ['false and no version sends only later changes', ['two'], { sendInitialEvents: false }],
])('a watch with sendInitialEvents %s', async (_what, names, query) => {
  const { ns } = await createGadget();
  await using watch = await wire.watch(gadgets(ns), { resourceVersionMatch: 'NotOlderThan', ...query });
  await wire.post(gadgets(ns), gadget('two'));
  for (const name of names) expect((await watch.next()).object.metadata?.name).toBe(name);
});

it('a GET of one object with watch=true returns the object', async () => {
  const { main, made } = await createGadget();
  expect((await wire.get(main, { watch: true })).body).toEqual(made);
});

it('a streamed list without resourceVersionMatch, and a match without a streamed list, are Invalid', async () => {
  const ns = await namespace();
  const rejected = await wire.get(gadgets(ns), { watch: true, sendInitialEvents: true });
  expect(rejected.body).toMatchObject({ code: 422, reason: 'Invalid' });
  const other = await wire.get(gadgets(ns), {
    watch: true,
    resourceVersion: '1',
    resourceVersionMatch: 'NotOlderThan',
  });
  expect(other.body).toMatchObject({ code: 422, reason: 'Invalid' });
});

it('BK11: a watch from a version that is too old sends one ERROR event with 410 and ends', async () => {
  const ns = await namespace();
  await using watch = await wire.watch(gadgets(ns), { resourceVersion: '1' });
  const events = await watch.rest();
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({
    type: 'ERROR',
    object: { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410 },
  });
  expect(events[0]?.object.message).toContain('too old resource version: 1');
});

it('a watch from a future version is accepted and sends no events', async () => {
  const ns = await namespace();
  await using watch = await wire.watch(gadgets(ns), { resourceVersion: '99999999999', timeoutSeconds: 1 });
  await wire.post(gadgets(ns), gadget('one'));
  expect(await watch.rest()).toEqual([]);
});

it('a watch ends after timeoutSeconds with complete events', async () => {
  const ns = await namespace();
  await using watch = await wire.watch(gadgets(ns), { resourceVersion: await currentVersion(ns), timeoutSeconds: 1 });
  await wire.post(gadgets(ns), gadget('one'));
  expect((await watch.rest()).map(summary)).toEqual(['ADDED one 1']);
});

it('a watch of one namespace sends no events of another', async () => {
  const [watched, other] = [await namespace(), await namespace()];
  await using watch = await wire.watch(gadgets(watched), { resourceVersion: await currentVersion(watched) });
  await wire.post(gadgets(other), gadget('one'));
  await wire.post(gadgets(watched), gadget('two'));
  expect(summary(await watch.next())).toBe('ADDED two 1');
});

/** Returns type, name and size, which identify the change of an event. */
function summary({ type, object }: WatchEvent): string {
  return `${type} ${object.metadata?.name} ${object.spec?.size ?? object.metadata?.generation}`;
}

it.each(['True', '1', ''])('a watch is asked for by the value "%s", as clients in Python do', async (watch) => {
  const { ns } = await createGadget();
  await using stream = await wire.watch(gadgets(ns), { watch });
  expect(await stream.next()).toMatchObject({ type: 'ADDED' });
});

it('the value False asks for a list', async () => {
  const { ns } = await createGadget();
  expect((await wire.get(gadgets(ns), { watch: 'False' })).body.kind).toBe('GadgetList');
});
