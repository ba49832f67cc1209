// Conformance: lists of a compacted version. The server under test needs a short history: the real one is started with
// a short compaction interval, the in-memory one with a small event window.
import { expect, it } from 'vitest';
import { gadget, gadgets } from './gadget.ts';
import { useSuite } from './suite.ts';

// A real server with a compaction interval of 1 s takes 15 s, because it serves older versions from its cache for a
// while.
const compactedWithinSeconds = 60;

const { wire, namespace } = await useSuite({ history: 'short' });

it(
  'an exact list of a compacted version, and the next page of a list at that version, are Expired',
  async () => {
    const ns = await namespace();
    for (const name of ['a', 'b', 'c']) await wire.post(gadgets(ns), gadget(name));
    const page = await wire.get(gadgets(ns), { limit: 1 });
    const { resourceVersion = '', continue: rest = '' } = page.body.metadata ?? {};
    const exact = { resourceVersion, resourceVersionMatch: 'Exact' };
    const changeAndListExact = async () => {
      await wire.mergePatch(gadgets(ns, 'a'), { metadata: { labels: { touched: crypto.randomUUID() } } });
      return (await wire.get(gadgets(ns), exact)).status;
    };
    await expect.poll(changeAndListExact, { timeout: compactedWithinSeconds * 1000, interval: 20 }).toBe(410);
    const expired = await wire.get(gadgets(ns), exact);
    expect(expired.body).toMatchObject({ kind: 'Status', status: 'Failure', code: 410, reason: 'Expired' });

    const nextPage = await wire.get(gadgets(ns), { limit: 1, continue: rest });
    expect(nextPage.body).toMatchObject({ code: 410, reason: 'Expired' });
    // The error contains another token, which continues the list at the current version.
    const inconsistent = await wire.get(gadgets(ns), { continue: nextPage.body.metadata?.continue ?? '' });
    expect(inconsistent.body.items?.map((item) => item.metadata?.name)).toEqual(['b', 'c']);
  },
  compactedWithinSeconds * 1000,
);
