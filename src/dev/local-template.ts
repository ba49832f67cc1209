// The template of the local system: the part of the deployed CloudFormation template that runs on one machine (queues,
// functions, event source mappings, schedules). It is derived from the registry and from the files that serverless.yml
// names, because packaging by osls takes seconds and needs osls. A deploy test compares it with the packaged template.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { readTemplate } from '@outrigger/common/yaml/read-template';
import * as z from 'zod';
import type { ControllerDefinition } from '../api/definition.ts';
import { UserError } from '../core/errors.ts';
import { formatZodIssues, isRecord } from '../core/json.ts';
import { awsOf } from '../generate/aws/resources.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The generated file, whose content comes from the registry: the file itself may be stale. */
const generatedFile = 'infra/aws/generated/controllers.yml';

const fields = z.record(z.string(), z.unknown());
const parts = z.union([z.array(z.union([z.string(), fields])), fields.transform((one) => [one])]).default([]);
const serviceFile = z.looseObject({
  service: z.string(),
  params: z.record(z.string(), fields).default({}),
  custom: fields.default({}),
  provider: z.looseObject({
    stage: z.string().default('dev'),
    memorySize: z.number().optional(),
    environment: fields.default({}),
  }),
  functions: parts,
  resources: parts,
});
const sqsEvent = z.object({
  arn: z.unknown(),
  batchSize: z.number().optional(),
  maximumConcurrency: z.number().optional(),
  functionResponseType: z.string().optional(),
});
const scheduleEvent = z.looseObject({ rate: z.array(z.string()), input: z.unknown() });
const functionPart = z.looseObject({
  name: z.string(),
  handler: z.string(),
  timeout: z.number().optional(),
  memorySize: z.number().optional(),
  environment: fields.default({}),
  events: z.array(z.object({ sqs: sqsEvent.optional(), schedule: scheduleEvent.optional() })).default([]),
});
const resourcesPart = z.looseObject({
  Parameters: fields.default({}),
  Resources: z.record(z.string(), z.looseObject({ Type: z.string() })).default({}),
});

/** The resources that the local system runs, and those that its functions refer to. */
const localTypes: readonly string[] = ['AWS::SQS::Queue', 'AWS::S3::Bucket', 'AWS::SecretsManager::Secret'];

/** Derives the template, as JSON text. Throws UserError, which names the file, for a form that is not supported. */
export async function localTemplate(root: string, controllers: readonly ControllerDefinition[]): Promise<string> {
  const service = check(serviceFile, await readYaml(root, 'serverless.yml'), 'serverless.yml');
  const generated: Fields = { ...awsOf(controllers) };
  const variables = variablesOf({ ...service, service: await serviceName(root, service.service) }, generated);
  const read = async (part: string | Fields): Promise<unknown> => {
    if (typeof part !== 'string') return part;
    const [, file, key] = /^\$\{file\(([^)]+)\)(?::(\w+))?\}$/.exec(part) ?? [];
    if (file === undefined) throw new UserError(`serverless.yml: ${part}: outrigger dev reads only \${file(...)} here`);
    const content = file === generatedFile ? generated : await readYaml(root, file);
    return key === undefined ? content : isRecord(content) ? content[key] : undefined;
  };
  const template: { Parameters: Record<string, unknown>; Resources: Record<string, unknown> } = {
    Parameters: {},
    Resources: {},
  };
  for (const part of service.resources) {
    const { Parameters, Resources } = check(resourcesPart, (await read(part)) ?? {}, `serverless.yml: ${String(part)}`);
    Object.assign(template.Parameters, substitute(Parameters, variables));
    for (const [id, resource] of Object.entries(Resources)) {
      if (localTypes.includes(resource.Type)) template.Resources[id] = substitute(resource, variables);
      // The functions refer to the ids of roles, and to nothing else of them.
      else if (resource.Type === 'AWS::IAM::Role') template.Resources[id] = { Type: resource.Type };
    }
  }
  for (const part of service.functions) {
    const all = check(z.record(z.string(), functionPart), (await read(part)) ?? {}, `serverless.yml: ${String(part)}`);
    for (const [id, one] of Object.entries(all)) {
      const resources = withGenerated(functionResources(id, one, service.provider), generated);
      Object.assign(template.Resources, substitute(resources, variables));
    }
  }
  const text = JSON.stringify(template);
  const [unresolved] = /\$\{(?:self|param|file|opt|env|sls)\b[^}]*\}/.exec(text) ?? [];
  // The generated files are those of the installed version, and serverless.yml may be older.
  if (unresolved !== undefined)
    throw new UserError(
      `serverless.yml: outrigger dev does not know ${unresolved}; after an update run npx outrigger upgrade`,
    );
  return text;
}

/**
 * The name of the service, or the field of a file that has it: `${file(package.json):outrigger.project, 'outrigger'}`.
 */
async function serviceName(root: string, text: string): Promise<string> {
  const [, file, keys = '', fallback] = /^\$\{file\(([^)]+)\):([\w.]+)(?:,\s*'([^']*)')?\}$/.exec(text) ?? [];
  if (file === undefined) return text;
  let found: unknown = await readYaml(root, file);
  for (const key of keys.split('.')) found = isRecord(found) ? found[key] : undefined;
  if (typeof found === 'string') return found;
  if (fallback === undefined) throw new UserError(`serverless.yml: service: ${file} has no ${keys}`);
  return fallback;
}

/** The resources that osls compiles from a function. */
function functionResources(
  name: string,
  { name: functionName, handler, timeout, memorySize, environment, events }: z.output<typeof functionPart>,
  provider: z.output<typeof serviceFile>['provider'],
): Fields {
  const id = name.charAt(0).toUpperCase() + name.slice(1);
  const arn = { 'Fn::GetAtt': [`${id}LambdaFunction`, 'Arn'] };
  const resources: Record<string, unknown> = {
    [`${id}LambdaFunction`]: {
      Type: 'AWS::Lambda::Function',
      Properties: {
        ...{ FunctionName: functionName, Handler: handler, Timeout: timeout ?? 6 },
        MemorySize: memorySize ?? provider.memorySize ?? 1024,
        Environment: { Variables: { ...provider.environment, ...environment } },
      },
    },
  };
  for (const [index, { sqs, schedule }] of events.entries()) {
    if (sqs !== undefined) {
      const { batchSize, maximumConcurrency, functionResponseType } = sqs;
      resources[`${id}EventSourceMapping${index}`] = {
        Type: 'AWS::Lambda::EventSourceMapping',
        Properties: {
          ...{ EventSourceArn: sqs.arn, FunctionName: arn, BatchSize: batchSize ?? 10, Enabled: true },
          FunctionResponseTypes: functionResponseType === undefined ? [] : [functionResponseType],
          ...(maximumConcurrency === undefined ? {} : { ScalingConfig: { MaximumConcurrency: maximumConcurrency } }),
        },
      };
    }
    for (const [rate, expression] of (schedule?.rate ?? []).entries()) {
      resources[`${id}SchedulerSchedule${rate + 1}`] = {
        Type: 'AWS::Scheduler::Schedule',
        Properties: {
          ScheduleExpression: expression,
          Target: { Arn: arn, ...(schedule?.input === undefined ? {} : { Input: JSON.stringify(schedule.input) }) },
        },
      };
    }
  }
  return resources;
}

/** The variables of osls that a resource may contain, by name. */
function variablesOf(
  { service, params, custom, provider: { stage } }: z.output<typeof serviceFile>,
  { queueNames }: Fields,
): ReadonlyMap<string, string> {
  const variables = new Map([
    ['self:service', service],
    ['sls:stage', stage],
    ...Object.entries({ ...params.default, ...params[stage] }).map(
      ([name, value]) => [`param:${name}`, String(value)] as const,
    ),
  ]);
  for (const [name, value] of Object.entries(custom)) {
    if (typeof value === 'string') variables.set(`self:custom.${name}`, String(substitute(value, variables)));
  }
  for (const [name, value] of Object.entries(isRecord(queueNames) ? queueNames : {})) {
    variables.set(`self:custom.queues.${name}`, String(substitute(value, variables)));
  }
  return variables;
}

/** Replaces every value that is a reference to a field of the generated file. */
function withGenerated(value: unknown, generated: Fields): unknown {
  if (typeof value === 'string') {
    const [, key] = value.startsWith(`\${file(${generatedFile})`) ? (/\):(\w+)\}$/.exec(value) ?? []) : [];
    return key === undefined ? value : generated[key];
  }
  if (Array.isArray(value)) return value.map((one) => withGenerated(one, generated));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withGenerated(one, generated)]));
}

/** Replaces known variables in every string. Others stay, such as those of `Fn::Sub`. */
function substitute(value: unknown, variables: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(/\$\{([^{}]+)\}/g, (whole, name: string) => variables.get(name.trim()) ?? whole);
  }
  if (Array.isArray(value)) return value.map((one) => substitute(one, variables));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, substitute(one, variables)]));
}

async function readYaml(root: string, file: string): Promise<unknown> {
  try {
    return readTemplate(await readFile(path.join(root, file), 'utf8'));
  } catch (error) {
    throw new UserError(`${file}: cannot be read: ${String(error)}`, { cause: error });
  }
}

function check<S extends z.ZodType>(shape: S, value: unknown, where: string): z.output<S> {
  const parsed = shape.safeParse(value);
  if (!parsed.success) throw new UserError(`${where}: ${formatZodIssues(parsed.error)}`);
  return parsed.data;
}
