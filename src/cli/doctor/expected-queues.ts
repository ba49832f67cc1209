// The queues of a deployment with their attributes, from the resources that it is deployed from: the generated ones of
// the registry, and infra/aws/resources.yml for the shared queues. CloudFormation and SQS have the same names for the
// attributes.
import path from 'node:path';
import { readTemplate } from '@outrigger/common/yaml/read-template';
import * as z from 'zod';
import type { ControllerDefinition } from '../../api/definition.ts';
import { toError, UserError } from '../../core/errors.ts';
import { parseJson } from '../../core/json.ts';
import { controllerDeadLetterQueue, controllerQueue } from '../../core/names.ts';
import { readTextFile } from '../../dev/text-file.ts';
import { namePrefix } from '../../generate/aws/names.ts';
import { awsOf } from '../../generate/aws/resources.ts';

/** A queue as it is deployed. */
export type ExpectedQueue = {
  /** Without the prefix of the deployment. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The dead-letter queue, without the prefix, and the number of receives after which SQS moves a message. */
  readonly deadLetters?: { readonly name: string; readonly maxReceiveCount: number };
};

const queueName = z.string();
const properties = z.looseObject({
  QueueName: queueName,
  RedrivePolicy: z.object({ deadLetterTargetArn: z.unknown(), maxReceiveCount: z.number() }).optional(),
});
const template = z.looseObject({
  Resources: z.record(z.string(), z.looseObject({ Type: z.string(), Properties: z.unknown().optional() })),
});

/** Lists the queues of a registry. Without infra/aws in the folder only the names of the shared queues are known. */
export async function expectedQueues(
  registry: readonly ControllerDefinition[],
  root: string,
  controllers: readonly { readonly name: string }[] = registry,
): Promise<readonly ExpectedQueue[]> {
  const aws = z
    .looseObject({ queueNames: z.record(z.string(), z.string()), resources: template })
    .parse(awsOf(registry));
  const sharedQueues = await readSharedResources(path.join(root, 'infra/aws/resources.yml'));
  const queues = Object.entries({ ...aws.resources.Resources, ...sharedQueues }).flatMap(
    ([id, { Type, Properties }]) => {
      const read = Type === 'AWS::SQS::Queue' ? properties.safeParse(Properties).data : undefined;
      return read === undefined ? [] : [{ id, name: nameOf(read.QueueName, aws.queueNames), properties: read }];
    },
  );
  const known = new Map(queues.map(({ id, name }) => [id, name]));
  const found = queues.map(({ name, properties: { QueueName: _, RedrivePolicy: policy, ...rest } }) => {
    const deadLetterQueue = policy === undefined ? undefined : known.get(idIn(policy.deadLetterTargetArn));
    return {
      name,
      attributes: scalars(rest),
      ...(policy === undefined || deadLetterQueue === undefined
        ? {}
        : { deadLetters: { name: deadLetterQueue, maxReceiveCount: policy.maxReceiveCount } }),
    };
  });
  const listed = controllers.flatMap(({ name }) => [controllerQueue(name), controllerDeadLetterQueue(name)]);
  const missing = [...new Set([...Object.values(aws.queueNames).map((name) => nameOf(name, {})), ...listed])].filter(
    (name) => !found.some((one) => one.name === name),
  );
  return [...found, ...missing.map((name) => ({ name, attributes: {} }))];
}

async function readSharedResources(file: string): Promise<z.output<typeof template>['Resources']> {
  const text = await readTextFile(file);
  if (text === undefined) return {};
  try {
    return template.parse(readTemplate(text)).Resources;
  } catch (error) {
    throw new UserError(`${file}: not a template of CloudFormation: ${toError(error).message}`, { cause: error });
  }
}

/** Strips `${self:custom.prefix}-`, and resolves `${self:custom.queues.timersQueue}`. */
function nameOf(text: string, names: Readonly<Record<string, string>>): string {
  const [, variable = ''] = /^\$\{self:custom\.queues\.(\w+)\}$/.exec(text) ?? [];
  return (names[variable] ?? text).replace(namePrefix, '');
}

/** The id in `!GetAtt Id.Arn`, or ''. */
function idIn(arn: unknown): string {
  return (
    z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.literal('Arn')]) }).safeParse(arn).data?.['Fn::GetAtt'][0] ?? ''
  );
}

/** Keeps the scalar values. A value with a variable is only known at deployment, and is left out. */
function scalars(from: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const entries = Object.entries(from).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? [[name, String(value)] as const]
      : [],
  );
  return Object.fromEntries(entries.filter(([, value]) => !value.includes('${')));
}

const policy = z.object({ deadLetterTargetArn: z.string(), maxReceiveCount: z.coerce.number() });

/** Reads a live queue's RedrivePolicy; undefined for none. */
export function parseRedrivePolicy(text: string | undefined): z.infer<typeof policy> | undefined {
  return policy.safeParse(parseJson(text ?? '')).data;
}
