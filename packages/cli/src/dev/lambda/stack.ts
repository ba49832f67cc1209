// Reads the queues, functions, event source mappings and schedules from a template. The local system runs them. Other
// resources (roles, alarms, log groups, dashboards) are not resolved.

import { formatZodIssues } from 'outrigger/internal/core/json';
import * as z from 'zod';
import { createResolve, type Template, type TemplateContext, TemplateError } from './template.ts';

/** A queue to create. */
export type QueueDefinition = {
  readonly name: string;
  readonly arn: string;
  /** As CreateQueue takes them, without the redrive policy. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly deadLetters?: { readonly arn: string; readonly maxReceiveCount: number };
};

/** A function to run. */
export type FunctionDefinition = {
  readonly name: string;
  readonly arn: string;
  /** `path/to/file.export`, relative to the root of what was packaged. */
  readonly handler: string;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  readonly environment: Readonly<Record<string, string>>;
};

/** A queue that feeds a function. */
export type MappingDefinition = {
  readonly queueArn: string;
  readonly functionArn: string;
  readonly batchSize: number;
  readonly maximumConcurrency?: number;
  /** Whether the response names the failed records (ReportBatchItemFailures). */
  readonly reportsFailures: boolean;
  readonly enabled: boolean;
};

/** A function invoked by the clock. */
export type ScheduleDefinition = {
  readonly name: string;
  readonly functionArn: string;
  readonly everySeconds: number;
  /** What the function gets instead of the scheduled event, as JSON text. */
  readonly input?: string | undefined;
  readonly enabled: boolean;
};

/** All that can run of a template. */
export type Stack = {
  readonly queues: readonly QueueDefinition[];
  readonly functions: readonly FunctionDefinition[];
  readonly mappings: readonly MappingDefinition[];
  readonly schedules: readonly ScheduleDefinition[];
};

/** The queue attributes that the local system sets. Others, such as encryption, have no meaning here. */
const queueAttributes = [
  'DelaySeconds',
  'VisibilityTimeout',
  'MessageRetentionPeriod',
  'MaximumMessageSize',
  'ReceiveMessageWaitTimeSeconds',
  'FifoQueue',
  'ContentBasedDeduplication',
  'DeduplicationScope',
  'FifoThroughputLimit',
] as const;

const value = z.union([z.string(), z.number(), z.boolean()]);
const redrive = z.looseObject({ deadLetterTargetArn: z.string(), maxReceiveCount: z.coerce.number().int().min(1) });
const queueShape = z.looseObject({ QueueName: z.string(), RedrivePolicy: redrive.optional() });
const functionShape = z.looseObject({
  FunctionName: z.string(),
  Handler: z.string(),
  // Defaults of AWS::Lambda::Function.
  Timeout: z.coerce.number().min(1).max(900).default(3),
  MemorySize: z.coerce.number().default(128),
  Environment: z.looseObject({ Variables: z.record(z.string(), value).default({}) }).default({ Variables: {} }),
});
const mappingShape = z.looseObject({
  EventSourceArn: z.string(),
  FunctionName: z.string(),
  BatchSize: z.coerce.number().int().min(1).default(10),
  Enabled: z.union([z.boolean(), z.stringbool()]).default(true),
  FunctionResponseTypes: z.array(z.string()).default([]),
  ScalingConfig: z.looseObject({ MaximumConcurrency: z.coerce.number().int().min(2).optional() }).optional(),
});
const scheduleShape = z.looseObject({
  Name: z.string().optional(),
  ScheduleExpression: z.string(),
  State: z.string().default('ENABLED'),
  Target: z.looseObject({ Arn: z.string(), Input: z.string().optional() }),
});
const ruleShape = z.looseObject({
  Name: z.string().optional(),
  // Absent for a rule of events, which `outrigger wake` and the simulators send here.
  ScheduleExpression: z.string().optional(),
  State: z.string().default('ENABLED'),
  Targets: z.array(z.looseObject({ Arn: z.string(), Input: z.string().optional() })),
});

/** Reads a template. Throws TemplateError with the resource and the property. */
export function readStack(template: Template, context: TemplateContext = {}): Stack {
  const resolve = createResolve(template, context);
  const each = <S extends z.ZodObject, R>(type: string, shape: S, read: (found: z.output<S>, id: string) => R): R[] =>
    Object.entries(template.Resources)
      .filter(([, resource]) => resource.Type === type)
      .map(([id, resource]) => {
        const path = `Resources.${id}.Properties`;
        const parsed = shape.safeParse(resolve(resource.Properties ?? {}, path));
        if (!parsed.success) throw new TemplateError(`${path}: ${formatZodIssues(parsed.error)}`);
        return read(parsed.data, id);
      });
  const arnOf = (id: string) => z.string().parse(resolve({ 'Fn::GetAtt': [id, 'Arn'] }, `Resources.${id}`));

  return {
    queues: each('AWS::SQS::Queue', queueShape, ({ RedrivePolicy, ...found }, id) => ({
      name: found.QueueName,
      arn: arnOf(id),
      attributes: Object.fromEntries(
        queueAttributes.filter((name) => found[name] !== undefined).map((name) => [name, String(found[name])]),
      ),
      ...(RedrivePolicy === undefined
        ? {}
        : { deadLetters: { arn: RedrivePolicy.deadLetterTargetArn, maxReceiveCount: RedrivePolicy.maxReceiveCount } }),
    })),
    functions: each('AWS::Lambda::Function', functionShape, (found, id) => ({
      name: found.FunctionName,
      arn: arnOf(id),
      handler: found.Handler,
      timeoutSeconds: found.Timeout,
      memoryMegabytes: found.MemorySize,
      environment: Object.fromEntries(
        Object.entries(found.Environment.Variables).map(([name, given]) => [name, String(given)]),
      ),
    })),
    mappings: each('AWS::Lambda::EventSourceMapping', mappingShape, (found) => ({
      queueArn: found.EventSourceArn,
      functionArn: found.FunctionName,
      batchSize: found.BatchSize,
      enabled: found.Enabled,
      reportsFailures: found.FunctionResponseTypes.includes('ReportBatchItemFailures'),
      ...(found.ScalingConfig?.MaximumConcurrency === undefined
        ? {}
        : { maximumConcurrency: found.ScalingConfig.MaximumConcurrency }),
    })),
    schedules: [
      ...each('AWS::Scheduler::Schedule', scheduleShape, ({ Target, ...found }, id) =>
        scheduleOf(id, { ...found, target: Target }),
      ),
      ...each('AWS::Events::Rule', ruleShape, ({ Targets, ScheduleExpression, ...found }, id) =>
        ScheduleExpression === undefined
          ? []
          : Targets.map((target) => scheduleOf(id, { ...found, ScheduleExpression, target })),
      ).flat(),
    ],
  };
}

function scheduleOf(
  id: string,
  found: {
    readonly Name?: string | undefined;
    readonly ScheduleExpression: string;
    readonly State: string;
    readonly target: { readonly Arn: string; readonly Input?: string | undefined };
  },
): ScheduleDefinition {
  const { Arn, Input } = found.target;
  if (!Arn.startsWith('arn:aws:lambda:')) {
    throw new TemplateError(`Resources.${id}: the local runtime can only schedule functions, not ${Arn}`);
  }
  return {
    name: found.Name ?? id,
    functionArn: Arn,
    everySeconds: rateSeconds(found.ScheduleExpression, id),
    enabled: found.State === 'ENABLED',
    input: Input,
  };
}

function rateSeconds(expression: string, id: string): number {
  const [, count, unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const seconds = { minute: 60, hour: 3600, day: 86_400 }[unit];
  if (count === undefined || seconds === undefined) {
    throw new TemplateError(
      `Resources.${id}.Properties.ScheduleExpression: the local runtime only supports rate(...), not ${expression}`,
    );
  }
  return Number(count) * seconds;
}
