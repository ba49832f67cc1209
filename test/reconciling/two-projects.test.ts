// Only what the reconciles of two projects in one cluster leave on one object: their controllers have the same name.
import { expect, it } from 'vitest';
import { Event } from '../../src/kubernetes.ts';
import { useApiServer } from '../harness/api-server.ts';
import { createRecorder } from '../support/recorder.ts';
import { built, configMap, widgetsOn } from './widgets.ts';

const { connect } = await useApiServer();
const fixture = widgetsOn(connect);

/** Gives the controller children of these names, and an Event. */
const withChild = (name: string, ...others: readonly string[]) => {
  fixture.behaviour.reconcile = async ({ spec }, { applyAll, recordEvent }) => {
    const children = [name, ...others].map((one) => ({ metadata: { name: one }, data: { by: name } }));
    await applyAll(configMap, children);
    recordEvent('Normal', 'Applied', `applied ${name}`);
    return { status: { size: spec.size }, conditions: { Built: built } };
  };
};

it('two projects keep their own finalizer, children and fields, and one that is finalized leaves the other’s', async () => {
  await fixture.apply('north', { size: 1 });
  withChild('first');
  await fixture.reconcile('north');
  withChild('second');
  await fixture.reconcileIn('cafes', 'north');
  // A second pass of the first project prunes nothing of the other.
  withChild('first');
  await fixture.reconcile('north');
  const children = (await fixture.list(configMap)).map(({ metadata }) => metadata);
  expect(children.map(({ name, labels }) => [name, labels?.['outrigger.dev/controller']])).toEqual([
    ['first', 'widget'],
    ['second', 'cafes.widget'],
  ]);
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
  expect(await fixture.list(Event)).toMatchObject([{ source: { component: 'outrigger.dev/cafes.widget' } }]);
});

it('two controllers that give a child of one object the same name each log it, also beside a refused child', async () => {
  await fixture.apply('west', { size: 1 });
  withChild('fourth', 'Refused');
  const { log, lines } = createRecorder();
  await fixture.reconcile('west', {}, { log });
  await fixture.reconcileIn('cafes', 'west', log);
  await fixture.reconcile('west', {}, { log });
  // Nor is a line for each field of the child, which the label's line covers.
  const overwritten = lines.filter(({ message }) => message.endsWith('overwritten'));
  expect(overwritten.map(({ level, fields }) => [level, fields])).toEqual([
    ['warn', { kind: 'ConfigMap', formerController: 'widget' }],
    ['warn', { kind: 'ConfigMap', formerController: 'cafes.widget' }],
  ]);
});
