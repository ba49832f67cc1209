// A watch loop of a kind whose definition is deleted and applied again while the loop runs: which keys it sends.
import { expect, it } from 'vitest';
import type { WatchedResource } from '../../src/core/watch-list.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { CustomResourceDefinition } from '../../src/kubernetes.ts';
import { applyDefinition } from '../support/established.ts';
import { widgetDefinition } from '../support/widget-crd.ts';
import { watchLoopFixture } from './watch-loop-harness.ts';

const widget = {
  group: 'reconcile.example.com',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  namespaced: true,
  apiVersion: 'reconcile.example.com/v1',
};
const widgets: WatchedResource = {
  ...widget,
  subscribers: [{ controller: 'widget', as: 'primary', primary: widget, predicate: 'generation' }],
};
const fixture = watchLoopFixture();

const create = async (name: string) => {
  const object = { apiVersion: widget.apiVersion, kind: 'Widget', metadata: { name, namespace: 'default' }, spec: {} };
  await applyObject(fixture.user, widget, object, { fieldManager: 'user' });
};

it('a loop follows a kind whose definition is deleted and applied again, and sends every key', async () => {
  await applyDefinition(fixture.user, widgetDefinition);
  await create('before');
  const loop = fixture.follow(widgets);
  /** Resolves when these keys were sent. Ends the waits of failed watches. */
  const sent = async (...names: readonly string[]) =>
    await expect
      .poll(
        () => {
          loop.endWaits();
          const messages = loop.sent.map(({ message: { name } }) => name);
          return names.every((name) => messages.includes(name));
        },
        { timeout: 15_000 },
      )
      .toBe(true);
  await sent('before');
  loop.sent.length = 0;

  await fixture.user.request({
    method: 'DELETE',
    path: objectPath(CustomResourceDefinition, { name: widgetDefinition.metadata.name }),
  });
  // The object goes with its definition.
  await sent('before');
  expect(loop.loop.objects()).toBe(0);

  await applyDefinition(fixture.user, widgetDefinition);
  await create('after');
  await sent('after');
  expect(loop.loop.objects()).toBe(1);
});
