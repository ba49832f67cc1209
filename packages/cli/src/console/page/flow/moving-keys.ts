// Moves a dot along the way of each reconcile. One animation frame moves all dots; there are none while nothing
// happens, for readers who asked for less motion, and while the page is hidden.
import type { ObjectEntry } from '../../wire.ts';
import type { Layout } from './layout.ts';

/** More dots than these are not drawn. */
const maxKeys = 120;
const travelMilliseconds = 2_200;
const namespace = 'http://www.w3.org/2000/svg';

type Key = { readonly dot: SVGCircleElement; readonly way: Way; readonly startedAt: number; readonly failed: boolean };
type Way = { readonly path: SVGPathElement; readonly length: number; readonly failsAt: number };

/** Starts moving keys in an SVG with a `g.keys`. */
export function startKeys(
  svg: SVGSVGElement,
  layout: Layout,
  controllers: readonly string[],
): { add(entries: readonly ObjectEntry[]): void; stop(): void } {
  const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');
  const layer = svg.querySelector('g.keys');
  const ways = new Map<string, Way>();
  const keys = new Set<Key>();
  let frame = 0;

  /** The whole way of a key as one path: through the boxes between its parts it is a straight line. */
  const wayOf = (controller: string, fromTimers: boolean): Way | undefined => {
    const name = `${controller} ${fromTimers}`;
    const known = ways.get(name);
    const track = layout.tracks[controllers.indexOf(controller)];
    if (known !== undefined || track === undefined) return known;
    const { queue, function: box } = track;
    const middle = queue.y + queue.h / 2;
    const before = fromTimers ? track.fromTimers : `${layout.toWatcher}${track.fromWatcher.replace('M', 'L')}`;
    const inFunction = `${before}L${box.x + box.w} ${middle}`;
    const measured = (d: string) => {
      const path = document.createElementNS(namespace, 'path');
      path.setAttribute('d', d);
      return path;
    };
    const path = measured(`${inFunction}${track.toCluster.replace('M', 'L')}`);
    const way = { path, length: path.getTotalLength(), failsAt: measured(inFunction).getTotalLength() };
    ways.set(name, way);
    return way;
  };

  const move = (time: number): void => {
    for (const key of keys) {
      const { dot, way, startedAt, failed } = key;
      const part = (time - startedAt) / travelMilliseconds;
      const end = failed ? way.failsAt : way.length;
      if (part >= 1) {
        dot.remove();
        keys.delete(key);
        continue;
      }
      if (part < 0) continue;
      const { x, y } = way.path.getPointAtLength(part * end);
      dot.setAttribute('cx', x.toFixed(1));
      dot.setAttribute('cy', y.toFixed(1));
      dot.setAttribute('opacity', part > 0.94 ? '0.4' : '1');
      if (failed && part > 0.8) dot.setAttribute('class', 'key bad');
    }
    frame = keys.size === 0 ? 0 : requestAnimationFrame(move);
  };

  return {
    add: (entries) => {
      if (reducedMotion.matches || document.hidden || layer === null) return;
      const time = performance.now();
      const runs = entries.filter(({ type }) => type === 'reconcile').slice(-30);
      for (const [index, { controller = '', cause, failed = false }] of runs.entries()) {
        const fromTimers = cause === 'requeue' || cause === 'retry';
        const way = wayOf(controller, fromTimers);
        if (way === undefined || keys.size >= maxKeys) continue;
        const dot = document.createElementNS(namespace, 'circle');
        dot.setAttribute('r', '4.5');
        dot.setAttribute('class', fromTimers ? 'key timer' : 'key');
        dot.setAttribute('opacity', '0');
        layer.append(dot);
        // Keys of one batch leave one after the other, so that they are seen.
        keys.add({ dot, way, startedAt: time + index * 45, failed });
      }
      if (frame === 0 && keys.size > 0) frame = requestAnimationFrame(move);
    },
    stop: () => {
      cancelAnimationFrame(frame);
      for (const { dot } of keys) dot.remove();
    },
  };
}
