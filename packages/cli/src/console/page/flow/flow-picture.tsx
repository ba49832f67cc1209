// The way of keys as a picture: cluster, watcher, queues, functions, and back. Each moving dot is a reconcile that has
// ended.
import { useEffect, useRef } from 'preact/hooks';
import { cutMiddle } from '../../cut-middle.ts';
import type { ControllerFlow, Flow } from '../../wire.ts';
import { age, count, duration, rate } from '../format.ts';
import { allRows, onEntries, toneOrder } from '../store.ts';
import { type Box, layOut, type Track, width } from './layout.ts';
import { startKeys } from './moving-keys.ts';

export function FlowPicture({ of: now }: { readonly of: Flow }) {
  const svg = useRef<SVGSVGElement>(null);
  const { controllers } = now;
  const names = controllers.map(({ name }) => name).join();
  const layout = layOut(controllers.length);
  useEffect(() => {
    if (svg.current === null) return;
    const keys = startKeys(svg.current, layout, names === '' ? [] : names.split(','));
    const remove = onEntries(keys.add);
    return () => {
      remove();
      keys.stop();
    };
  }, [names]);
  return (
    <>
      <div class="picture-scroll" tabIndex={0} role="region" aria-label="Picture of the flow">
        <svg
          ref={svg}
          class="picture-svg"
          viewBox={`0 0 ${width} ${layout.height}`}
          role="img"
          aria-label={summary(controllers)}
        >
          <Heads />
          <path class="way" d={layout.toWatcher} />
          <path class="way back" d={layout.returnLine} />
          {layout.tracks.map((track, index) => (
            <Ways key={controllers[index]?.name} track={track} />
          ))}
          <g class="keys" />
          <Part
            box={layout.cluster}
            title={now.clusters.length > 1 ? 'Clusters' : 'Cluster'}
            lines={[
              now.clusters.length > 1 ? count(now.clusters.length) : (now.clusters[0]?.name ?? '–'),
              `${count(allRows.value.length)} objects`,
              `${rate(now.changesPerSecond)} changes/s`,
            ]}
          />
          <Part box={layout.watcher} title="Watcher" tone={watchersTone(now)} lines={[watchersText(now)]} />
          <Part
            box={layout.timers}
            title="Timers"
            tone={now.waitingTimers === undefined ? 'unknown' : timersTone(now)}
            lines={[now.waitingTimers === undefined ? 'not known' : `${count(now.waitingTimers)} waiting`]}
          />
          {layout.tracks.map((track, index) => {
            const controller = controllers[index];
            return controller === undefined ? null : (
              <TrackBoxes key={controller.name} track={track} controller={controller} at={now.at} />
            );
          })}
        </svg>
      </div>
      <p class="legend">
        <span class="key-dot" aria-hidden="true" /> a reconcile because of a change
        <span class="key-dot timer" aria-hidden="true" /> a requeue or a retry
        <span class="key-dot bad" aria-hidden="true" /> a failure
      </p>
    </>
  );
}

/** The clusters whose watchers are seen. */
function watchersText({ clusters }: Flow): string {
  const seen = clusters.filter(({ health: { state } }) => state === 'working' || state === 'paused');
  return clusters.length === 1
    ? (clusters[0]?.health.text ?? '–')
    : `${count(seen.length)} of ${count(clusters.length)} up`;
}

/** Of a stage: whether the function of the timers works. */
function timersTone({ shared = [] }: Flow): string {
  return shared.find(({ name }) => name === 'timers')?.health.tone ?? '';
}

function watchersTone({ clusters }: Flow): string {
  return toneOrder.slice(0, 2).find((tone) => clusters.some(({ health }) => health.tone === tone)) ?? '';
}

function Heads() {
  return (
    <g class="heads">
      <text x={512} y={18}>
        Queues
      </text>
      <text x={828} y={18}>
        Functions
      </text>
    </g>
  );
}

function Part({
  box: { x, y, w, h },
  title,
  lines,
  tone = '',
}: {
  box: Box;
  title: string;
  lines: readonly string[];
  tone?: string;
}) {
  return (
    <g class={`part ${tone}`}>
      <rect x={x} y={y} width={w} height={h} rx={10} />
      <text class="part-title" x={x + 16} y={y + 27}>
        {title}
      </text>
      {lines.map((line, index) => (
        <text key={line} class="part-line" x={x + 16} y={y + 49 + index * 20}>
          {line}
        </text>
      ))}
    </g>
  );
}

function Ways({ track }: { readonly track: Track }) {
  return (
    <g>
      <path class="way" d={track.fromWatcher} />
      <path class="way faint" d={track.fromTimers} />
      <path class="way" d={track.toFunction} />
      <path
        class="way"
        d={`M${track.function.x + track.function.w} ${track.function.y + track.function.h / 2}H1170q10 0 10 10`}
      />
    </g>
  );
}

/** A queue with this many messages is drawn full. */
const fullQueue = 50;

function TrackBoxes({
  track,
  controller,
  at,
}: {
  readonly track: Track;
  readonly controller: ControllerFlow;
  readonly at: number;
}) {
  const { name, queued, inFlight = 0, deadLetters = 0, reconcilesPerSecond, health, p50Ms, oldestAt } = controller;
  // A message that was sent just now is no news.
  const oldestMs = oldestAt === undefined ? 0 : at - oldestAt;
  const oldest = oldestMs < 2_000 ? '' : `${age(oldestMs)} · `;
  const waiting = queued === undefined ? 'not known' : `${oldest}${count(queued)}`;
  const { queue, function: box } = track;
  const fill = Math.min(1, (queued ?? 0) / fullQueue) * (queue.w - 4);
  const tone = health.tone !== 'good' ? health.tone : inFlight > 0 ? 'busy' : '';
  const middle = queue.y + 22;
  return (
    <g>
      <g class={`track-queue ${queued === undefined ? 'unknown' : ''}`}>
        <rect x={queue.x} y={queue.y} width={queue.w} height={queue.h} rx={8} />
        {fill > 0 && <rect class="fill" x={queue.x + 2} y={queue.y + 2} width={fill} height={queue.h - 4} rx={6} />}
        <text class="track-name" x={queue.x + 12} y={middle}>
          <title>{name}</title>
          {cutMiddle(name, 28 - waiting.length)}
        </text>
        <text class="track-count" x={queue.x + queue.w - 12} y={middle}>
          {waiting}
        </text>
      </g>
      {deadLetters > 0 && (
        <g class="letters">
          <rect x={queue.x + queue.w + 4} y={queue.y + 6} width={68} height={22} rx={11} />
          <text x={queue.x + queue.w + 38} y={middle - 1}>
            {deadLetters > 999 ? '999+' : deadLetters} dead
          </text>
        </g>
      )}
      <g class={`track-function ${tone}`}>
        <rect x={box.x} y={box.y} width={box.w} height={box.h} rx={8} />
        <circle class="lamp" cx={box.x + 16} cy={box.y + box.h / 2} r={4} />
        <text class="track-name" x={box.x + 30} y={middle}>
          <title>{name}</title>
          {cutMiddle(name, 17)}
        </text>
        <text class="track-figure" x={box.x + 205} y={middle}>
          {rate(reconcilesPerSecond)}/s
        </text>
        <text class="track-figure" x={box.x + box.w - 12} y={middle}>
          {health.state === 'working' ? `lag ${duration(p50Ms)}` : health.state}
        </text>
      </g>
    </g>
  );
}

/** The picture in words. */
function summary(controllers: readonly ControllerFlow[]): string {
  return controllers
    .map(({ name, queued, inFlight, reconcilesPerSecond }) => {
      const keys = `${count(queued)} waiting, ${count(inFlight)} in flight`;
      return `${name}: ${keys}, ${rate(reconcilesPerSecond)} reconciles a second`;
    })
    .join('; ');
}
