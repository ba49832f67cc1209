// One picture of a figure: a panel for each row of its table, in it a bar for ours, for each peer and for the goal. Panels have scales of
// their own, because rows have units of their own. Drawn by ECharts without a browser.
import { BarChart, type BarSeriesOption } from 'echarts/charts';
import { GridComponent, type GridComponentOption, TitleComponent, type TitleComponentOption } from 'echarts/components';
import { type ComposeOption, init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { said } from './compare.ts';
import type { Beside, Row } from './row.ts';

type Option = ComposeOption<BarSeriesOption | GridComponentOption | TitleComponentOption>;
type Bar = { readonly name: string; readonly value: number; readonly label: string; readonly color: string };

const width = 900;
const left = 260;
const barHeight = 20;
const titleHeight = 34;
const colors = { ours: '#2458a6', peer: '#9aa5b1', goal: '#e3b341' };

/** Draws the rows of one figure as SVG; undefined when none of them has numbers to draw. */
export function drawChart(rows: readonly Row[]): string | undefined {
  const panels = rows.map((row) => ({ title: row.what, bars: barsOf(row) })).filter(({ bars }) => bars.length > 0);
  if (panels.length === 0) return undefined;
  use([BarChart, GridComponent, TitleComponent, SVGRenderer]);
  const tops = panels.map((_, index) =>
    panels.slice(0, index).reduce((sum, { bars }) => sum + titleHeight + bars.length * barHeight, 0),
  );
  const height = panels.reduce((sum, { bars }) => sum + titleHeight + bars.length * barHeight, 10);
  const option: Option = {
    animation: false,
    backgroundColor: '#ffffff',
    title: panels.map(({ title }, index) => ({
      ...{ text: title, left: 8, top: (tops[index] ?? 0) + 8, textStyle: { fontSize: 13, fontWeight: 'bold' } },
    })),
    grid: panels.map(({ bars }, index) => ({
      ...{ left, right: 200, top: (tops[index] ?? 0) + titleHeight, height: bars.length * barHeight },
    })),
    xAxis: panels.map((_, gridIndex) => ({ type: 'value', gridIndex, show: false, min: 0 })),
    yAxis: panels.map(({ bars }, gridIndex) => ({
      ...{ type: 'category', gridIndex, inverse: true, data: bars.map(({ name }) => name) },
      axisTick: { show: false },
      axisLabel: { width: left - 16, overflow: 'truncate', fontSize: 12 },
    })),
    series: panels.map(({ bars }, index) => ({
      ...{ type: 'bar', xAxisIndex: index, yAxisIndex: index, barWidth: barHeight - 6 },
      data: bars.map(({ value, label, color }) => ({
        ...{ value, itemStyle: { color } },
        label: { show: true, position: 'right', formatter: label.replaceAll(/[{}]/g, '') },
      })),
    })),
  };
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  chart.setOption(option);
  const svg = chart.renderToSVGString();
  chart.dispose();
  return named(svg);
}

/** The library counts its names through all charts of a process: a chart that has not changed would be another text in each run. */
function named(svg: string): string {
  const names = new Map<string, string>();
  return svg.replaceAll(/zr\d+-cls-\d+/g, (name) => {
    const own = names.get(name) ?? `chart-${names.size}`;
    names.set(name, own);
    return own;
  });
}

/** Ours first. A text counts where it begins with a number, and beside ours where it has the same unit. */
function barsOf({ ours, peer = '', goal, beside }: Row): readonly Bar[] {
  if (beside !== undefined) return beside.flatMap((one, index) => barOf(one, index === 0));
  const own = numberIn(ours);
  if (own === undefined) return [];
  const others = [
    { name: 'beside', text: peer, color: colors.peer },
    { name: 'goal', text: goal, color: colors.goal },
  ].flatMap(({ name, text, color }) => {
    const found = numberIn(text.replace(/^[<>]=? ?/, ''));
    return found?.unit === own.unit ? [{ name, value: found.value, label: text, color }] : [];
  });
  return [{ name: 'ours', value: own.value, label: ours, color: colors.ours }, ...others];
}

function barOf(one: Beside, isOurs: boolean): readonly Bar[] {
  const color = isOurs ? colors.ours : colors.peer;
  // One that has nothing to show is there with the reason.
  return [{ name: one.name, value: one.spread?.median ?? 0, label: said(one), color }];
}

function numberIn(text: string): { readonly value: number; readonly unit: string } | undefined {
  const [, digits, unit = ''] = /^\$?([\d,]+(?:\.\d+)?) ?([^\s;,(]*)/.exec(text) ?? [];
  return digits === undefined ? undefined : { value: Number(digits.replaceAll(',', '')), unit };
}
