// Probes of `outrigger verify` in the functions: what is in the log, and what is on the queues. A whole deployment is in
// test/deploy/first-month.test.ts.
import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { answerProbe } from '../../src/lambda/probes.ts';
import { createReconcileHandler } from '../../src/lambda/reconcile-handler.ts';
import { createResyncHandler } from '../../src/lambda/resync-handler.ts';
import { createTimersHandler } from '../../src/lambda/timers-handler.ts';
import { createWakeHandler } from '../../src/lambda/wake-handler.ts';
import { type Probe, probeEntry, readProbe } from '../../src/sqs/probe.ts';
import { captureConsole } from '../support/capture-console.ts';
import { functionSystem, widgetRecord } from './function-system.ts';
import { aContext, anEvent, aRecord } from './invocation.ts';
import { widget } from './widget.ts';

const controller = widget.controller('widget', {
  reconcile: async () => ({ status: { note: 'seen' }, conditions: { Built: { status: 'True', reason: 'Built' } } }),
});
const functions = functionSystem({
  clusters: (entry) => ({
    alpha: entry,
    gone: { server: 'http://127.0.0.1:9', access: { type: 'none' } },
    old: { ...entry, decommissioning: true },
  }),
  environment: { LOG_LEVEL: 'WARN' },
});
const nothingKept = { batchItemFailures: [] };
const aProbe = (path: readonly string[]): Probe => {
  return { v: 1, type: 'probe', id: randomUUID(), from: 'widget', sentAt: Date.now() - 5_000, path: [...path] };
};
const bodyOf = (path: readonly string[]) => probeEntry('timers', aProbe(path)).body;
const answers = (lines: readonly string[]) =>
  lines.map((line) => JSON.parse(line)).filter(({ message }) => message === 'probe answered');

it('a reconcile function answers a probe with what each cluster says, sends it on, and reconciles the rest', async () => {
  await functions.apply('one');
  const { lines, restore } = captureConsole();
  onTestFinished(restore);
  const event = anEvent(aRecord('probe', bodyOf(['timers', 'widget.fifo'])), widgetRecord('one'));
  expect(await createReconcileHandler(controller)(event, aContext())).toEqual(nothingKept);
  const [{ service, probe }] = answers(lines);
  expect(service).toBe('widget');
  expect(probe).toMatchObject({ from: 'widget', left: 2, receiveCount: 1, sender: 'x' });
  expect(probe.tookMs).toBeGreaterThanOrEqual(5_000);
  expect(probe.clusters.map((one: { cluster: string }) => one.cluster).sort()).toEqual(['alpha', 'gone']);
  expect(probe.clusters).toContainEqual(expect.objectContaining({ cluster: 'alpha', user: expect.any(String) }));
  expect(probe.clusters).toContainEqual(
    expect.objectContaining({ cluster: 'gone', error: expect.stringContaining('ECONNREFUSED') }),
  );
  expect(await sentTo('timers')).toEqual([['widget', ['widget.fifo']]]);
  expect((await functions.read('one'))?.status).toMatchObject({ note: 'seen' });
  expect(await functions.deadLetters('widget-dlq.fifo')).toEqual({});
});

it('timers, resync and wake answer a probe, and send it on; where its way ends, nothing is sent', async () => {
  const { lines, restore } = captureConsole();
  onTestFinished(restore);
  const timers = createTimersHandler(['widget']);
  expect(await timers(anEvent(aRecord('a', bodyOf(['widget.fifo']))), aContext())).toEqual(nothingKept);
  expect(await sentTo('widget.fifo')).toEqual([['widget', []]]);
  expect(await timers(anEvent(aRecord('b', bodyOf([]))), aContext())).toEqual(nothingKept);
  const resync = createResyncHandler([controller]);
  expect(await resync(anEvent(aRecord('c', bodyOf(['timers']))), aContext())).toEqual(nothingKept);
  expect(await createWakeHandler([controller])(aProbe(['timers']), aContext())).toEqual({ keys: 0 });
  expect(await sentTo('timers')).toEqual([
    ['widget', []],
    ['widget', []],
  ]);
  expect(answers(lines).map(({ service, probe }) => [service, probe.left])).toEqual([
    ['timers', 1],
    ['timers', 0],
    ['resync', 1],
    ['wake', 1],
  ]);
});

it('a probe that cannot be sent on is answered with the reason, and is not kept', async () => {
  const { lines, restore } = captureConsole();
  onTestFinished(restore);
  const event = anEvent(aRecord('probe', bodyOf(['no-such-queue.fifo'])));
  expect(await createTimersHandler(['widget'])(event, aContext())).toEqual(nothingKept);
  expect(answers(lines)[0].probe.notSent).toEqual({ queue: 'no-such-queue.fifo', reason: expect.any(String) });
});

it('a probe of a watcher asks no cluster, is not sent on, and none is read that would visit a dead-letter queue', async () => {
  const lines: string[] = [];
  const asked: string[] = [];
  const opened = {
    table: { watchers: async () => new Set(['AROAWATCHER']), list: async () => ['alpha'] },
    clusters: { find: async (name: string) => Promise.reject(new Error(asked.push(name).toString())) },
  };
  const send = async (queue: string) => Promise.reject(new Error(`sent to ${queue}`));
  const deps = { log: { ...silentLog, warn: (text: string) => void lines.push(text) }, send, opened };
  const record = { receiveCount: 1, senderId: 'AROAWATCHER:pod' };
  await answerProbe(deps as never, aProbe(['timers', 'widget.fifo']), AbortSignal.timeout(1_000), record);
  expect([lines, asked]).toEqual([['probe refused: a watcher sent it'], []]);
  for (const path of [['widget-dlq.fifo'], ['resync'], ['timers', 'widget.fifo', 'timers']])
    expect(readProbe(JSON.stringify(aProbe(path)))).toBeUndefined();
});

/** Takes the probes on a queue: those of timers wait for their delay. */
async function sentTo(queue: string) {
  const all = (await functions.queues.take(queue)).map((body) => JSON.parse(body));
  return all.filter(({ type }) => type === 'probe').map(({ from, path }) => [from, path]);
}
