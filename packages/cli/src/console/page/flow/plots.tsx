// Rates, lag and messages over the last minutes, drawn by uPlot on canvases, with a table of the latest figures.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { clock, count, duration, rate } from '../format.ts';
import { type Plots as AllPlots, plots } from '../store.ts';
import { isDark } from '../theme.ts';

type Line = { readonly name: keyof AllPlots; readonly label: string; readonly color: string };
type Plot = {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly format: (value: number | null) => string;
};

const all: readonly Plot[] = [
  {
    title: 'Reconciles per second',
    lines: [
      { name: 'reconciles', label: 'all', color: '--plot-1' },
      { name: 'failures', label: 'failed', color: '--bad' },
    ],
    format: rate,
  },
  {
    title: 'Lag from change to status',
    lines: [
      { name: 'p50', label: 'median', color: '--plot-1' },
      { name: 'p99', label: 'p99', color: '--plot-2' },
    ],
    format: duration,
  },
  {
    title: 'Messages',
    lines: [
      { name: 'waiting', label: 'waiting', color: '--plot-1' },
      { name: 'inFlight', label: 'in flight', color: '--plot-2' },
      { name: 'timers', label: 'timers', color: '--plot-3' },
    ],
    format: count,
  },
];

export function Plots() {
  return (
    <div class="plots">
      {all.map((plot) => (
        <PlotCard key={plot.title} plot={plot} />
      ))}
    </div>
  );
}

function PlotCard({ plot: { title, lines, format } }: { readonly plot: Plot }) {
  const data = plots.value;
  const latest = (name: keyof AllPlots) => data?.[name].at(-1) ?? null;
  return (
    <section class="card plot" aria-label={title}>
      <header class="card-head">
        <h2>{title}</h2>
        <ul class="plot-legend">
          {lines.map(({ name, label, color }) => (
            <li key={name}>
              <span class={`swatch ${color.slice(2)}`} aria-hidden="true" />
              {label} <strong>{format(latest(name))}</strong>
            </li>
          ))}
        </ul>
      </header>
      <Canvas title={title} lines={lines} format={format} />
    </section>
  );
}

const height = 150;

function Canvas({ lines, format }: Plot) {
  const holder = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(null);
  const dark = isDark.value;
  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const created = new uPlot(optionsOf(lines, format, element.clientWidth), [[], ...lines.map(() => [])], element);
    chart.current = created;
    draw(created, lines, plots.peek());
    const resize = new ResizeObserver(() => created.setSize({ width: element.clientWidth, height }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      created.destroy();
    };
  }, [dark]);
  const data = plots.value;
  useEffect(() => {
    if (chart.current !== null) draw(chart.current, lines, data);
  }, [data]);
  return <div ref={holder} class="plot-canvas" aria-hidden="true" />;
}

function draw(chart: uPlot, lines: readonly Line[], data: AllPlots | undefined): void {
  if (data === undefined) return;
  const mutable = (one: readonly (number | null)[]) => [...one];
  const times = data.at.map((time) => time ?? 0);
  chart.setData([times, ...lines.map(({ name }) => mutable(data[name]))]);
}

function optionsOf(lines: readonly Line[], format: Plot['format'], width: number): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: color('--muted'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
    font: '11px Inter, system-ui, sans-serif',
  };
  return {
    width,
    height,
    // A time at the right edge is as wide as this on each side.
    padding: [null, 24, null, null],
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.15)] } },
    series: [
      {},
      ...lines.map(({ color: name }, index) => ({
        stroke: color(name),
        width: 1.75,
        points: { show: false },
        ...(index === 0 ? { fill: `${color(name)}22` } : {}),
      })),
    ],
    axes: [
      { ...axis, space: 90, size: 26, values: (_, times) => times.map((time) => clock(time * 1000)) },
      { ...axis, size: 52, space: 34, values: (_, values) => values.map((value) => format(value)) },
    ],
  };
}
