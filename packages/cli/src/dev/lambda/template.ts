// Resolves the intrinsic functions of a packaged CloudFormation template, so that the local system runs the deployed
// resources. Only the four functions of Outrigger's template are supported. Any other one is an error with its path,
// because a guess could differ from AWS.
import * as z from 'zod';
import { localAccountId, localRegion } from './account.ts';

const templateShape = z.looseObject({
  Parameters: z.record(z.string(), z.looseObject({ Default: z.coerce.string().optional() })).default({}),
  Resources: z.record(z.string(), z.looseObject({ Type: z.string(), Properties: z.unknown().optional() })),
});

/** A packaged template, unresolved. */
export type Template = z.infer<typeof templateShape>;

/** The values that CloudFormation has in addition to the template. */
export type TemplateContext = {
  /** Overrides of the template's Parameters. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly region?: string;
  readonly accountId?: string;
  readonly stackName?: string;
};

/** A template that cannot be run here. The message begins with the path of the problem. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

/** Resolves the value at `path` of a template; the path is only for errors. Throws TemplateError. */
export type Resolve = (value: unknown, path: string) => unknown;

/** The base of an account's queue URLs on AWS, which the local endpoint replaces. */
export function awsQueueBase(region: string, accountId: string): string {
  return `https://sqs.${region}.amazonaws.com/${accountId}/`;
}

/** Parses a template. Throws TemplateError for a text of another format. */
export function parseTemplate(text: string): Template {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new TemplateError('the template is not JSON');
  }
  const parsed = templateShape.safeParse(value);
  if (!parsed.success)
    throw new TemplateError(`not a CloudFormation template: ${parsed.error.issues[0]?.message ?? ''}`);
  return parsed.data;
}

/**
 * Makes the function that resolves a template's values. Throws TemplateError for an override of an undeclared
 * parameter.
 */
export function createResolve(
  { Parameters, Resources }: Template,
  {
    parameters = {},
    region = localRegion,
    accountId = localAccountId,
    stackName = 'outrigger-local',
  }: TemplateContext = {},
): Resolve {
  for (const name of Object.keys(parameters)) {
    if (Parameters[name] === undefined)
      throw new TemplateError(`Parameters.${name}: the template has no such parameter`);
  }
  const pseudo: Readonly<Record<string, string>> = {
    'AWS::Region': region,
    'AWS::AccountId': accountId,
    'AWS::Partition': 'aws',
    'AWS::URLSuffix': 'amazonaws.com',
    'AWS::StackName': stackName,
    'AWS::StackId': `arn:aws:cloudformation:${region}:${accountId}:stack/${stackName}/local`,
  };

  function resolve(value: unknown, path: string): unknown {
    if (Array.isArray(value)) return value.map((item, index) => resolve(item, `${path}[${index}]`));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    const [first] = entries;
    if (entries.length === 1 && first !== undefined && isIntrinsic(first[0])) return call(first[0], first[1], path);
    return Object.fromEntries(
      entries.filter(([, item]) => !isNoValue(item)).map(([name, item]) => [name, resolve(item, `${path}.${name}`)]),
    );
  }

  function call(name: string, argument: unknown, path: string): unknown {
    const at = `${path}.${name}`;
    if (name === 'Ref') return ref(text(argument, at), at);
    if (name === 'Fn::GetAtt') {
      const [id = '', attribute = ''] = typeof argument === 'string' ? splitOnce(argument) : list(argument, at);
      return attributeOf(text(id, at), text(attribute, at), at);
    }
    if (name === 'Fn::Join') {
      const [separator, items] = list(argument, at);
      return list(resolve(items, at), at)
        .map((item) => text(item, at))
        .join(text(separator, at));
    }
    if (name === 'Fn::Sub') return substitute(argument, at);
    throw new TemplateError(
      `${at}: the local runtime does not support this intrinsic function (only Ref, Fn::GetAtt, Fn::Sub, Fn::Join)`,
    );
  }

  function substitute(argument: unknown, path: string): string {
    const [pattern, variables] = typeof argument === 'string' ? [argument, {}] : list(argument, path);
    const given = new Map(Object.entries(z.record(z.string(), z.unknown()).parse(variables ?? {})));
    return text(pattern, path).replaceAll(/\$\{([^}]+)\}/g, (whole, name: string) => {
      if (name.startsWith('!')) return `\${${name.slice(1)}}`;
      if (given.has(name)) return text(resolve(given.get(name), `${path}.${name}`), path);
      const [id = '', attribute] = splitOnce(name);
      if (name.includes('::') || attribute === undefined) return text(ref(name, path), `${path} ${whole}`);
      return attributeOf(id, attribute, path);
    });
  }

  function ref(name: string, path: string): unknown {
    const own = pseudo[name];
    if (own !== undefined) return own;
    const parameter = Parameters[name];
    if (parameter !== undefined) {
      const value = parameters[name] ?? parameter.Default;
      if (value === undefined) throw new TemplateError(`${path}: parameter ${name} has neither a default nor a value`);
      return value;
    }
    const type = resourceType(name, path);
    if (type === 'AWS::SQS::Queue') return `${awsQueueBase(region, accountId)}${physicalName(name, path)}`;
    return physicalName(name, path);
  }

  function attributeOf(id: string, attribute: string, path: string): string {
    const type = resourceType(id, path);
    if (attribute === 'Arn') return arn(type, physicalName(id, path));
    if (attribute === 'QueueName' && type === 'AWS::SQS::Queue') return physicalName(id, path);
    if (attribute === 'QueueUrl' && type === 'AWS::SQS::Queue') return text(ref(id, path), path);
    // No local queue names its senders, so this id is compared with nothing.
    if (attribute === 'RoleId' && type === 'AWS::IAM::Role') return `AROA${id.toUpperCase()}`;
    throw new TemplateError(`${path}: the local runtime does not support ${attribute} of ${id} (${type})`);
  }

  function physicalName(id: string, path: string): string {
    const properties = new Map(
      Object.entries(z.record(z.string(), z.unknown()).parse(Resources[id]?.Properties ?? {})),
    );
    for (const property of ['QueueName', 'FunctionName', 'RoleName', 'LogGroupName', 'Name']) {
      if (properties.has(property)) {
        return text(resolve(properties.get(property), `Resources.${id}.Properties.${property}`), path);
      }
    }
    const name = `${stackName}-${id}`;
    return Resources[id]?.Type === 'AWS::S3::Bucket' ? name.toLowerCase() : name;
  }

  function resourceType(id: string, path: string): string {
    const type = Resources[id]?.Type;
    if (type === undefined)
      throw new TemplateError(`${path}: the template has neither a parameter nor a resource ${id}`);
    return type;
  }

  function arn(type: string, name: string): string {
    if (type === 'AWS::SQS::Queue') return `arn:aws:sqs:${region}:${accountId}:${name}`;
    if (type === 'AWS::Lambda::Function') return `arn:aws:lambda:${region}:${accountId}:function:${name}`;
    if (type === 'AWS::IAM::Role') return `arn:aws:iam::${accountId}:role/${name}`;
    return `arn:aws:${(type.split('::')[1] ?? 'unknown').toLowerCase()}:${region}:${accountId}:${name}`;
  }
  return resolve;
}

function isIntrinsic(name: string): boolean {
  return name === 'Ref' || name === 'Condition' || name.startsWith('Fn::');
}

/** `{Ref: AWS::NoValue}` removes the property. */
function isNoValue(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'Ref' in value && value.Ref === 'AWS::NoValue';
}

function splitOnce(name: string): readonly string[] {
  const dot = name.indexOf('.');
  return dot === -1 ? [name] : [name.slice(0, dot), name.slice(dot + 1)];
}

function text(value: unknown, path: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new TemplateError(`${path}: a string is needed, not ${JSON.stringify(value)}`);
}

function list(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new TemplateError(`${path}: a list is needed, not ${JSON.stringify(value)}`);
}
