// The picture of the flow: where its parts are, and where a key is at a time. The elements of the SVG are fakes that
// follow the corners of a path. Excluded: what a browser draws (test/console/browser).

import { type Box, layOut, width } from '@outrigger/cli/console/page/flow/layout';
import { startKeys } from '@outrigger/cli/console/page/flow/moving-keys';
import type { ObjectEntry } from '@outrigger/cli/console/wire';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

type Point = { readonly x: number; readonly y: number };
const leftOf = ({ x, y, h }: Box): Point => ({ x, y: y + h / 2 });
const rightOf = ({ x, y, w, h }: Box): Point => ({ x: x + w, y: y + h / 2 });
const bottomOf = ({ x, y, w, h }: Box): Point => ({ x: x + w / 2, y: y + h });

/** The corners of a path; a curve is the straight line to its end. */
function cornersOf(d: string): readonly Point[] {
  const corners: Point[] = [];
  for (const [, command = '', text = ''] of d.matchAll(/([A-Z])([^A-Z]*)/g)) {
    const [last = 0, before = 0] = text.split(' ').map(Number).toReversed();
    const { x, y } = corners.at(-1) ?? { x: 0, y: 0 };
    corners.push(command === 'H' ? { x: last, y } : command === 'V' ? { x, y: last } : { x: before, y: last });
  }
  return corners;
}
const endsOf = (d: string) => [cornersOf(d)[0], cornersOf(d).at(-1)];
const isInside = ({ x, y }: Point, height: number) => x > 0 && y > 0 && x < width && y < height;

it.each([0, 1, 4, 5, 17])('with %d controllers no parts overlap, and the ways go from edge to edge', (count) => {
  const { height, cluster, watcher, timers, toWatcher, returnLine, tracks } = layOut(count);
  const boxes = [cluster, watcher, timers, ...tracks.flatMap((track) => [track.queue, track.function])];
  for (const [index, { x, y, w, h }] of boxes.entries()) {
    expect(isInside({ x, y }, height) && isInside({ x: x + w, y: y + h }, height)).toBe(true);
    for (const other of boxes.slice(index + 1))
      expect(x + w < other.x || other.x + other.w < x || y + h < other.y || other.y + other.h < y).toBe(true);
  }
  expect(endsOf(toWatcher)).toEqual([expect.objectContaining({ x: rightOf(cluster).x }), leftOf(watcher)]);
  expect(tracks).toHaveLength(count);
  for (const { queue, function: box, ...ways } of tracks) {
    expect(endsOf(ways.fromWatcher)).toEqual([rightOf(watcher), leftOf(queue)]);
    expect(endsOf(ways.fromTimers)).toEqual([rightOf(timers), leftOf(queue)]);
    expect(endsOf(ways.toFunction)).toEqual([rightOf(queue), leftOf(box)]);
    expect(endsOf(ways.toCluster)).toEqual([rightOf(box), bottomOf(cluster)]);
  }
  const corners = [returnLine, ...tracks.map(({ toCluster }) => toCluster)].flatMap(cornersOf);
  expect(corners.filter((corner) => !isInside(corner, height))).toEqual([]);
});

/** An element of the SVG. A path has a length of one from each corner to the next. */
function createElement() {
  const values: Record<string, string> = {};
  const element = {
    values,
    setAttribute: (name: string, value: string) => Object.assign(values, { [name]: value }),
    remove: () => layer.delete(element),
    getTotalLength: () => cornersOf(values.d ?? '').length - 1,
    getPointAtLength: (at: number) => cornersOf(values.d ?? '')[Math.round(at)],
  };
  return element;
}
const layer = new Set<ReturnType<typeof createElement>>();
const layout = layOut(2);
const [, pump = expect.fail()] = layout.tracks;
const page = { hidden: false, createElementNS: createElement };
const motion = { matches: false };
const dots = () =>
  [...layer].map(({ values: { cx, cy, opacity, ...values } }) => ({
    at: { x: Number(cx), y: Number(cy) },
    class: values.class,
    isVisible: opacity !== '0',
  }));
const start = () =>
  startKeys({ querySelector: () => ({ append: (dot: never) => layer.add(dot) }) } as never, layout, ['tank', 'pump']);
const reconcile = (fields: Partial<ObjectEntry> = {}): ObjectEntry => ({
  at: 0,
  id: 'lab:tanks/default/north',
  type: 'reconcile',
  text: '',
  controller: 'pump',
  cause: 'change',
  ...fields,
});

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.stubGlobal('document', page);
  vi.stubGlobal('matchMedia', () => motion);
  vi.stubGlobal('requestAnimationFrame', (draw: (time: number) => void) =>
    Number(setTimeout(() => draw(performance.now()), 1)),
  );
  vi.stubGlobal('cancelAnimationFrame', clearTimeout);
});
afterEach(() => {
  layer.clear();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const [cluster = expect.fail()] = endsOf(layout.toWatcher);
const timers = rightOf(layout.timers);
const written = bottomOf(layout.cluster);
const failing = { failed: true } as const;
it.each([
  ['change', {}, cluster, written, 'key'],
  ['change', failing, cluster, rightOf(pump.function), 'key bad'],
  ['requeue', {}, timers, written, 'key timer'],
  ['retry', failing, timers, rightOf(pump.function), 'key bad'],
] as const)('a key of a %s %j goes from its sender to its end, and is gone after that', (cause, result, from, to, end) => {
  start().add([reconcile({ cause, ...result })]);
  vi.advanceTimersByTime(1);
  expect(dots()).toEqual([{ at: from, class: from === timers ? 'key timer' : 'key', isVisible: true }]);
  vi.advanceTimersByTime(2_198);
  expect(dots()).toEqual([{ at: to, class: end, isVisible: true }]);
  vi.advanceTimersByTime(1);
  expect([dots(), vi.getTimerCount()]).toEqual([[], 0]);
});

it('the keys of a batch leave one after the other, the newest 30 of it, and 120 in all', () => {
  const keys = start();
  keys.add([reconcile({ type: 'change' }), reconcile(), reconcile(), reconcile({ controller: 'gone' })]);
  vi.advanceTimersByTime(44);
  expect(dots().map(({ isVisible }) => isVisible)).toEqual([true, false]);
  vi.advanceTimersByTime(1);
  expect(dots().map(({ isVisible }) => isVisible)).toEqual([true, true]);
  const sizes = [100, 30, 30, 30].map((size) => {
    keys.add(Array.from({ length: size }, () => reconcile()));
    return layer.size;
  });
  expect(sizes).toEqual([32, 62, 92, 120]);
  keys.stop();
  expect([dots(), vi.getTimerCount()]).toEqual([[], 0]);
});

it.each([
  ['for a person who asked for less motion', motion, 'matches'],
  ['while the page is hidden', page, 'hidden'],
])('no key moves %s', (_, target, field) => {
  Object.assign(target, { [field]: true });
  start().add([reconcile()]);
  Object.assign(target, { [field]: false });
  expect([dots(), vi.getTimerCount()]).toEqual([[], 0]);
});
