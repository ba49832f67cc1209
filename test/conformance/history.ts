// Conformance: what a server says of a past it has forgotten. The server under test must forget soon: the real one is started with
// a short compaction interval, ours with a short history.
import { expect, it } from 'vitest';
import { gadget, gadgets } from './gadget.ts';
import type { Suite } from './suite.ts';

// A real server with a compaction interval of 1 s takes 15 s: it answers from its cache for a while.
const FORGETS_WITHIN_SECONDS = 60;

/** Declares the cases. */
export function historyCases({ wire, namespace }: Suite): void {
  it(
    'an exact list of a forgotten version is Gone, and so is the next page of a list begun there',
    async () => {
      const ns = await namespace();
      for (const name of ['a', 'b', 'c']) await wire.post(gadgets(ns), gadget(name));
      const page = await wire.get(gadgets(ns), { limit: 1 });
      const { resourceVersion = '', continue: rest = '' } = page.body.metadata ?? {};
      const then = { resourceVersion, resourceVersionMatch: 'Exact' };
      const touchAndLookBack = async () => {
        await wire.mergePatch(gadgets(ns, 'a'), { metadata: { labels: { touched: crypto.randomUUID() } } });
        return (await wire.get(gadgets(ns), then)).status;
      };
      await expect.poll(touchAndLookBack, { timeout: FORGETS_WITHIN_SECONDS * 1000, interval: 100 }).toBe(410);
      const gone = await wire.get(gadgets(ns), then);
      expect(gone.body).toMatchObject({ kind: 'Status', status: 'Failure', code: 410, reason: 'Expired' });

      const late = await wire.get(gadgets(ns), { limit: 1, continue: rest });
      expect(late.body).toMatchObject({ code: 410, reason: 'Expired' });
      // The refusal hands out another token, which goes on at a newer version.
      const inconsistent = await wire.get(gadgets(ns), { continue: late.body.metadata?.continue ?? '' });
      expect(inconsistent.body.items?.map((item) => item.metadata?.name)).toEqual(['b', 'c']);
    },
    FORGETS_WITHIN_SECONDS * 1000,
  );
}
