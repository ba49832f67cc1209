// Where the parts of the picture are, and the ways between them. Pure. Units are those of the SVG's viewBox.

export const width = 1240;
const trackHeight = 46;
const top = 34;

/** A box of the picture. */
export type Box = { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
/** The track of one controller: its queue, its function, and the ways that keys take. */
export type Track = {
  readonly queue: Box;
  readonly function: Box;
  /** To the queue from the watcher and from the timers, to the function, and back to the cluster. */
  readonly fromWatcher: string;
  readonly fromTimers: string;
  readonly toFunction: string;
  readonly toCluster: string;
};
export type Layout = {
  readonly height: number;
  readonly cluster: Box;
  readonly watcher: Box;
  readonly timers: Box;
  readonly toWatcher: string;
  /** The line on which the writes of all functions return. */
  readonly returnLine: string;
  readonly tracks: readonly Track[];
};

const queueX = 512;
const queueWidth = 240;
const functionX = 828;
const functionWidth = 308;
const busX = 1180;

/** Places the tracks of `count` controllers. */
export function layOut(count: number): Layout {
  const tracksHeight = Math.max(4, count) * trackHeight;
  const height = top + tracksHeight + 46;
  const middle = top + tracksHeight / 2;
  const cluster: Box = { x: 16, y: middle - 62, w: 160, h: 124 };
  const watcher: Box = { x: 256, y: middle - 80, w: 150, h: 66 };
  const timers: Box = { x: 256, y: middle + 18, w: 150, h: 66 };
  const bottom = height - 18;
  const clusterX = cluster.x + cluster.w / 2;
  const first = top + (tracksHeight - count * trackHeight) / 2;
  const backTop = cluster.y + cluster.h;
  // Down to the bottom, left, and up to the cluster.
  const corner = `Q${busX} ${bottom} ${busX - 12} ${bottom}`;
  const back = `V${bottom - 12}${corner}H${clusterX + 12}Q${clusterX} ${bottom} ${clusterX} ${bottom - 12}`;
  const tracks = Array.from({ length: count }, (_, index): Track => {
    const y = first + index * trackHeight + trackHeight / 2;
    const queue: Box = { x: queueX, y: y - 17, w: queueWidth, h: 34 };
    const box: Box = { x: functionX, y: y - 17, w: functionWidth, h: 34 };
    return {
      queue,
      function: box,
      fromWatcher: curve(watcher.x + watcher.w, watcher.y + watcher.h / 2, queueX, y),
      fromTimers: curve(timers.x + timers.w, timers.y + timers.h / 2, queueX, y),
      toFunction: `M${queueX + queueWidth} ${y}H${functionX}`,
      toCluster: `M${functionX + functionWidth} ${y}H${busX - 10}Q${busX} ${y} ${busX} ${y + 10}${back}V${backTop}`,
    };
  });
  return {
    height,
    cluster,
    watcher,
    timers,
    tracks,
    toWatcher: curve(cluster.x + cluster.w, middle - 30, watcher.x, watcher.y + watcher.h / 2),
    returnLine: `M${busX} ${first + trackHeight / 2 + 10}${back}V${backTop + 5}`,
  };
}

function curve(x1: number, y1: number, x2: number, y2: number): string {
  const half = (x1 + x2) / 2;
  return `M${x1} ${y1}C${half} ${y1} ${half} ${y2} ${x2} ${y2}`;
}
