// The metrics that the console looks at, held against those that somebody writes: AWS for queues and functions, ours for the rest.
import * as z from 'zod';
import { registry } from '../../src/controllers/registry.ts';
import { type Emissions, emitting } from '../lambda/emissions.ts';
import { statistic } from './dashboard-body.ts';

/** What AWS keeps for queues and functions, and which statistics mean something. From "Available CloudWatch metrics for Amazon SQS". */
const queueMetrics: Readonly<Record<string, readonly string[]>> = {
  ApproximateAgeOfOldestMessage: ['Maximum', 'Average'],
  ApproximateNumberOfMessagesVisible: ['Maximum', 'Average'],
  ApproximateNumberOfMessagesDelayed: ['Maximum', 'Average'],
  NumberOfMessagesDeleted: ['Sum'],
};
/** From "Types of metrics for Lambda functions". */
const functionMetrics: Readonly<Record<string, readonly string[]>> = {
  Invocations: ['Sum'],
  Errors: ['Sum'],
  Throttles: ['Sum'],
  Duration: ['p50', 'p99', 'Maximum', 'Average'],
};
/** By the unit in which a metric of ours is written. */
const ownStatistics: Readonly<Record<string, readonly string[]>> = {
  Count: ['Sum', 'Maximum'],
  Milliseconds: ['p50', 'p99', 'Maximum'],
};

const dimension = z.object({ Name: z.string(), Value: z.string() });
const looked = { Namespace: z.string(), MetricName: z.string(), Dimensions: z.array(dimension).length(1) };
/** An alarm as the template has it. */
export const alarmShape = z.object({
  AlarmName: z.string(),
  AlarmDescription: z.string().max(1_024),
  Threshold: z.number(),
  EvaluationPeriods: z.int().min(1),
  TreatMissingData: z.enum(['breaching', 'notBreaching']),
  AlarmActions: z.array(z.string()).min(1),
  OKActions: z.array(z.string()).min(1),
  ...z.object({ ...looked, Statistic: statistic, Period: z.int().multipleOf(60) }).partial().shape,
  Metrics: z
    .array(
      z.object({
        Id: z.string(),
        Expression: z.string().optional(),
        MetricStat: z.object({ Metric: z.object(looked), Stat: statistic, Period: z.int().multipleOf(60) }).optional(),
      }),
    )
    .optional(),
});
export type Alarm = z.infer<typeof alarmShape>;

/** One metric that somebody looks at. */
export type Look = { readonly where: string; readonly metric: readonly string[]; readonly stat: string };

/** Who writes metrics. */
export type Writers = {
  readonly queues: readonly string[];
  readonly functions: readonly string[];
  readonly emissions: Emissions;
};

/** What is wrong with a look at a metric; undefined when it is written so. */
export function problem(
  { metric: [namespace = '', name = '', by = '', of = ''], stat }: Look,
  { queues, functions, emissions }: Writers,
): string | undefined {
  if (namespace === 'AWS/SQS') {
    if (by !== 'QueueName' || !queues.includes(of)) return `no queue ${of}`;
    return queueMetrics[name]?.includes(stat) ? undefined : `${stat} of ${name}`;
  }
  if (namespace === 'AWS/Lambda') {
    if (by !== 'FunctionName' || !functions.includes(of)) return `no function ${of}`;
    return functionMetrics[name]?.includes(stat) ? undefined : `${stat} of ${name}`;
  }
  // One controller has spoken for all.
  const service = registry.some((one) => one.name === of) ? emitting : of;
  const written = emissions.metrics.find(
    (one) => one.namespace === namespace && one.name === name && by === 'service' && one.dimensions.service === service,
  );
  if (written === undefined) return `nobody writes ${name} of ${of}`;
  return ownStatistics[written.unit]?.includes(stat) ? undefined : `${stat} of ${name}`;
}

/** The metrics that an alarm looks at. */
export function looksOf({
  AlarmName: where,
  Namespace,
  MetricName,
  Dimensions,
  Statistic,
  Metrics = [],
}: Alarm): Look[] {
  const metricOf = (one: { Namespace: string; MetricName: string; Dimensions: { Name: string; Value: string }[] }) => [
    one.Namespace,
    one.MetricName,
    ...one.Dimensions.flatMap(({ Name, Value }) => [Name, Value]),
  ];
  const inside = Metrics.flatMap(({ MetricStat }) =>
    MetricStat === undefined ? [] : [{ where, metric: metricOf(MetricStat.Metric), stat: MetricStat.Stat }],
  );
  if (Namespace === undefined || MetricName === undefined || Dimensions === undefined) return inside;
  return [...inside, { where, metric: metricOf({ Namespace, MetricName, Dimensions }), stat: Statistic ?? '' }];
}
