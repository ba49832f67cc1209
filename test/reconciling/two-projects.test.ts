// Only what the reconciles of two projects in one cluster leave on one object: their controllers have the same name.
import { expect, it } from 'vitest';
import { isRecord } from '../../src/core/json.ts';
import { listPages } from '../../src/kube/client/read.ts';
import { useApiServer } from '../harness/api-server.ts';
import { built, configMap, widgetsOn } from './widgets.ts';

const { connect } = await useApiServer();
const fixture = widgetsOn(connect);

/** Gives the controller one child of that name, and an Event. */
const withChild = (name: string) => {
  fixture.behaviour.reconcile = async ({ spec }, { applyAll, recordEvent }) => {
    await applyAll(configMap, [{ metadata: { name }, data: { by: name } }]);
    recordEvent('Normal', 'Applied', `applied ${name}`);
    return { status: { size: spec.size }, conditions: { Built: built } };
  };
};

async function childrenOf(): Promise<Readonly<Record<string, string | undefined>>> {
  const found: Record<string, string | undefined> = {};
  for await (const { items } of listPages(fixture.client, configMap, { namespace: fixture.namespace })) {
    for (const { metadata } of items) found[metadata.name] = metadata.labels?.['outrigger.dev/controller'];
  }
  return found;
}

it('two projects keep their own finalizer, children and fields, and one that is finalized leaves the other’s', async () => {
  await fixture.apply('north', { size: 1 });
  withChild('first');
  await fixture.reconcile('north');
  withChild('second');
  await fixture.reconcileIn('cafes', 'north');
  // A second pass of the first project prunes nothing of the other.
  withChild('first');
  await fixture.reconcile('north');
  expect(await childrenOf()).toEqual({ first: 'widget', second: 'cafes.widget' });
  const object = await fixture.read('north');
  expect(object?.metadata.finalizers).toEqual(['outrigger.dev/widget', 'outrigger.dev/cafes.widget']);
  const managers = object?.metadata.managedFields?.map(({ manager }) => manager);
  expect(managers).toEqual(expect.arrayContaining(['outrigger-widget', 'outrigger-cafes-widget']));

  await fixture.remove('north');
  await fixture.reconcileIn('cafes', 'north');
  expect((await fixture.read('north'))?.metadata.finalizers).toEqual(['outrigger.dev/widget']);
});

it('an Event names the project and the controller that recorded it', async () => {
  await fixture.apply('south', { size: 1 });
  withChild('third');
  await fixture.reconcileIn('cafes', 'south');
  const events = { group: '', version: 'v1', plural: 'events', namespaced: true };
  const reporters: unknown[] = [];
  for await (const { items } of listPages(fixture.client, events, { namespace: fixture.namespace })) {
    for (const { source } of items) reporters.push(isRecord(source) ? source.component : undefined);
  }
  expect(reporters).toEqual(['outrigger.dev/cafes.widget']);
});
