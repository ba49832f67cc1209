// The shell commands that create a deleted queue again, or reset a changed one. A deployment does neither:
// CloudFormation compares its templates with each other, and not with the resources. CloudFormation identifies a queue
// by its name, so a queue that is created by hand under the same name belongs to the stack again (AWS re:Post,
// "failing-stack-updates-deleted").
import type { ExpectedQueue } from './expected-queues.ts';

/** The location of a deployment's queues, from their URLs. */
type QueueLocation = {
  readonly prefix: string;
  readonly region: string | undefined;
  /** The prefix of its queues' ARNs. */
  readonly arnPrefix: string;
};

/** The policy of every queue: it denies plain HTTP. SQS takes `*` as the queue itself. */
export const queuePolicy = JSON.stringify({
  Version: '2012-10-17',
  Statement: [
    {
      Effect: 'Deny',
      Principal: '*',
      Action: 'sqs:*',
      Resource: '*',
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    },
  ],
});

/** Formats the command that creates a queue as it was deployed, with the policy that denies plain HTTP. */
export function createQueueCommand(
  { urlPrefix, project }: { readonly urlPrefix: string; readonly project: string },
  { name, attributes, deadLetters, source }: ExpectedQueue,
): string {
  const { prefix, region, arnPrefix } = locationOf(urlPrefix);
  const all = {
    ...attributes,
    ...redriveOf(arnPrefix, deadLetters),
    ...(source === undefined
      ? {}
      : {
          RedriveAllowPolicy: JSON.stringify({
            redrivePermission: 'byQueue',
            sourceQueueArns: [`${arnPrefix}${source}`],
          }),
        }),
    Policy: queuePolicy,
  };
  const stage = prefix.slice(`${project}-`.length, -1);
  const tags = `--tags service=${project},stage=${stage}`;
  const queue = `${regionOption(region)} --queue-name ${prefix}${name}`;
  return `aws sqs create-queue${queue} ${tags} --attributes '${JSON.stringify(all)}'`;
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
