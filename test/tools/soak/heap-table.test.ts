// Only the evaluation of measured heaps: a heap that grows is reported, and one that varies is not.
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { createHeapSamples, type HeapSample } from '../../../tools/soak/heap-samples.ts';
import { growingHeaps, heapRows } from '../../../tools/soak/heap-table.ts';

const samplesOf = (heaps: readonly number[]): readonly HeapSample[] =>
  heaps.map((heap) => ({ part: 'watcher', pid: 7, heap, rss: 100 }));
const growingIn = (heaps: readonly number[]) => growingHeaps(heapRows(samplesOf(heaps)));

it.each([
  ['nothing of equal medians of the first and the last third', [20, 20, 90, 20, 20, 20, 21, 20, 80], []],
  ['a last third a tenth above the first', [20, 20, 20, 21, 21, 22, 22, 23, 23], [/from 20.0 to 23.0 MB/]],
  ['too few samples', [20, 20, 20], [/^no process has 9 samples$/]],
])('growingHeaps reports %s', (_, heaps, found) => {
  expect(growingIn(heaps)).toEqual(found.map((pattern) => expect.stringMatching(pattern)));
});

it('heapRows uses the samples of one process, so a later process with a larger heap is not growth', () => {
  const later: readonly HeapSample[] = [{ part: 'watcher', pid: 8, heap: 90, rss: 200 }];
  const rows = heapRows([...samplesOf([20, 20, 20, 20, 20, 20, 20, 20, 20]), ...later, ...later]);
  expect(rows).toEqual([{ part: 'watcher', samples: 9, processes: 2, first: 20, last: 20, maxRss: 200 }]);
  expect(growingHeaps(rows)).toEqual([]);
});

it('HeapSamples.request signals only processes that listen, because the signal ends any other', () => {
  const samples = createHeapSamples();
  // This process does not listen for SIGUSR2: a signal would end the test.
  samples.request([{ name: 'watcher', pids: () => [process.pid] }]);
  expect(samples.readLine(process.pid, '{"heapProbe":{"heapUsed":1,"rss":1}}')).toBe(true);
  expect(samples.samples()).toEqual([]);
});

it('HeapSamples.request signals the oldest process of a part, and its sample belongs to the part', async () => {
  const samples = createHeapSamples();
  const signalled = once(process, 'SIGUSR2');
  samples.readLine(process.pid, '{"heapProbe":{"listens":true}}');
  samples.request([{ name: 'watcher', pids: () => [process.pid, 1] }]);
  await signalled;
  samples.readLine(process.pid, '{"heapProbe":{"heapUsed":20000000,"rss":90000000}}');
  expect(samples.readLine(process.pid, '{"message":"reconciled"}')).toBe(false);
  expect(samples.samples()).toEqual([{ part: 'watcher', pid: process.pid, heap: 20, rss: 90 }]);
});
