// A status is in the cluster as the author returned it, whatever its fields were before and whoever else owns them.
// Only what is stored; the content of a status is in status.test.ts and slice-status.test.ts.
import { expect, it } from 'vitest';
import { useApiServer } from '../../harness/api-server.ts';
import { widgetsOn } from '../widgets.ts';

const { connect } = await useApiServer();
const widgets = widgetsOn(connect);
const { apply, read, reconcile, returns } = widgets;

/** Reconciles with a status, and expects that it is stored as it is and that the next reconcile sends nothing. */
const becomes = async (status: Parameters<typeof returns>[0]['status'] & object, more: object = {}) => {
  returns({ status });
  expect((await reconcile('a')).outcome).toEqual({ type: 'done' });
  const { conditions: _, observedGeneration: __, ...fields } = Object((await read('a'))?.status);
  expect(fields).toEqual({ ...status, ...more });
  widgets.requests.length = 0;
  expect(await reconcile('a')).toMatchObject({ writes: 0, noops: 0 });
  expect(widgets.requests).toHaveLength(1);
};

const one = { a: '1' };
it.each([
  ['a map', { nodes: one }, { nodes: {} }],
  ['a map beside others', { size: 1, nodes: one }, { size: 1, nodes: {} }],
  ['a required map of a struct', { plan: { due: 'x', nodes: one } }, { plan: { due: 'x', nodes: {} } }],
  ['the only field of a struct', { plan: { nodes: one } }, { plan: { nodes: {} } }],
  ['a map in an item of a keyed list', { zones: [{ name: 'z', nodes: one }] }, { zones: [{ name: 'z', nodes: {} }] }],
  ['a keyed list', { size: 1, zones: [{ name: 'z', nodes: one }] }, { size: 1, zones: [] }],
  [
    'the maps of some items of a keyed list in another order',
    { zones: ['z', 'b', 'y', 'c'].map((name) => ({ name, nodes: one })) },
    { zones: ['z', 'b', 'y', 'c'].map((name) => ({ name, nodes: name > 'm' ? {} : one })) },
  ],
])('N1: %s of a status that becomes empty is stored empty, and can be filled again', async (_, full, empty) => {
  await apply('a', { size: 3 });
  await becomes(full);
  await becomes(empty);
  await becomes(full);
});

it('N1: a map of a status that becomes empty keeps what another manager owns in it', async () => {
  await apply('a', { size: 3 });
  await becomes({ nodes: one });
  await widgets.mergePatch('a', { status: { nodes: { b: '2' } } }, `${widgets.pathOf('a')}/status`);
  await becomes({ nodes: {} }, { nodes: { b: '2' } });
});
