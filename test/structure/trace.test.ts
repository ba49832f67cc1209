// Only that the trace of one change in ARCHITECTURE.md names existing files, no slivers, and few enough to follow.
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const document = readFileSync('ARCHITECTURE.md', 'utf8');
const trace = /<!-- trace: begin -->(.*)<!-- trace: end -->/s.exec(document)?.[1] ?? '';
const stops = [...trace.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file = '']) => file);

describe('the way of one change in ARCHITECTURE.md', () => {
  it('the trace has at most 14 stops, each another file', () => {
    expect(stops.length).toBeGreaterThan(5);
    expect(stops.length).toBeLessThanOrEqual(14);
    expect(new Set(stops).size).toBe(stops.length);
  });

  it('the trace has no stop in a file that is missing or has fewer than 40 lines', () => {
    const isSliver = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\n').length < 40;
    expect(stops.filter((file) => !existsSync(file) || isSliver(file))).toEqual([]);
  });

  it('the trace has two returns: the result to reconciling, the follow-up message to sqs', () => {
    const returns = [...trace.matchAll(/\*\*Return \d, ([^*]+?)[.:]\*\*/g)].map(([, what]) => what);
    expect(returns).toEqual(['the result to reconciling', 'the follow-up message to sqs']);
  });

  it('the trace leaves a room and comes back only at the two returns', () => {
    const rooms = stops.map((file) => file.split('/')[1] ?? '');
    const visits = rooms.filter((room, index) => room !== rooms[index - 1]);
    expect(visits).toEqual(['kube', 'forwarding', 'sqs', 'lambda', 'reconciling', 'api', 'controllers', 'reconciling']);
  });
});
