// The shell commands that create a deleted queue again, or reset a changed one. A deployment does neither:
// CloudFormation compares its templates with each other, and not with the resources. CloudFormation identifies a queue
// by its name, so a queue that is created by hand under the same name belongs to the stack again (AWS re:Post,
// "failing-stack-updates-deleted").
import { parseJson } from 'outrigger/internal/core/json';
import * as z from 'zod';
import { plainHttpDenied } from '../../aws/wakes.ts';
import { arnOf, awsCommand, locationOf } from '../place.ts';
import type { ExpectedQueue } from './expected-queues.ts';

/** What the options of a deployment have given its queues, as those have it that are left. */
export type GivenToQueues = {
  /** The attributes of any queue: all have the same key. */
  readonly encryption: Readonly<Record<string, string | undefined>>;
  /** The statements of their policies for the roles of other accounts that send keys (WATCHER_ROLES). */
  readonly senders: readonly unknown[];
};

const nothingGiven: GivenToQueues = { encryption: {}, senders: [] };

const policyShape = z.object({ Statement: z.array(z.unknown()) });
const arn = z.string().startsWith('arn:');
const send = z.literal('sqs:SendMessage');
const sendersShape = z.object({
  Effect: z.literal('Allow'),
  Principal: z.object({ AWS: z.union([arn, z.array(arn)]) }),
  Action: z.union([send, z.tuple([send])]),
});

/** Returns the statements of a live queue's policy that let named roles send, and nothing else. */
export function sendersOf(policy: string | undefined): readonly unknown[] {
  const { Statement = [] } = policyShape.safeParse(parseJson(policy ?? '')).data ?? {};
  return Statement.filter((one) => sendersShape.safeParse(one).success);
}

/**
 * Formats the policy of a queue: it denies plain HTTP, and permits roles of other accounts, and the rules of the stack
 * to send what they cannot deliver. SQS takes `*` as the queue itself. CloudFormation begins the name of a rule with
 * that of the stack.
 */
export function queuePolicy(
  urlPrefix: string,
  { takesEvents, takesKeys }: Pick<ExpectedQueue, 'takesEvents' | 'takesKeys'>,
  { senders }: Pick<GivenToQueues, 'senders'> = nothingGiven,
): string {
  const rules = arnOf(urlPrefix, 'events', `rule/${locationOf(urlPrefix).prefix}*`);
  const fromRules = {
    Effect: 'Allow',
    Principal: { Service: 'events.amazonaws.com' },
    Action: 'sqs:SendMessage',
    Resource: '*',
    Condition: { ArnLike: { 'aws:SourceArn': rules } },
  };
  const Statement = [
    plainHttpDenied,
    ...(takesEvents === undefined ? [] : [fromRules]),
    ...(takesKeys === undefined ? [] : senders),
  ];
  return JSON.stringify({ Version: '2012-10-17', Statement });
}

/** Formats the command that creates a queue as it was deployed. */
export function createQueueCommand(
  { urlPrefix, project }: { readonly urlPrefix: string; readonly project: string },
  queue: ExpectedQueue,
  given: GivenToQueues = nothingGiven,
): string {
  const { name, attributes, deadLetters, source } = queue;
  const { prefix } = locationOf(urlPrefix);
  const all = {
    ...attributes,
    ...Object.fromEntries(Object.entries(given.encryption).filter(([attribute]) => attribute.startsWith('Kms'))),
    ...redriveOf(urlPrefix, deadLetters),
    ...(source === undefined
      ? {}
      : {
          RedriveAllowPolicy: JSON.stringify({
            redrivePermission: 'byQueue',
            sourceQueueArns: [arnOf(urlPrefix, 'sqs', `${prefix}${source}`)],
          }),
        }),
    Policy: queuePolicy(urlPrefix, queue, given),
  };
  const stage = prefix.slice(`${project}-`.length, -1);
  const named = `--queue-name ${prefix}${name} --tags service=${project},stage=${stage}`;
  return awsCommand(urlPrefix, 'sqs create-queue', `${named} --attributes '${JSON.stringify(all)}'`);
}

/** Formats the command that sets these attributes of a queue, or its redrive policy. */
export function setQueueCommand(urlPrefix: string, { name, attributes, deadLetters }: ExpectedQueue): string {
  const all = { ...attributes, ...redriveOf(urlPrefix, deadLetters) };
  const options = `--queue-url ${urlPrefix}${name} --attributes '${JSON.stringify(all)}'`;
  return awsCommand(urlPrefix, 'sqs set-queue-attributes', options);
}

function redriveOf(urlPrefix: string, deadLetters: ExpectedQueue['deadLetters']): { readonly RedrivePolicy?: string } {
  if (deadLetters === undefined) return {};
  const { name, maxReceiveCount } = deadLetters;
  const deadLetterTargetArn = arnOf(urlPrefix, 'sqs', `${locationOf(urlPrefix).prefix}${name}`);
  return { RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount }) };
}
