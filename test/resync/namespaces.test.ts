// Only the resync of a project with some namespaces: its messages and its lists.
import { expect, it } from 'vitest';
import { tenantNetwork } from '../../src/controllers/tenant-network.ts';
import { parseResyncMessage } from '../../src/resync/message.ts';
import { aMissedGadget } from './gadgets.ts';
import { names, resyncFixture } from './resync-harness.ts';

const { aResync, drain, resyncOf } = resyncFixture();
const namespaces = ['shop', 'office'];

it('a run lists a namespaced kind in each namespace, and a kind without namespaces once', async () => {
  const resync = aResync({ clusters: { alpha: { type: 'decommissioning' } }, more: [tenantNetwork], namespaces });
  expect(await resync.startRun()).toBe(3);
  const messages = (await drain('resync')).map(({ Body = '' }) => parseResyncMessage(Body));
  expect(messages.map(({ controller, namespace }) => [controller, namespace])).toEqual(
    expect.arrayContaining([
      ['gadget', 'shop'],
      ['gadget', 'office'],
      ['tenant-network', undefined],
    ]),
  );
});

it('no list leaves the namespace of its message, and the watchers are checked with the first one only', async () => {
  const { server, ...resync } = await resyncOf([aMissedGadget('missed')], { periodSeconds: 36_000_000, namespaces });
  expect(await resync.run({ namespace: 'shop' }, { namespace: 'office' })).toEqual([]);
  expect(names(resync.timed)).toEqual(['missed', 'missed']);
  const lists = server.arrived.map(({ path }) => path).filter((path) => path.endsWith('/gadgets'));
  expect(lists.map((path) => path.split('/').at(-2)).sort()).toEqual(['office', 'shop']);
  expect(server.arrived.filter(({ path }) => path.includes('/configmaps/'))).toHaveLength(1);
});
