// The template of the local system: the part of the deployed CloudFormation template that runs on one machine (queues,
// functions, event source mappings, schedules). It is made by the generator that osls gets its resources from. A deploy
// test compares it with the packaged template.
import path from 'node:path';
import { readService } from '@outrigger/common/yaml/read-service';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { toError, UserError } from 'outrigger/internal/core/errors';
import { isRecord } from 'outrigger/internal/core/json';
import * as z from 'zod';
import { environmentOf, optionDefaults, withParameters } from '../aws/deployment.ts';
import { arnOf, capitalized, lambdaId } from '../aws/names.ts';
import { awsOf } from '../aws/resources.ts';
import { readProjectName, readTextFile } from '../project/project.ts';

type Fields = Readonly<Record<string, unknown>>;

const stage = 'dev';
const fields = z.record(z.string(), z.unknown());
const sqsEvent = z.object({
  arn: z.unknown(),
  batchSize: z.coerce.number(),
  maximumConcurrency: z.coerce.number(),
  functionResponseType: z.string(),
});
const scheduleEvent = z.looseObject({ name: z.string(), rate: z.array(z.string()), input: z.unknown() });
const functionPart = z.looseObject({
  name: z.string(),
  handler: z.string(),
  timeout: z.coerce.number(),
  memorySize: z.coerce.number().default(256),
  environment: fields.default({}),
  events: z.array(z.object({ sqs: sqsEvent.optional(), schedule: scheduleEvent.optional() })).default([]),
});
const serviceFile = z.object({
  params: z.record(z.string(), fields).default({}),
  functions: z.record(z.string(), z.unknown()).catch({}),
});

/** The resources that the local system runs, and those that its functions refer to. */
const localTypes: readonly unknown[] = ['AWS::SQS::Queue', 'AWS::S3::Bucket', 'AWS::SecretsManager::Secret'];

/** Makes the template, as JSON text. Throws UserError for a serverless.yml that is not YAML. */
export async function localTemplate(root: string, controllers: readonly ControllerDefinition[]): Promise<string> {
  const deployment = { project: await readProjectName(root), stage };
  const author = await readAuthor(path.join(root, 'serverless.yml'));
  const parameters = { ...optionDefaults, ...author.params.default, ...author.params[stage] };
  const given = { ...awsOf(controllers, deployment).functions };
  for (const [id, one] of Object.entries(given)) given[id] = { ...one, ...plain(author.functions[id]) };
  const functions = z.record(z.string(), functionPart).parse(withParameters(given, parameters));
  const { resources } = awsOf(controllers, deployment, functions);
  const local = Object.entries(resources.Resources).flatMap(([id, one]) => {
    if (localTypes.includes(one.Type)) return [[id, one]];
    // The functions refer to the ids of roles, and to nothing else of them.
    return one.Type === 'AWS::IAM::Role' ? [[id, { Type: one.Type }]] : [];
  });
  const environment = z.record(z.string(), z.unknown()).parse(withParameters(environmentOf(deployment), parameters));
  return JSON.stringify({
    Parameters: resources.Parameters,
    Resources: Object.assign(
      Object.fromEntries(local),
      ...Object.entries(functions).map(([id, one]) => functionResources(id, one, environment)),
    ),
  });
}

/** What the author sets. Without the file, nothing. */
async function readAuthor(file: string): Promise<z.output<typeof serviceFile>> {
  try {
    return serviceFile.parse(readService((await readTextFile(file)) ?? '{}'));
  } catch (error) {
    throw new UserError(`serverless.yml: cannot be read: ${toError(error).message}`, { cause: error });
  }
}

/** The numbers that an author sets of one of our functions. */
function plain(given: unknown): Readonly<Record<string, number>> {
  const { timeout, memorySize } = isRecord(given) ? given : {};
  return {
    ...(typeof timeout === 'number' ? { timeout } : {}),
    ...(typeof memorySize === 'number' ? { memorySize } : {}),
  };
}

/** The resources that osls compiles from a function. */
function functionResources(
  name: string,
  { name: FunctionName, handler, timeout, memorySize, environment, events }: z.output<typeof functionPart>,
  shared: Fields,
): Fields {
  const id = capitalized(name);
  const arn = arnOf(lambdaId(name));
  const resources: Record<string, unknown> = {
    [lambdaId(name)]: {
      Type: 'AWS::Lambda::Function',
      Properties: {
        FunctionName,
        Handler: handler,
        Timeout: timeout,
        MemorySize: memorySize,
        Environment: { Variables: { ...shared, ...environment } },
      },
    },
  };
  for (const [index, { sqs, schedule }] of events.entries()) {
    if (sqs !== undefined)
      resources[`${id}EventSourceMapping${index}`] = {
        Type: 'AWS::Lambda::EventSourceMapping',
        Properties: {
          EventSourceArn: sqs.arn,
          FunctionName: arn,
          BatchSize: sqs.batchSize,
          Enabled: true,
          FunctionResponseTypes: [sqs.functionResponseType],
          ScalingConfig: { MaximumConcurrency: sqs.maximumConcurrency },
        },
      };
    for (const [rate, expression] of (schedule?.rate ?? []).entries())
      resources[`${id}SchedulerSchedule${rate + 1}`] = {
        Type: 'AWS::Scheduler::Schedule',
        Properties: {
          Name: schedule?.name,
          ScheduleExpression: expression,
          Target: { Arn: arn, Input: JSON.stringify(schedule?.input) },
        },
      };
  }
  return resources;
}
