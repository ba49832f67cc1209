// What the charts use of ECharts. Its own declarations are in bench/node_modules, which `npm ci` does not install, and
// the types are checked without it.
declare module 'echarts/charts' {
  export const BarChart: object;
  export const LineChart: object;
}
declare module 'echarts/components' {
  export const GridComponent: object;
  export const LegendComponent: object;
  export const TitleComponent: object;
}
declare module 'echarts/renderers' {
  export const SVGRenderer: object;
}
declare module 'echarts/core' {
  type Chart = { setOption(option: object): void; renderToSVGString(): string; dispose(): void };
  export function use(parts: readonly object[]): void;
  export function init(
    element: null,
    theme: null,
    options: { readonly renderer: 'svg'; readonly ssr: true; readonly width: number; readonly height: number },
  ): Chart;
}
