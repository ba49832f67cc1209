// Conformance: watches: where they begin, what they show, in which order, and how they end.
import { expect, it } from 'vitest';
import { gadget, gadgets } from './gadget.ts';
import type { Suite } from './suite.ts';
import type { Frame } from './wire-watch.ts';

const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const STREAMED_LIST = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true };

/** Declares the cases. */
export function watchCases({ wire, namespace }: Suite): void {
  const now = async (ns: string): Promise<string> => (await wire.get(gadgets(ns))).body.metadata?.resourceVersion ?? '';

  it('a watch from a version shows what came after it, each change once, in order', async () => {
    const ns = await namespace();
    await wire.post(gadgets(ns), gadget('before'));
    const start = await now(ns);
    await wire.post(gadgets(ns), gadget('one'));
    await wire.mergePatch(gadgets(ns, 'one'), { spec: { size: 2 } });
    await using watch = await wire.watch(gadgets(ns), { resourceVersion: start });
    await wire.mergePatch(gadgets(ns, 'one'), { spec: { size: 3 } });
    await wire.remove(gadgets(ns, 'one'));
    const frames = await watch.until(({ type }) => type === 'DELETED');
    expect(frames.map(brief)).toEqual(['ADDED one 1', 'MODIFIED one 2', 'MODIFIED one 3', 'DELETED one 3']);
    const versions = frames.map(({ object }) => Number(object.metadata?.resourceVersion));
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
  });

  it('a deletion carries the last state and a version of its own', async () => {
    const ns = await namespace();
    const { body } = await wire.post(gadgets(ns), gadget('one', { size: 8 }, { labels: { a: 'b' } }));
    await using watch = await wire.watch(gadgets(ns), { resourceVersion: body.metadata?.resourceVersion ?? '' });
    await wire.remove(gadgets(ns, 'one'));
    const { type, object } = await watch.next();
    expect(type).toBe('DELETED');
    expect(object).toMatchObject({ metadata: { uid: body.metadata?.uid, labels: { a: 'b' } }, spec: { size: 8 } });
    expect(Number(object.metadata?.resourceVersion)).toBeGreaterThan(Number(body.metadata?.resourceVersion));
  });

  it('a change that changes nothing is not shown', async () => {
    const ns = await namespace();
    const { body } = await wire.post(gadgets(ns), gadget('one'));
    await using watch = await wire.watch(gadgets(ns), { resourceVersion: body.metadata?.resourceVersion ?? '' });
    await wire.mergePatch(gadgets(ns, 'one'), { spec: { size: 1 } });
    await wire.mergePatch(gadgets(ns, 'one'), { spec: { size: 2 } });
    expect(brief(await watch.next())).toBe('MODIFIED one 2');
  });

  it.each([{}, { resourceVersion: '0' }])('a watch with %j begins with every object as ADDED', async (query) => {
    const ns = await namespace();
    for (const name of ['a', 'b']) await wire.post(gadgets(ns), gadget(name));
    await now(ns); // a consistent read, so that a server's cache has caught up
    await using watch = await wire.watch(gadgets(ns), query);
    await wire.post(gadgets(ns), gadget('c'));
    const frames = [await watch.next(), await watch.next(), await watch.next()];
    expect(frames.map(brief)).toEqual(['ADDED a 1', 'ADDED b 1', 'ADDED c 1']);
  });

  it('a watch of a label shows an object that loses it as DELETED and one that gains it as ADDED', async () => {
    const ns = await namespace();
    await wire.post(gadgets(ns), gadget('one', { size: 1 }, { labels: { shown: 'yes' } }));
    await wire.post(gadgets(ns), gadget('two', { size: 1 }, { labels: { shown: 'no' } }));
    await using watch = await wire.watch(gadgets(ns), { resourceVersion: await now(ns), labelSelector: 'shown=yes' });
    const changed = await wire.mergePatch(gadgets(ns, 'one'), {
      metadata: { labels: { shown: 'no' } },
      spec: { size: 5 },
    });
    await wire.mergePatch(gadgets(ns, 'two'), { metadata: { labels: { shown: 'yes' } } });
    const left = await watch.next();
    expect(brief(left)).toBe('DELETED one 1');
    expect(left.object.metadata?.labels).toEqual({ shown: 'yes' });
    expect(left.object.metadata?.resourceVersion).toBe(changed.body.metadata?.resourceVersion);
    expect(brief(await watch.next())).toBe('ADDED two 1');
  });

  it('a watch of one name shows that object only', async () => {
    const ns = await namespace();
    const start = await now(ns);
    await using watch = await wire.watch(gadgets(ns), { resourceVersion: start, fieldSelector: 'metadata.name=two' });
    await wire.post(gadgets(ns), gadget('one'));
    await wire.post(gadgets(ns), gadget('two'));
    expect(brief(await watch.next())).toBe('ADDED two 1');
  });

  it('a metadata-only watch shows metadata only, and changes of the status too', async () => {
    const ns = await namespace();
    const start = await now(ns);
    await using watch = await wire.watch(gadgets(ns), { resourceVersion: start }, METADATA);
    await wire.post(gadgets(ns), gadget('one'));
    const status = await wire.mergePatch(gadgets(ns, 'one', 'status'), { status: { phase: 'Up' } });
    const [added, modified] = [await watch.next(), await watch.next()];
    expect(Object.keys(added.object).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
    expect(added.object.kind).toBe('PartialObjectMetadata');
    expect(modified).toMatchObject({ type: 'MODIFIED', object: { metadata: { generation: 1 } } });
    expect(modified.object.metadata?.resourceVersion).toBe(status.body.metadata?.resourceVersion);
  });

  it('a streamed list ends with a bookmark that says so, and the watch goes on from there', async () => {
    const ns = await namespace();
    for (const name of ['b', 'a']) await wire.post(gadgets(ns), gadget(name));
    await using watch = await wire.watch(gadgets(ns), STREAMED_LIST, METADATA);
    const frames = await watch.until(({ type }) => type === 'BOOKMARK');
    expect(frames.map(({ type }) => type)).toEqual(['ADDED', 'ADDED', 'BOOKMARK']);
    const bookmark = frames.at(-1)?.object;
    expect(bookmark?.metadata?.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
    expect(bookmark?.kind).toBe('PartialObjectMetadata');
    const newest = Math.max(...frames.slice(0, 2).map(({ object }) => Number(object.metadata?.resourceVersion)));
    expect(Number(bookmark?.metadata?.resourceVersion)).toBeGreaterThanOrEqual(newest);
    await wire.post(gadgets(ns), gadget('c'));
    expect(brief(await watch.next())).toBe('ADDED c 1');
  });

  it('a streamed list of nothing is one bookmark', async () => {
    const ns = await namespace();
    await using watch = await wire.watch(gadgets(ns), STREAMED_LIST);
    const { type, object } = await watch.next();
    expect(type).toBe('BOOKMARK');
    expect(object).toMatchObject({
      kind: 'Gadget',
      metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } },
    });
  });

  it('a streamed list without its version match is refused', async () => {
    const ns = await namespace();
    const refused = await wire.get(gadgets(ns), { watch: true, sendInitialEvents: true });
    expect(refused.body).toMatchObject({ code: 422, reason: 'Invalid' });
    const other = await wire.get(gadgets(ns), {
      watch: true,
      resourceVersion: '1',
      resourceVersionMatch: 'NotOlderThan',
    });
    expect(other.body).toMatchObject({ code: 422, reason: 'Invalid' });
  });

  it('a watch from long ago says 410 in its first frame and ends', async () => {
    const ns = await namespace();
    await using watch = await wire.watch(gadgets(ns), { resourceVersion: '1' });
    const frames = await watch.rest();
    expect(frames).toHaveLength(1);
    expect(frames[0]).toMatchObject({
      type: 'ERROR',
      object: { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410 },
    });
    expect(frames[0]?.object.message).toContain('too old resource version: 1');
  });

  it('a watch from the future is accepted and stays silent', async () => {
    const ns = await namespace();
    await using watch = await wire.watch(gadgets(ns), { resourceVersion: '99999999999', timeoutSeconds: 1 });
    await wire.post(gadgets(ns), gadget('one'));
    expect(await watch.rest()).toEqual([]);
  });

  it('a watch ends by itself after timeoutSeconds, between frames', async () => {
    const ns = await namespace();
    await using watch = await wire.watch(gadgets(ns), { resourceVersion: await now(ns), timeoutSeconds: 1 });
    await wire.post(gadgets(ns), gadget('one'));
    expect((await watch.rest()).map(brief)).toEqual(['ADDED one 1']);
  });

  it('watches of two namespaces do not see each other', async () => {
    const [ours, theirs] = [await namespace(), await namespace()];
    await using watch = await wire.watch(gadgets(ours), { resourceVersion: await now(ours) });
    await wire.post(gadgets(theirs), gadget('one'));
    await wire.post(gadgets(ours), gadget('two'));
    expect(brief(await watch.next())).toBe('ADDED two 1');
  });
}

/** Returns type, name and size, which say which change a frame shows. */
function brief({ type, object }: Frame): string {
  return `${type} ${object.metadata?.name} ${object.spec?.size ?? object.metadata?.generation}`;
}
