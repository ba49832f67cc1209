// What AWS knows of the functions of a stage: how often each was invoked, failed and was throttled in a time range, and
// when it was deployed; and where the AWS console shows their logs.
//
// Sources: Amazon CloudWatch API reference, GetMetricData; AWS Lambda Developer Guide, "Types of metrics for Lambda
// functions"; the hosts of the AWS console by partition.
import { GetFunctionConfigurationCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { partitionOf } from 'outrigger/internal/signing/partition';
import { callWithin } from 'outrigger/internal/sqs/call';
import type { PastDeps } from '../../console/stage/past-reader.ts';
import type { System, TimeRange } from '../../console/wire.ts';
import { awsAccess, type RegionFlag, sendAwsQuery } from '../stage-table.ts';

const metrics = { invocations: 'Invocations', errors: 'Errors', throttles: 'Throttles' } as const;
const callSeconds = 10;
const hour = 3_600_000;
/** As long as a throttled message may wait until it is received again. */
const throttleMilliseconds = 900_000;

/** Creates the readers. `prefix` is that of the functions' names. */
export function functionFigures(
  lambda: LambdaClient,
  { prefix, region }: { readonly prefix: string; readonly region: RegionFlag },
): Pick<PastDeps, 'countsOf' | 'deploymentOf'> {
  return {
    countsOf: async (name, range) => {
      const queries = Object.entries(metrics).map(([id, metric]) => ({ id, metric, name: `${prefix}${name}` }));
      const sums = await readSums(queries, range, region);
      return { invocations: sums.get('invocations'), errors: sums.get('errors'), throttles: sums.get('throttles') };
    },
    deploymentOf: async (name, signal) => {
      const command = new GetFunctionConfigurationCommand({ FunctionName: `${prefix}${name}` });
      const { LastModified = '', CodeSha256: code } = await callWithin(callSeconds, signal, async (abortSignal) =>
        lambda.send(command, { abortSignal }),
      );
      const deployedAt = Date.parse(LastModified);
      return { ...(Number.isNaN(deployedAt) ? {} : { deployedAt }), ...(code === undefined ? {} : { code }) };
    },
  };
}

/** How often Lambda has refused to run functions in the last 15 minutes, by name. Throws as `readSums` does. */
export async function readThrottles(
  names: readonly string[],
  { prefix, region }: { readonly prefix: string; readonly region: RegionFlag },
): Promise<ReadonlyMap<string, number>> {
  const queries = names.map((name, index) => ({
    id: `f${index}`,
    metric: metrics.throttles,
    name: `${prefix}${name}`,
  }));
  const sums = await readSums(queries, { from: Date.now() - throttleMilliseconds, to: Date.now() }, region);
  return new Map(names.map((name, index) => [name, sums.get(`f${index}`) ?? 0]));
}

type MetricQuery = { readonly id: string; readonly metric: string; readonly name: string };

/** Sums the points of metrics by the ids of the queries. Throws if CloudWatch has not responded with all of them. */
async function readSums(
  queries: readonly MetricQuery[],
  { from, to }: TimeRange,
  region: RegionFlag,
): Promise<ReadonlyMap<string, number>> {
  const periodSeconds = periodOf(from, to);
  // CloudWatch would begin with the whole period of the start.
  const step = periodSeconds * 1000;
  const [start, end] = [Math.ceil(from / step) * step, Math.floor(to / step) * step];
  if (start >= end) return new Map();
  const range = { StartTime: new Date(start).toISOString(), EndTime: new Date(end).toISOString() };
  const named = queries.map((one, index) => metricQuery(index + 1, { ...one, periodSeconds }));
  const parameters = { Action: 'GetMetricData', Version: '2010-08-01', ...range };
  const xml = await sendAwsQuery('monitoring', Object.assign(parameters, ...named), region);
  return sumsOf(xml, queries);
}

function metricQuery(
  index: number,
  of: MetricQuery & { readonly periodSeconds: number },
): Readonly<Record<string, string>> {
  const at = `MetricDataQueries.member.${index}`;
  const metric = `${at}.MetricStat.Metric`;
  return {
    [`${at}.Id`]: of.id,
    [`${at}.MetricStat.Stat`]: 'Sum',
    [`${at}.MetricStat.Period`]: String(of.periodSeconds),
    [`${metric}.Namespace`]: 'AWS/Lambda',
    [`${metric}.MetricName`]: of.metric,
    [`${metric}.Dimensions.member.1.Name`]: 'FunctionName',
    [`${metric}.Dimensions.member.1.Value`]: of.name,
  };
}

/** CloudWatch keeps points of a minute for 15 days, and those of five minutes for 63. */
function periodOf(from: number, to: number): number {
  const ageHours = (Date.now() - from) / hour;
  if (ageHours > 63 * 24) return 3_600;
  return ageHours > 15 * 24 || to - from > 6 * hour ? 300 : 60;
}

function sumsOf(xml: string, queries: readonly MetricQuery[]): ReadonlyMap<string, number> {
  // A member is a result, whose lists have members, too: these become text.
  const flat = xml.replaceAll(/<(Timestamps|Values|Messages)>.*?<\/\1>/gs, (list) =>
    list.replaceAll(/<\/?member>/g, ' '),
  );
  const results = [...flat.matchAll(/<member>(.*?)<\/member>/gs)].map(([, result = '']) => result);
  const sum = (id: string): number => {
    const result = results.find((one) => one.includes(`<Id>${id}</Id>`)) ?? '';
    const [found, points = ''] = /<Values(?:\/>|>(.*?)<\/Values>)/s.exec(result) ?? [];
    if (found === undefined || /<StatusCode>(?!Complete)|<NextToken>/.test(xml))
      throw new Error('CloudWatch has not responded with every point');
    return (points.match(/\S+/g) ?? []).reduce((total, value) => total + Number(value), 0);
  };
  return new Map(queries.map(({ id }) => [id, sum(id)]));
}

/** The AWS console by partition; the others have none that this machine reaches. */
const consoles: Readonly<Record<string, string>> = {
  aws: 'console.aws.amazon.com',
  'aws-cn': 'console.amazonaws.cn',
  'aws-us-gov': 'console.amazonaws-us-gov.com',
  'aws-eusc': 'console.amazonaws-eusc.eu',
};

/** Returns where the AWS console shows the functions of a deployment; undefined if its partition has no console. */
export async function awsConsole(prefix: string, flag: RegionFlag): Promise<System['aws']> {
  const region = await awsAccess(flag).region();
  const host = consoles[partitionOf(region).name];
  const cloudWatch = `https://${region}.${host}/cloudwatch/home?region=${region}`;
  return host === undefined ? undefined : { cloudWatch, prefix };
}
