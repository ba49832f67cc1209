// The shell commands that create a deleted queue again, or reset a changed one. A deployment does neither:
// CloudFormation compares its templates with each other, and not with the resources. CloudFormation identifies a queue
// by its name, so a queue that is created by hand under the same name belongs to the stack again (AWS re:Post,
// "failing-stack-updates-deleted").
import { plainHttpDenied } from '../../aws/wakes.ts';
import type { ExpectedQueue } from './expected-queues.ts';

/** The location of a deployment's queues, from their URLs. */
type QueueLocation = {
  readonly prefix: string;
  readonly region: string | undefined;
  /** The prefix of its queues' ARNs. */
  readonly arnPrefix: string;
};

/**
 * Formats the policy of a queue: it denies plain HTTP, and permits the rules of the stack to send what they cannot
 * deliver. SQS takes `*` as the queue itself. CloudFormation begins the name of a rule with that of the stack.
 */
export function queuePolicy(urlPrefix: string, { takesEvents }: Pick<ExpectedQueue, 'takesEvents'>): string {
  const { prefix, arnPrefix } = locationOf(urlPrefix);
  const rules = `${arnPrefix.replace(':sqs:', ':events:').slice(0, -prefix.length)}rule/${prefix}*`;
  const fromRules = {
    Effect: 'Allow',
    Principal: { Service: 'events.amazonaws.com' },
    Action: 'sqs:SendMessage',
    Resource: '*',
    Condition: { ArnLike: { 'aws:SourceArn': rules } },
  };
  const Statement = [plainHttpDenied, ...(takesEvents === undefined ? [] : [fromRules])];
  return JSON.stringify({ Version: '2012-10-17', Statement });
}

/**
 * Formats the command that creates a queue as it was deployed.
 * @param encryption the attributes of another queue of the deployment: all have the same key
 */
export function createQueueCommand(
  { urlPrefix, project }: { readonly urlPrefix: string; readonly project: string },
  queue: ExpectedQueue,
  encryption: Readonly<Record<string, string>> = {},
): string {
  const { name, attributes, deadLetters, source } = queue;
  const { prefix, region, arnPrefix } = locationOf(urlPrefix);
  const all = {
    ...attributes,
    ...Object.fromEntries(Object.entries(encryption).filter(([attribute]) => attribute.startsWith('Kms'))),
    ...redriveOf(arnPrefix, deadLetters),
    ...(source === undefined
      ? {}
      : {
          RedriveAllowPolicy: JSON.stringify({
            redrivePermission: 'byQueue',
            sourceQueueArns: [`${arnPrefix}${source}`],
          }),
        }),
    Policy: queuePolicy(urlPrefix, queue),
  };
  const stage = prefix.slice(`${project}-`.length, -1);
  const tags = `--tags service=${project},stage=${stage}`;
  const named = `${regionOption(region)} --queue-name ${prefix}${name}`;
  return `aws sqs create-queue${named} ${tags} --attributes '${JSON.stringify(all)}'`;
}

/** Formats the command that sets these attributes of a queue, or its redrive policy. */
export function setQueueCommand(urlPrefix: string, { name, attributes, deadLetters }: ExpectedQueue): string {
  const { region, arnPrefix } = locationOf(urlPrefix);
  const all = { ...attributes, ...redriveOf(arnPrefix, deadLetters) };
  const url = `${urlPrefix}${name}`;
  return `aws sqs set-queue-attributes${regionOption(region)} --queue-url ${url} --attributes '${JSON.stringify(all)}'`;
}

function locationOf(urlPrefix: string): QueueLocation {
  const { hostname, pathname } = new URL(urlPrefix);
  const [, account = '', prefix = ''] = pathname.split('/');
  const [, region] = /^sqs\.([a-z]+(?:-[a-z]+)+-\d)\./.exec(hostname) ?? [];
  const partition = /^(cn|us-gov)-/.exec(region ?? '')?.[1];
  const arnPrefix = `arn:aws${partition === undefined ? '' : `-${partition}`}:sqs:${region ?? ''}:${account}:${prefix}`;
  return { prefix, region, arnPrefix };
}

function regionOption(region: string | undefined): string {
  return region === undefined ? '' : ` --region ${region}`;
}

function redriveOf(arnPrefix: string, deadLetters: ExpectedQueue['deadLetters']): { readonly RedrivePolicy?: string } {
  if (deadLetters === undefined) return {};
  const { name, maxReceiveCount } = deadLetters;
  return { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: `${arnPrefix}${name}`, maxReceiveCount }) };
}
