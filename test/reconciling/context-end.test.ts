// Calls of the context that the author's code does not await. Guarantee 2: none of them runs beside the next reconcile
// of the object. A reconciler that ignores its signal is in ignored-signal.test.ts.
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import type { KubeRequest } from '../../src/kube/client/client.ts';
import { useApiServer } from '../harness/api-server.ts';
import { built, configMap, widgetsOn } from './widgets.ts';

const { connect } = await useApiServer();
const widgets = widgetsOn(connect);
const { reconcile } = widgets;
beforeEach(async () => void (await widgets.apply('a', { size: 1 })));
const child = (name: string) => ({ metadata: { name }, data: { size: '1' } });

/** The conditions of the object: type, reason and message. */
async function conditions(): Promise<unknown> {
  const { status } = Object(await widgets.read('a'));
  return Object(status).conditions.map((one: Record<string, unknown>) => [one.type, one.reason, one.message]);
}

type Reconcile = typeof widgets.behaviour.reconcile;
/** Reconciles a new object once with this reconciler, which returns a good result after it. */
async function reconcileWith(
  act: (context: Parameters<Reconcile>[1]) => unknown,
  more: Parameters<typeof reconcile>[2] = {},
) {
  widgets.does(async (_, context) => await act(context));
  return await reconcile('a', {}, more);
}

/** Reconciles so, and returns the requests that are not answered when that ends. */
async function requestsAtTheEnd(act: Parameters<typeof reconcileWith>[0]): Promise<readonly string[]> {
  const open = new Set<string>();
  const before = async ({ method, path }: KubeRequest) => {
    if (!path.includes('/configmaps')) return;
    open.add(`${method} ${path}`);
    for (let turns = 0; turns < 200; turns += 1) await turn();
    open.delete(`${method} ${path}`);
  };
  await reconcileWith(act, { before });
  return [...open];
}

it('a reconcile that fails ends after the applies that run beside the failed one', async () => {
  const open = await requestsAtTheEnd(
    async ({ apply: applyChild }) =>
      await Promise.all([Promise.reject(new Error('no')), applyChild(configMap, child('late'))]),
  );
  expect(open).toEqual([]);
});

it('a reconcile ends after the applies that its reconciler did not await, and those that follow from them', async () => {
  const open = await requestsAtTheEnd((context) => {
    void context.apply(configMap, child('one')).then(async () => await context.apply(configMap, child('two')));
  });
  expect(open).toEqual([]);
  expect(widgets.requests.filter((request) => request.endsWith('/configmaps/two')).length).toBeGreaterThan(0);
});

it.each<[string, Parameters<typeof reconcileWith>[0], 'done' | 'failed']>([
  ['did not await', (context) => void context.apply(configMap, child('No Name')), 'failed'],
  ['caught', async (context) => await context.apply(configMap, child('No Name')).catch(() => undefined), 'done'],
  [
    'did not await, of a follow-up after it returned,',
    (context) => void context.list(configMap).then(() => void context.apply(configMap, child('No Name'))),
    'failed',
  ],
])('a refused apply that a reconciler %s ends no process', async (_, act, expected) => {
  expect((await reconcileWith(act)).outcome.type).toBe(expected);
  const ready = expect.stringContaining('"No Name" is invalid');
  if (expected === 'failed') expect(await conditions()).toContainEqual(['Ready', 'Retrying', ready]);
});

it('an applyAll that finalize did not await fails it when it is refused', async () => {
  await reconcile('a');
  await widgets.remove('a');
  widgets.behaviour.finalize = async (_, context) => {
    void context.applyAll(configMap, [child('No Name')]);
    return 'done';
  };
  expect((await reconcile('a')).outcome.type).toBe('failed');
});

it('an apply that is refused before its reconciler awaits it throws there', async () => {
  widgets.behaviour.reconcile = async (_, context) => {
    const refused = context.apply(configMap, child('No Name'));
    await context.apply(configMap, child('one')).then(async () => await context.apply(configMap, child('two')));
    const reason = await refused.then(
      () => 'Applied',
      () => 'Refused',
    );
    return { status: {}, conditions: { Built: { ...built, reason } } };
  };
  await reconcile('a');
  expect(await conditions()).toContainEqual(['Built', 'Refused', '']);
});

it('an apply after the end of its reconcile is refused', async () => {
  let later = async (): Promise<unknown> => undefined;
  await reconcileWith((context) => {
    later = async () => await context.apply(configMap, child('late'));
  });
  await expect(later()).rejects.toThrow('used its context after its end');
});
