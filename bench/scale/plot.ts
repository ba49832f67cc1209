// The plot of docs/scale.md, drawn by ECharts without a browser.
import { LineChart } from 'echarts/charts';
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import type { Drain } from './drain.ts';

/** A drain, and how many objects it has in all. */
export type Line = { readonly clusters: number; readonly drain: Drain; readonly all: number };

/** Draws the share of objects that are done over time. */
export function drawProgress(lines: readonly Line[]): string {
  use([LineChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 900, height: 360 });
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    color: ['#2458a6', '#e3b341', '#9a3324'],
    title: { text: 'Objects done, with 1,000 batches at a time', left: 8, top: 8, textStyle: { fontSize: 14 } },
    legend: { top: 8, right: 16 },
    grid: { left: 64, right: 32, top: 56, bottom: 48 },
    xAxis: { type: 'log', name: 'seconds', nameLocation: 'middle', nameGap: 28, min: 1 },
    yAxis: { type: 'value', name: '% done', min: 0, max: 100 },
    series: lines.map(({ clusters, drain, all }) => ({
      type: 'line',
      name: `${clusters.toLocaleString('en-US')} clusters`,
      showSymbol: false,
      data: progress(drain, all),
    })),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg.replaceAll(/zr\d+-/g, 'scale-');
}

/** At most some two hundred points. */
function progress({ done }: Drain, all: number): readonly (readonly [number, number])[] {
  const step = Math.max(1, Math.floor(done.length / 200));
  let sum = 0;
  return done.flatMap(({ second, objects: count }, index) => {
    sum += count;
    return index % step === 0 || index === done.length - 1 ? [[second + 1, (100 * sum) / all] as const] : [];
  });
}
