// The parts of a dashboard's body that Outrigger uses, from "Dashboard Body Structure and Syntax" of CloudWatch's API
// reference (widgets, metric, text, alarm and log widget objects). It is strict, so that an unknown property is an
// error.
import * as z from 'zod';

const text = z.string().min(1);
/** 24 columns; a widget is at most as wide, and 1 to 1000 high. */
const area = {
  x: z.int().min(0).max(23),
  y: z.int().min(0),
  width: z.int().min(1).max(24),
  height: z.int().min(1).max(1_000),
};

/** A statistic: "CloudWatch statistics definitions" of the user guide. */
export const statistic = z.union([
  z.enum(['SampleCount', 'Sum', 'Average', 'Minimum', 'Maximum']),
  z.string().regex(/^p\d{1,2}(\.\d+)?$/),
]);

/** Namespace, metric, name and value of a dimension, rendering properties. */
const line = z.tuple([
  text,
  text,
  text,
  text,
  z.strictObject({ stat: statistic, label: text.optional(), yAxis: z.enum(['left', 'right']).optional() }),
]);

const metricWidget = z.strictObject({
  ...area,
  type: z.literal('metric'),
  properties: z.strictObject({
    title: text,
    view: z.enum(['timeSeries', 'singleValue', 'gauge', 'bar', 'pie', 'table']),
    /** Seconds: 1, 5, 10, 30 (for high-resolution metrics), or a multiple of 60. */
    period: z.int().multipleOf(60).min(60),
    region: text,
    metrics: z.array(line).min(1).max(500),
  }),
});
const textWidget = z.strictObject({ ...area, type: z.literal('text'), properties: z.strictObject({ markdown: text }) });
const alarmWidget = z.strictObject({
  ...area,
  type: z.literal('alarm'),
  properties: z.strictObject({
    title: text,
    alarms: z
      .array(z.string().regex(/^arn:aws:/))
      .min(1)
      .max(100),
  }),
});
const logWidget = z.strictObject({
  ...area,
  type: z.literal('log'),
  properties: z.strictObject({
    title: text,
    region: text,
    view: z.enum(['table', 'timeSeries', 'bar', 'pie']),
    query: z.string().regex(/^SOURCE '/),
  }),
});

const widget = z
  .discriminatedUnion('type', [metricWidget, textWidget, alarmWidget, logWidget])
  .refine(({ x, width }) => x + width <= 24, 'ends beyond the grid');

/** The body of a dashboard: at most 500 widgets. */
export const dashboardBody = z.strictObject({
  start: z.string().regex(/^-P/).optional(),
  widgets: z.array(widget).max(500),
});

/** A widget. */
export type Widget = z.infer<typeof widget>;
