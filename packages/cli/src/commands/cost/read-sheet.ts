// The inputs of a price: AWS's prices, measured invocations, and a deployment. The files are next to this one.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { UserError } from 'outrigger/internal/core/errors';
import { formatZodIssues, parseJson } from 'outrigger/internal/core/json';
import type * as z from 'zod';
import { awsOf } from '../../aws/resources.ts';
import { packageRoot } from '../../project/project.ts';
import { leanOnlyAlarms } from '../../serverless/monitoring.ts';
import { type Deployment, type Measured, measuredShape, type Prices, pricesShape } from './price-sheet.ts';

const folder = path.join(packageRoot, 'src/commands/cost');
/** The measurements, which the bench writes. */
export const measuredFile = path.join(folder, 'measured.json');

/** The inputs of a price. */
export type Sheet = {
  readonly region: string;
  readonly note: string;
  readonly prices: Prices;
  readonly measured: Measured;
  readonly deployment: Deployment;
};

/** Reads prices and measurements, and counts the controllers and alarms of a registry. Throws UserError. */
export async function readSheet(
  registry: readonly ControllerDefinition[],
  prices = path.join(folder, 'prices.json'),
): Promise<Sheet> {
  // For an alarm on an expression, each of its metrics; a query counts as one.
  const alarms = Object.values(awsOf(registry).resources.Resources).filter(
    ({ Type }) => Type === 'AWS::CloudWatch::Alarm',
  );
  const alarmMetric = /"MetricName":|"Expression":"SELECT /g;
  const alarmMetrics =
    alarms.flatMap((one) => JSON.stringify(one).match(alarmMetric) ?? []).length - leanOnlyAlarms.length;
  return {
    ...(await read(prices, pricesShape)),
    measured: await read(measuredFile, measuredShape),
    deployment: { controllers: registry.length, alarmMetrics },
  };
}

async function read<S extends z.ZodType>(file: string, shape: S): Promise<z.output<S>> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const parsed = shape.safeParse(parseJson(text));
  if (!parsed.success) throw new UserError(`${file}: ${formatZodIssues(parsed.error)}`);
  return parsed.data;
}
