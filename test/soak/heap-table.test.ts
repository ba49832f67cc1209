// Only what is concluded from heaps that were measured: that one which grows is found, and one which swings is not.
import { describe, expect, it } from 'vitest';
import { createHeapSamples, type HeapSample } from '../../tools/soak/heap-samples.ts';
import { growing, heapRows } from '../../tools/soak/heap-table.ts';

const samplesOf = (heaps: readonly number[]): readonly HeapSample[] =>
  heaps.map((heap) => ({ part: 'watcher', pid: 7, heap, rss: 100 }));
const verdict = (heaps: readonly number[]) => growing(heapRows(samplesOf(heaps)));

describe('a heap', () => {
  it('is flat when the medians of its first and last third are', () => {
    expect(verdict([20, 20, 90, 20, 20, 20, 21, 20, 80])).toEqual([]);
  });

  it('grows when the last third is more than a tenth above the first', () => {
    expect(verdict([20, 20, 20, 21, 21, 22, 22, 23, 23])).toEqual([expect.stringContaining('from 20.0 to 23.0 MB')]);
  });

  it('is not called flat on a handful of samples', () => {
    expect(verdict([20, 20, 20])).toEqual(['no process has 9 samples']);
  });

  it('is that of one process: one that began later, and holds more, is no growth', () => {
    const later: readonly HeapSample[] = [{ part: 'watcher', pid: 8, heap: 90, rss: 200 }];
    const rows = heapRows([...samplesOf([20, 20, 20, 20, 20, 20, 20, 20, 20]), ...later, ...later]);
    expect(rows).toEqual([{ part: 'watcher', samples: 9, processes: 2, first: 20, last: 20, mostRss: 200 }]);
    expect(growing(rows)).toEqual([]);
  });
});

describe('a process', () => {
  it('is asked only when it has said that it listens, because the signal would end any other', () => {
    const samples = createHeapSamples();
    // Nobody has this number, and whoever is asked would be missed.
    samples.ask([{ name: 'watcher', pids: () => [process.pid] }]);
    expect(samples.hear(process.pid, '{"heapProbe":{"heapUsed":1,"rss":1}}')).toBe(true);
    expect(samples.heard()).toEqual([]);
  });

  it('that lives longest is asked, and what it says is its part’s', () => {
    const samples = createHeapSamples();
    const heard: number[] = [];
    const listener = () => heard.push(process.pid);
    process.on('SIGUSR2', listener);
    try {
      samples.hear(process.pid, '{"heapProbe":{"listens":true}}');
      samples.ask([{ name: 'watcher', pids: () => [process.pid, 1] }]);
      samples.hear(process.pid, '{"heapProbe":{"heapUsed":20000000,"rss":90000000}}');
      expect(samples.hear(process.pid, '{"message":"reconciled"}')).toBe(false);
      expect(samples.heard()).toEqual([{ part: 'watcher', pid: process.pid, heap: 20, rss: 90 }]);
    } finally {
      process.off('SIGUSR2', listener);
    }
  });
});
