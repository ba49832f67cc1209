// Which queues a deployment has, with which attributes, read from the pieces that it is deployed from: those that are generated from
// the registry, and infra/aws/resources.yml for what is there once. CloudFormation and SQS call the attributes alike.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseDocument } from 'yaml';
import * as z from 'zod';
import type { Registered } from '../../core/controller.ts';
import { parseJson } from '../../core/parse-json.ts';
import { awsOf } from '../../generate/aws/resources.ts';
import { namePrefix } from '../../generate/aws/names.ts';

/** A queue as it should be. */
export type ExpectedQueue = {
  /** Without the prefix of the deployment. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Where letters go, without the prefix, and after how many receives. */
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

/** Lists the queues of a registry. Where the folder has no infra/aws, those that are there once are known by name alone. */
export async function expectedQueues(registry: readonly Registered[], root: string): Promise<readonly ExpectedQueue[]> {
  const aws = z
    .looseObject({ queueNames: z.record(z.string(), z.string()), resources: template })
    .parse(awsOf(registry));
  const once = await readFile(path.join(root, 'infra/aws/resources.yml'), 'utf8').catch(() => '');
  // !GetAtt and !Ref are CloudFormation's own tags; their values are read as texts.
  const stated = template.safeParse(parseDocument(once, { logLevel: 'silent' }).toJS()).data?.Resources ?? {};
  const queues = Object.entries({ ...aws.resources.Resources, ...stated }).flatMap(([id, { Type, Properties }]) => {
    const read = Type === 'AWS::SQS::Queue' ? properties.safeParse(Properties).data : undefined;
    return read === undefined ? [] : [{ id, name: nameOf(read.QueueName, aws.queueNames), properties: read }];
  });
  const known = new Map(queues.map(({ id, name }) => [id, name]));
  const found = queues.map(({ name, properties: { QueueName: _, RedrivePolicy: policy, ...rest } }) => {
    const letters = policy === undefined ? undefined : known.get(idIn(policy.deadLetterTargetArn));
    return {
      name,
      attributes: scalars(rest),
      ...(policy === undefined || letters === undefined
        ? {}
        : { deadLetters: { name: letters, maxReceiveCount: policy.maxReceiveCount } }),
    };
  });
  const missing = Object.values(aws.queueNames)
    .map((name) => nameOf(name, {}))
    .filter((name) => !found.some((one) => one.name === name));
  return [...found, ...missing.map((name) => ({ name, attributes: {} }))];
}

/** Strips `${self:custom.prefix}-`, and resolves `${self:custom.queues.timersQueue}`. */
function nameOf(text: string, names: Readonly<Record<string, string>>): string {
  const [, variable = ''] = /^\$\{self:custom\.queues\.(\w+)\}$/.exec(text) ?? [];
  return (names[variable] ?? text).replace(namePrefix, '');
}

/** The id in `!GetAtt Id.Arn`, which is read as a text, or in its long form. */
function idIn(arn: unknown): string {
  const long = z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.literal('Arn')]) }).safeParse(arn);
  return long.success ? long.data['Fn::GetAtt'][0] : String(arn).replace(/\.Arn$/, '');
}

/** What is decided only when it is deployed is not known here. */
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
