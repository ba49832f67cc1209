// Two controllers on one kind with all that wakes them: the watcher, the queues, the batches. That neither's writes wake the other,
// or itself. What each of them writes is part-cases.ts.
import { afterEach, expect, it } from 'vitest';
import type { Connection } from '../../src/kube/connection.ts';
import { parseMessage } from '../../src/queue/message.ts';
import { type Pump, startPump } from '../statements/drain.ts';
import { startWatch, type Watch } from '../statements/watch.ts';
import { painted, widgetsOn } from './widgets.ts';

/** Declares the cases for a server. */
export function partWakeCases(connect: () => Connection): void {
  const widgets = widgetsOn(connect);
  const { apply, condition, read } = widgets;
  let pump: Pump | undefined;
  let watch: Watch | undefined;
  afterEach(async () => {
    await watch?.stop();
    await pump?.stop();
  });

  it('one change of the spec is one key for each controller, and what they write is none for either', async () => {
    const clock = { ms: Date.now() };
    const running = await startPump({ registry: widgets.registry, environment: {}, client: widgets.client, clock });
    pump = running;
    const watching = startWatch(widgets.client, widgets.namespace, running.send, { controllers: widgets.registry });
    watch = watching;
    widgets.painting.reconcile = async ({ spec }) => ({
      status: { coat: `of ${spec.size}` },
      conditions: { Painted: painted },
    });
    const keys = () => watching.forwarded.map((body) => parseMessage(body)).filter(({ name }) => name === 'a');
    for (const size of [1, 2, 3]) {
      await apply('a', { size });
      // Frames come in order: with the keys of this change here, all that was written after the last one has been seen.
      while (keys().length < 2 * size) await watching.next();
      // What was found by the first list, and not by the watch, waits for its turn in the timers.
      clock.ms = Math.max(clock.ms, Date.now());
      await running.pass(60);
      const after = await read('a');
      expect(after?.status).toMatchObject({ size, coat: `of ${size}`, observedGeneration: size });
      expect(condition(after, 'Painted')).toMatchObject({ status: 'True', observedGeneration: size });
    }
    const controllers = keys().map(({ controller }) => controller);
    expect(controllers.sort()).toEqual([...Array(3).fill('widget'), ...Array(3).fill('widget-painter')]);
  });
}
