// One chart for a figure: a panel for each row of its table, with a bar for Outrigger, each peer and the goal. Each
// panel has its own scale, because rows have different units. Drawn by ECharts without a browser.
import { BarChart } from 'echarts/charts';
import { GridComponent, TitleComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { formatSpread } from './compare.ts';
import type { Comparison, Row } from './row.ts';

type Bar = { readonly name: string; readonly value: number; readonly label: string; readonly color: string };

const width = 900;
const left = 260;
const barHeight = 20;
const titleHeight = 34;
const colors = { ours: '#2458a6', peer: '#9aa5b1', goal: '#e3b341' };

/** Draws the rows of one figure as SVG; undefined when none of them has numbers. */
export function drawChart(rows: readonly Row[]): string | undefined {
  const panels = rows.map((row) => ({ title: row.what, bars: barsOf(row) })).filter(({ bars }) => bars.length > 0);
  if (panels.length === 0) return undefined;
  use([BarChart, GridComponent, TitleComponent, SVGRenderer]);
  const tops = panels.map((_, index) =>
    panels.slice(0, index).reduce((sum, { bars }) => sum + titleHeight + bars.length * barHeight, 0),
  );
  const height = panels.reduce((sum, { bars }) => sum + titleHeight + bars.length * barHeight, 10);
  const option = {
    animation: false,
    backgroundColor: '#ffffff',
    title: panels.map(({ title }, index) => ({
      text: title,
      left: 8,
      top: (tops[index] ?? 0) + 8,
      textStyle: { fontSize: 13, fontWeight: 'bold' },
    })),
    grid: panels.map(({ bars }, index) => ({
      left,
      right: 200,
      top: (tops[index] ?? 0) + titleHeight,
      height: bars.length * barHeight,
    })),
    xAxis: panels.map((_, gridIndex) => ({ type: 'value', gridIndex, show: false, min: 0 })),
    yAxis: panels.map(({ bars }, gridIndex) => ({
      type: 'category',
      gridIndex,
      inverse: true,
      data: bars.map(({ name }) => name),
      axisTick: { show: false },
      axisLabel: { width: left - 16, overflow: 'truncate', fontSize: 12 },
    })),
    series: panels.map(({ bars }, index) => ({
      type: 'bar',
      xAxisIndex: index,
      yAxisIndex: index,
      barWidth: barHeight - 6,
      data: bars.map(({ value, label, color }) => ({
        value,
        itemStyle: { color },
        label: { show: true, position: 'right', formatter: label.replaceAll(/[{}]/g, '') },
      })),
    })),
  };
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  chart.setOption(option);
  const svg = chart.renderToSVGString();
  chart.dispose();
  return renumberIds(svg);
}

/**
 * Renames the ids of the SVG: the library numbers them across all charts of a process, so an unchanged chart would
 * differ in each run.
 */
function renumberIds(svg: string): string {
  const names = new Map<string, string>();
  return svg.replaceAll(/zr\d+-cls-\d+/g, (name) => {
    const own = names.get(name) ?? `chart-${names.size}`;
    names.set(name, own);
    return own;
  });
}

/** Outrigger first. A text counts if it begins with a number; a comparison counts if it has the same unit. */
function barsOf({ ours, peer = '', goal, comparisons }: Row): readonly Bar[] {
  if (comparisons !== undefined) return comparisons.flatMap((one, index) => barOf(one, index === 0));
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

function barOf(one: Comparison, isOurs: boolean): readonly Bar[] {
  const color = isOurs ? colors.ours : colors.peer;
  // A comparison without a value is shown with its failure.
  return [{ name: one.name, value: one.spread?.median ?? 0, label: formatSpread(one), color }];
}

function numberIn(text: string): { readonly value: number; readonly unit: string } | undefined {
  const [, digits, unit = ''] = /^\$?([\d,]+(?:\.\d+)?) ?([^\s;,(]*)/.exec(text) ?? [];
  return digits === undefined ? undefined : { value: Number(digits.replaceAll(',', '')), unit };
}
