// What AWS knows of the functions of a stage, for the console: how often each was invoked, failed and was throttled in
// a time range, and when it was deployed; and where the AWS console shows their logs.
//
// Sources: Amazon CloudWatch API reference, GetMetricData; AWS Lambda Developer Guide, "Types of metrics for Lambda
// functions"; the hosts of the AWS console by partition.
import { GetFunctionConfigurationCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { partitionOf } from 'outrigger/internal/signing/partition';
import { callWithin } from 'outrigger/internal/sqs/call';
import type { PastDeps } from '../../console/stage/past-reader.ts';
import type { System } from '../../console/wire.ts';
import { awsAccess, type RegionFlag, sendAwsQuery } from '../stage-table.ts';

const metrics = { invocations: 'Invocations', errors: 'Errors', throttles: 'Throttles' } as const;
const callSeconds = 10;
const hour = 3_600_000;

/** Creates the readers. `prefix` is that of the functions' names. */
export function functionFigures(
  lambda: LambdaClient,
  { prefix, region }: { readonly prefix: string; readonly region: RegionFlag },
): Pick<PastDeps, 'countsOf' | 'deploymentOf'> {
  return {
    countsOf: async (name, { from, to }) => {
      const periodSeconds = periodOf(from, to);
      // CloudWatch would begin with the whole period of the start.
      const step = periodSeconds * 1000;
      const [start, end] = [Math.ceil(from / step) * step, Math.floor(to / step) * step];
      if (start >= end) return {};
      const range = { StartTime: new Date(start).toISOString(), EndTime: new Date(end).toISOString() };
      const named = Object.entries(metrics).map(([id, metric], index) =>
        metricQuery(index + 1, { id, metric, name: `${prefix}${name}`, periodSeconds }),
      );
      const parameters = { Action: 'GetMetricData', Version: '2010-08-01', ...range };
      return sumsOf(await sendAwsQuery('monitoring', Object.assign(parameters, ...named), region));
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

function metricQuery(
  index: number,
  of: { readonly id: string; readonly metric: string; readonly name: string; readonly periodSeconds: number },
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

/** Sums the points of each metric. Throws if CloudWatch has not responded with all of them. */
function sumsOf(xml: string): Readonly<Record<keyof typeof metrics, number>> {
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
  return { invocations: sum('invocations'), errors: sum('errors'), throttles: sum('throttles') };
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
