// A status is in the cluster as the author returned it, whatever its fields were before and whoever else owns them.
// Only what is stored; the content of a status is in status.test.ts.
import { beforeEach, expect, it } from 'vitest';
import { applyStatus } from '../../../src/kube/apply/apply.ts';
import { useApiServer } from '../../harness/api-server.ts';
import { built, configMap, widget, widgetsOn } from '../widgets.ts';

const { connect } = await useApiServer();
const widgets = widgetsOn(connect);
const { apply, read, reconcile, returns } = widgets;
beforeEach(async () => void (await apply('a', { size: 3 })));

/** Expects that a reconcile reads the object, and sends nothing else. */
const settles = async () => {
  widgets.requests.length = 0;
  expect(await reconcile('a')).toMatchObject({ writes: 0, noops: 0 });
  expect(widgets.requests).toHaveLength(1);
};

/** Reconciles with a status, and expects that it is stored as it is and that the next reconcile sends nothing. */
const becomes = async (status: Parameters<typeof returns>[0]['status'] & object, more: object = {}) => {
  returns({ status });
  expect((await reconcile('a')).outcome).toEqual({ type: 'done' });
  const { conditions: _, observedGeneration: __, ...fields } = Object((await read('a'))?.status);
  expect(fields).toEqual({ ...status, ...more });
  await settles();
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
  await becomes(full);
  await becomes(empty);
  await becomes(full);
});

it('N1: a map of a status that becomes empty keeps what another manager owns in it', async () => {
  await becomes({ nodes: one });
  await patch({ status: { nodes: { b: '2' } } });
  await becomes({ nodes: {} }, { nodes: { b: '2' } });
});

const statusPath = () => `${widgets.pathOf('a')}/status`;
const patch = async (body: object, path = statusPath()) => await widgets.mergePatch('a', body, path);
const statusOf = async () => Object((await read('a'))?.status);
const typesOf = async () => (await statusOf()).conditions.map((one: { type: string }) => one.type).sort();
/** Applies a status as another client. */
const applyBy = async (manager: string, status: object) => {
  const { apiVersion, kind } = widget;
  const target = { apiVersion, kind, key: { name: 'a', namespace: widgets.namespace }, resourceVersion: undefined };
  await applyStatus(widgets.client, widget, target, status, { fieldManager: manager });
};
/** Replaces the status by an older one, as a backup does. */
const restore = async (status: unknown) => {
  const body = { ...(await read('a')), status };
  const query = { fieldManager: 'backup' };
  await widgets.client.request({ method: 'PUT', path: statusPath(), body, query });
};
const clear = async () => await patch({ metadata: { managedFields: [{}] } }, widgets.pathOf('a'));

type Step = (before: object) => Promise<unknown>;
const applyAsSomeone: Step = async (before) => await applyBy('someone', before);
/** How others get a share in a status, or the record of it is lost: in these steps. */
const shares: readonly (readonly [string, readonly Step[]])[] = [
  ['nothing else is written', []],
  ['its managed fields are cleared', [clear]],
  ['its managed fields are cleared and it is written once more', [clear, async () => await reconcile('a')]],
  ['a backup has restored it', [async () => await restore({}), restore]],
  ['another client applies it', [applyAsSomeone]],
  ['another client applies it after its managed fields are cleared', [clear, applyAsSomeone]],
];
/** Goes these steps with the status as it is. */
const share = async (steps: readonly Step[]) => {
  const before = await statusOf();
  for (const step of steps) await step(before);
};

it.each(shares)('K18: a failure that is over is no longer reported although %s', async (_, steps) => {
  widgets.throws(new Error('no clay'));
  await reconcile('a');
  expect(await typesOf()).toEqual(['Ready', 'Reconciling']);
  await share(steps);
  await becomes({ size: 3 });
  expect(await typesOf()).toEqual(['Built', 'Ready']);
  widgets.throws(new Error('no clay'));
  await reconcile('a');
  expect(await typesOf()).toContain('Reconciling');
  expect((await statusOf()).size).toBe(3);
});

it.each(shares.slice(0, 4))('K18: a field of a status that is dropped goes although %s', async (_, steps) => {
  await becomes({ size: 1, note: 'x', plan: { due: 'x', nodes: one }, zones: [{ name: 'z', nodes: one }] });
  await share(steps);
  await becomes({ size: 2 });
});

it.each(shares.slice(0, 4))('K18: a failed reconcile keeps the fields of a status although %s', async (_, steps) => {
  await becomes({ size: 1, plan: { nodes: one } });
  await share(steps);
  widgets.throws(new Error('no clay'));
  await reconcile('a');
  expect(await statusOf()).toMatchObject({ size: 1, plan: { nodes: one } });
});

it('K18: a reconcile removes a failure that another client reports in the conditions of the runtime', async () => {
  await becomes({ size: 1 });
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const forged = { status: 'True', reason: 'R', message: '', lastTransitionTime };
  await applyBy('someone', { conditions: ['Stalled', 'Reconciling', 'Theirs'].map((type) => ({ type, ...forged })) });
  await becomes({ size: 1 });
  expect(await typesOf()).toEqual(['Built', 'Ready', 'Theirs']);
});

it('K18: what another client writes or applies in a status stays', async () => {
  await patch({ status: { note: 'theirs' } });
  await becomes({ size: 1 }, { note: 'theirs' });
  await applyBy('someone', { plan: { nodes: one } });
  await becomes({ size: 2 }, { note: 'theirs', plan: { nodes: one } });
});

it.each([
  ['one drops a field', async () => undefined],
  ['its managed fields are cleared', clear],
  ['a backup has restored it', async () => await restore(await statusOf())],
])('K18: two controllers of one kind keep their parts of a status although %s', async (_, share) => {
  returns({ status: { size: 1, note: 'x' } });
  await reconcile('a');
  await widgets.paint('a');
  await share();
  returns({ status: { size: 2 } });
  await reconcile('a');
  expect(await statusOf()).toMatchObject({ size: 2, coat: 'red' });
  expect(await typesOf()).toEqual(['Built', 'Painted', 'Ready']);
  widgets.paintReturns({ status: {} });
  await widgets.paint('a');
  expect(await statusOf()).not.toHaveProperty('coat');
  expect(await typesOf()).toEqual(['Built', 'Painted', 'Ready']);
  expect(await widgets.owned('a', 'outrigger-widget-painter')).toEqual({ conditions: ['Painted'] });
  await settles();
});

const glazed = widget.statusSlice({ status: ['coat'], conditions: ['Glazed'] });
const glazing = {
  selector: { matchLabels: { glaze: 'yes' } },
  reconcile: async () =>
    ({ status: { coat: 'clear' }, conditions: { Glazed: { status: 'True', reason: 'Done' } } }) as const,
};
const glazer = glazed.controller('widget-glazer', { ...glazing, finalize: async () => 'done' });
const plainGlazer = glazed.controller('widget-glazer', glazing);
it.each([
  ['its fields are the only ones', glazer, async () => undefined],
  ['nothing else is written', plainGlazer, async () => undefined],
  ['its managed fields are cleared', glazer, clear],
  [
    'another client applies them',
    glazer,
    async () => await applyBy('someone', { conditions: (await statusOf()).conditions }),
  ],
])('N1b: the slice of an object that leaves the selection is given up when %s', async (_, controller, share) => {
  const glaze = widgets.reconcileBy(controller);
  await apply('a', { size: 3 }, { labels: { glaze: 'yes' } });
  expect((await glaze('a')).outcome).toEqual({ type: 'done' });
  await share();
  await patch({ metadata: { labels: { glaze: null } } }, widgets.pathOf('a'));
  expect((await glaze('a')).outcome).toEqual({ type: 'done' });
  const { status = {}, metadata } = Object(await read('a'));
  expect(Object.values(status).flat()).toEqual([]);
  expect(metadata.finalizers ?? []).toEqual([]);
});

const halves = '\ud800 \udc00';
it.each([
  ['controls', '\u007f\u0080\u0084\u0085 \u0086can\u0099t\u009f', undefined],
  ['line breaks and marks', ' \u2028 \u2029 \ufeff\u200b\u0001\t\\ud800 /', undefined],
  ['noncharacters', '\ufffe\uffff\ufdd0', undefined],
  ['characters beyond U+FFFF', '\u{1f600}\u{10ffff}\u{1fffe}', undefined],
  ['halves of characters', `x${halves}y`, 'x\ufffd \ufffdy'],
])('K5: a text of %s in a status, its keys, its conditions and a child is stored as it is', async (_, text, stored = text) => {
  widgets.behaviour.reconcile = async (_object, { applyAll }) => {
    await applyAll(configMap, [{ metadata: { name: 'a', annotations: { text } }, data: { a: text } }]);
    const condition = { status: 'False', reason: 'No', message: text } as const;
    return { status: { note: text, nodes: { [text]: text } }, conditions: { Built: condition } };
  };
  expect((await reconcile('a')).outcome).toEqual({ type: 'done' });
  expect(await statusOf()).toMatchObject({ note: stored, nodes: { [stored]: stored } });
  expect(widgets.condition(await read('a'), 'Built')).toMatchObject({ message: stored });
  expect(await widgets.children()).toMatchObject([
    { metadata: { annotations: { text: stored } }, data: { a: stored } },
  ]);
  expect(await reconcile('a')).toMatchObject({ writes: 0, noops: 0 });
});

it.each([
  ['a status', 'status.size: 9007199254740992', async () => undefined, 2 ** 53],
  [
    'a child',
    'spec.template.spec.terminationGracePeriodSeconds: 9223372036854776000',
    async (write: (spec: object) => Promise<unknown>) =>
      await write({ template: { spec: { terminationGracePeriodSeconds: Number('9223372036854775807') } } }),
    1,
  ],
])('K8: a whole number beyond 2^53 in %s is refused with its path', async (_, path, write, size) => {
  widgets.behaviour.reconcile = async (_object, { applyAll }) => {
    await write(async (spec) => await applyAll(configMap, [{ metadata: { name: 'a' }, spec } as never]));
    return { status: { size }, conditions: { Built: built } };
  };
  const { outcome } = await reconcile('a');
  expect(outcome).toMatchObject({ type: 'failed', error: { message: expect.stringContaining(path) } });
  expect(widgets.condition(await read('a'), 'Ready')).toMatchObject({ message: expect.stringContaining(path) });
  expect(await widgets.children()).toEqual([]);
});

it('K8: a whole number beyond 2^53 that another client wrote is left as it is, also if the author copies the status', async () => {
  // As it is on the wire: no number of JavaScript.
  await patch({ status: { size: Reflect.get(JSON, 'rawJSON')('1152921504606846977') } });
  widgets.behaviour.reconcile = async ({ status }) => {
    const { size, note } = Object(status);
    return { status: { size, note: `${note ?? ''}x` }, conditions: { Built: built } };
  };
  for (const note of ['x', 'xx']) {
    expect((await reconcile('a')).outcome).toEqual({ type: 'done' });
    expect(await statusOf()).toMatchObject({ note, size: 2 ** 60 });
  }
});
