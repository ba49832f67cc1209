// Only children that have lost Outrigger's labels, which neither the watch nor the list by labels finds: which reconcile
// finds them, and that it leaves the objects of others.
import { expect, it } from 'vitest';
import { objectPath } from '../../src/kube/client/path.ts';
import { useApiServer } from '../harness/api-server.ts';
import { configMap, widgetsOn } from './widgets.ts';

const { connect } = await useApiServer();
const fixture = widgetsOn(connect);

const periodic = { cause: { type: 'resync', run: '2026-11-25T10:00:00.000Z', dueAt: 1 } } as const;
const watcherPass = { cause: { type: 'resync', run: 'watcher-2026-11-25', dueAt: 1 } } as const;

const removeLabels = async (name: string) => {
  const path = objectPath(configMap, { namespace: fixture.namespace, name });
  await fixture.mergePatch(name, { metadata: { labels: null } }, path);
};
const names = async () => (await fixture.list(configMap)).map(({ metadata }) => metadata.name);

it('a child without labels is pruned by the periodic reconcile alone, and the children of others stay', async () => {
  await fixture.apply('other', { size: 1, parts: ['of-another'] });
  await fixture.reconcile('other');
  await fixture.apply('north', { size: 1, parts: ['kept', 'dropped'] });
  await fixture.reconcile('north');
  for (const name of ['kept', 'dropped', 'of-another']) await removeLabels(name);
  await fixture.apply('north', { size: 1, parts: ['kept'] });
  await fixture.reconcile('north');
  await fixture.reconcile('north', watcherPass);
  expect(await names()).toEqual(['dropped', 'kept', 'of-another']);
  await fixture.reconcile('north', periodic);
  expect(await names()).toEqual(['kept', 'of-another']);
});
