// A graph of the dashboard, as CloudWatch wants it: "Properties of a Metric Widget Object" in the API reference.
import type { Json, JsonObject } from './json.ts';

/** Where a widget is, on a grid of 24 columns. */
export type Area = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

/** A line in a graph: namespace, name, dimension, its value. */
export type Line = {
  readonly metric: readonly [string, string, string, string];
  readonly stat: string;
  readonly label?: string;
  /** Measured on the axis at the right: another unit than the rest. */
  readonly right?: boolean;
};

/** The region of the deployment; filled in by Fn::Sub. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: for Fn::Sub
export const region = '${AWS::Region}';

const periodSeconds = 60;

/** Makes a graph, to be put somewhere. */
export function metricWidget(title: string, lines: readonly Line[]): (area: Area) => JsonObject {
  const metrics = lines.map(({ metric, stat, label, right = false }): Json => {
    const more = { ...(label === undefined ? {} : { label }), ...(right ? { yAxis: 'right' } : {}) };
    return [...metric, { stat, ...more }];
  });
  const properties = { title, view: 'timeSeries', period: periodSeconds, region, metrics };
  return (area) => ({ type: 'metric', ...area, properties });
}
