// The queues of a deployment with their attributes, from the resources that it is deployed from. CloudFormation and SQS
// have the same names for the attributes.

import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { parseJson } from 'outrigger/internal/core/json';
import { queuesOf, resyncQueue } from 'outrigger/internal/core/names';
import * as z from 'zod';
import { namePrefix } from '../../aws/names.ts';
import { awsOf } from '../../aws/resources.ts';

/** A queue as it is deployed. */
export type ExpectedQueue = {
  /** Without the prefix of the deployment. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The dead-letter queue, without the prefix, and the number of receives after which SQS moves a message. */
  readonly deadLetters?: { readonly name: string; readonly maxReceiveCount: number };
  /** Of a dead-letter queue: the queue, without the prefix, that alone may move messages to it. */
  readonly source?: string;
  /** Whether rules of EventBridge send to it what they cannot deliver. */
  readonly takesEvents?: true;
  /** Whether watchers send keys to it. */
  readonly takesKeys?: true;
};

const queueName = z.string();
const properties = z.looseObject({
  QueueName: queueName,
  RedrivePolicy: z.object({ deadLetterTargetArn: z.unknown(), maxReceiveCount: z.number() }).optional(),
  RedriveAllowPolicy: z.object({ sourceQueueArns: z.tuple([z.object({ 'Fn::Sub': z.string() })]) }).optional(),
});

const policyOfRules = z.looseObject({
  Queues: z.array(z.object({ Ref: z.string() })),
  PolicyDocument: z.looseObject({ Statement: z.array(z.unknown()) }),
});

/** Lists the queues of a registry. Of further controllers, whose code did not load, only the names are known. */
export function expectedQueues(
  registry: readonly ControllerDefinition[],
  controllers: readonly { readonly name: string }[] = registry,
): readonly ExpectedQueue[] {
  const { Resources } = awsOf(registry).resources;
  const queues = Object.entries(Resources).flatMap(([id, { Type, Properties }]) => {
    const read = Type === 'AWS::SQS::Queue' ? properties.safeParse(Properties).data : undefined;
    return read === undefined ? [] : [{ id, name: read.QueueName.replace(namePrefix, ''), properties: read }];
  });
  const known = new Map(queues.map(({ id, name }) => [id, name]));
  const taking = Object.values(Resources).flatMap(({ Type, Properties }) => {
    const read = Type === 'AWS::SQS::QueuePolicy' ? policyOfRules.safeParse(Properties).data : undefined;
    const isOfRules = JSON.stringify(read?.PolicyDocument ?? '').includes('events.amazonaws.com');
    return isOfRules ? (read?.Queues.map(({ Ref }) => known.get(Ref)) ?? []) : [];
  });
  const found = queues.map(
    ({ name, properties: { QueueName: _, RedrivePolicy: policy, RedriveAllowPolicy: allow, ...rest } }) => {
      const deadLetterQueue = policy === undefined ? undefined : known.get(idIn(policy.deadLetterTargetArn));
      const source = allow?.sourceQueueArns[0]['Fn::Sub'].split(namePrefix)[1];
      return {
        name,
        source,
        ...(taking.includes(name) ? { takesEvents: true as const } : {}),
        attributes: scalars(rest),
        ...(policy === undefined || deadLetterQueue === undefined
          ? {}
          : { deadLetters: { name: deadLetterQueue, maxReceiveCount: policy.maxReceiveCount } }),
      };
    },
  );
  const pairs = queuesOf(controllers);
  const keyed = new Set(pairs.flatMap(({ queue }) => (queue === resyncQueue ? [] : [queue])));
  const names = pairs.flatMap(({ queue, deadLetterQueue }) => [queue, deadLetterQueue]);
  const others = names.filter((name) => !found.some((one) => one.name === name));
  const all: readonly ExpectedQueue[] = [...found, ...others.map((name) => ({ name, attributes: {} }))];
  return all.map((one) => (keyed.has(one.name) ? { ...one, takesKeys: true } : one));
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
