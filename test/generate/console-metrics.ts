// Checks that the metrics in dashboard and alarms exist: those of queues and functions are written by AWS, the others
// by Outrigger.
import * as z from 'zod';
import { registry } from '../../src/controllers/registry.ts';
import { type Emissions, emitting } from '../lambda/emissions.ts';
import { statistic } from './dashboard-body.ts';

/** The metrics of queues with their useful statistics, from "Available CloudWatch metrics for Amazon SQS". */
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
/** The useful statistics of Outrigger's metrics, by unit. */
const ownStatistics: Readonly<Record<string, readonly string[]>> = {
  Count: ['Sum', 'Maximum'],
  Milliseconds: ['p50', 'p99', 'Maximum'],
};

const dimension = z.object({ Name: z.string(), Value: z.string() });
const metricReference = { Namespace: z.string(), MetricName: z.string(), Dimensions: z.array(dimension).length(1) };
/** An alarm in the template. */
export const alarmShape = z.object({
  AlarmName: z.string(),
  AlarmDescription: z.string().max(1_024),
  Threshold: z.number(),
  EvaluationPeriods: z.int().min(1),
  TreatMissingData: z.enum(['breaching', 'notBreaching']),
  AlarmActions: z.array(z.string()).min(1),
  OKActions: z.array(z.string()).min(1),
  ...z.object({ ...metricReference, Statistic: statistic, Period: z.int().multipleOf(60) }).partial().shape,
  Metrics: z
    .array(
      z.object({
        Id: z.string(),
        Expression: z.string().optional(),
        MetricStat: z
          .object({ Metric: z.object(metricReference), Stat: statistic, Period: z.int().multipleOf(60) })
          .optional(),
      }),
    )
    .optional(),
});
export type Alarm = z.infer<typeof alarmShape>;

/** A metric in the dashboard or an alarm. */
export type MetricUse = { readonly where: string; readonly metric: readonly string[]; readonly stat: string };

/** The sources of metrics. */
export type MetricSources = {
  readonly queues: readonly string[];
  readonly functions: readonly string[];
  readonly emissions: Emissions;
};

/** Returns the problem of a used metric; undefined if it exists with that statistic. */
export function metricProblem(
  { metric: [namespace = '', name = '', by = '', of = ''], stat }: MetricUse,
  { queues, functions, emissions }: MetricSources,
): string | undefined {
  if (namespace === 'AWS/SQS') {
    if (by !== 'QueueName' || !queues.includes(of)) return `no queue ${of}`;
    return queueMetrics[name]?.includes(stat) ? undefined : `${stat} of ${name}`;
  }
  if (namespace === 'AWS/Lambda') {
    if (by !== 'FunctionName' || !functions.includes(of)) return `no function ${of}`;
    return functionMetrics[name]?.includes(stat) ? undefined : `${stat} of ${name}`;
  }
  // The emissions were collected from one controller, for all.
  const service = registry.some((one) => one.name === of) ? emitting : of;
  const written = emissions.metrics.find(
    (one) => one.namespace === namespace && one.name === name && by === 'service' && one.dimensions.service === service,
  );
  if (written === undefined) return `no metric ${name} of ${of}`;
  return ownStatistics[written.unit]?.includes(stat) ? undefined : `${stat} of ${name}`;
}

/** Lists the metrics of an alarm. */
export function alarmMetrics({
  AlarmName: where,
  Namespace,
  MetricName,
  Dimensions,
  Statistic,
  Metrics = [],
}: Alarm): MetricUse[] {
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
