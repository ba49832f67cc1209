// Two controllers on one kind with the watcher, the queues and the batches: the writes of a controller wake neither the
// other one nor itself. The content of the writes is in status-slice.test.ts.
import { afterEach, expect, it } from 'vitest';
import { parseMessage } from '../../src/sqs/message.ts';
import { useApiServer } from '../harness/api-server.ts';
import { startQueueRunner } from '../statements/drain.ts';
import { startWatch, type Watch } from '../statements/watch.ts';
import { painted, widgetsOn } from './widgets.ts';

const { connect } = await useApiServer();
const widgets = widgetsOn(connect);
const { apply, condition, read } = widgets;
let watch: Watch | undefined;
afterEach(async () => await watch?.stop());

it('one change of the spec is one key for each controller, and their writes are none', async () => {
  const clock = { ms: Date.now() };
  const running = startQueueRunner({ registry: widgets.registry, environment: {}, client: widgets.client, clock });
  const watching = startWatch(widgets.client, widgets.namespace, running.send, { controllers: widgets.registry });
  watch = watching;
  widgets.painting.reconcile = async ({ spec }) => ({
    status: { coat: `of ${spec.size}` },
    conditions: { Painted: painted },
  });
  const keys = () => watching.forwarded.map((body) => parseMessage(body)).filter(({ name }) => name === 'a');
  for (const size of [1, 2, 3]) {
    await apply('a', { size });
    // Watch events arrive in order: with the keys of this change, all earlier writes have been received as well.
    while (keys().length < 2 * size) await watching.next();
    // Objects that the first list found wait in the timers queue.
    clock.ms = Math.max(clock.ms, Date.now());
    await running.pass(60);
    const after = await read('a');
    expect(after?.status).toMatchObject({ size, coat: `of ${size}`, observedGeneration: size });
    expect(condition(after, 'Painted')).toMatchObject({ status: 'True', observedGeneration: size });
  }
  const controllers = keys().map(({ controller }) => controller);
  expect(controllers.sort()).toEqual([...Array(3).fill('widget'), ...Array(3).fill('widget-painter')]);
});
