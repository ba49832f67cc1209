// Only what reconciles leave on objects that another project, controller or client also writes: two projects whose
// controllers have the same name, and children that have lost Outrigger's labels.
import { expect, it } from 'vitest';
import { Event } from '../../src/kubernetes.ts';
import { useApiServer } from '../harness/api-server.ts';
import { createRecorder } from '../support/recorder.ts';
import { configMap, widgetsOn } from './widgets.ts';

const { connect } = await useApiServer();
const fixture = widgetsOn(connect);

/** Gives the controller children of these names, and an Event. */
const withChild = (name: string, ...others: readonly string[]) => {
  fixture.does(async (_, { applyAll, recordEvent }) => {
    const children = [name, ...others].map((one) => ({ metadata: { name: one }, data: { by: name } }));
    await applyAll(configMap, children);
    recordEvent('Normal', 'Applied', `applied ${name}`);
  });
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

const periodic = { cause: { type: 'resync', run: '2026-11-25T10:00:00.000Z', dueAt: 1 } } as const;
const watcherPass = { cause: { type: 'resync', run: 'watcher-2026-11-25', dueAt: 1 } } as const;

const removeLabels = async (name: string) =>
  await fixture.mergePatch(name, { metadata: { labels: null } }, fixture.childPath(name));
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
