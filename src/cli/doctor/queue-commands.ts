// What makes a queue again that was deleted, or sets one back that was changed, as commands for a shell. A deployment does neither:
// CloudFormation compares its templates with each other, not with the world. A queue is known by its name alone, so one that is made
// by hand under the same name is the stack's again (AWS re:Post, "failing-stack-updates-deleted").
import type { ExpectedQueue } from './expected-queues.ts';

/** Where a deployment's queues are, as their URLs say it. */
type Deployed = {
  readonly prefix: string;
  readonly region: string | undefined;
  /** What ARNs of its queues begin with. */
  readonly arnPrefix: string;
};

/** Writes the command that makes a queue as it was deployed, with the policy that refuses plain HTTP. */
export function createQueueCommand(urlPrefix: string, { name, attributes, deadLetters }: ExpectedQueue): string {
  const { prefix, region, arnPrefix } = deployedAt(urlPrefix);
  const statement = {
    ...{ Effect: 'Deny', Principal: '*', Action: 'sqs:*', Resource: `${arnPrefix}${name}` },
    Condition: { Bool: { 'aws:SecureTransport': 'false' } },
  };
  const all = {
    ...attributes,
    ...redriveOf(arnPrefix, deadLetters),
    Policy: JSON.stringify({ Version: '2012-10-17', Statement: [statement] }),
  };
  const stage = prefix.replace(/^outrigger-|-$/g, '');
  const tags = `--tags service=outrigger,stage=${stage}`;
  return `aws sqs create-queue${at(region)} --queue-name ${prefix}${name} ${tags} --attributes '${JSON.stringify(all)}'`;
}

/** Writes the command that gives a queue these attributes back, or where its letters go: some can be said when it is made alone. */
export function setQueueCommand(urlPrefix: string, { name, attributes, deadLetters }: ExpectedQueue): string {
  const { region, arnPrefix } = deployedAt(urlPrefix);
  const all = { ...attributes, ...redriveOf(arnPrefix, deadLetters) };
  const url = `${urlPrefix}${name}`;
  return `aws sqs set-queue-attributes${at(region)} --queue-url ${url} --attributes '${JSON.stringify(all)}'`;
}

function deployedAt(urlPrefix: string): Deployed {
  const { hostname, pathname } = new URL(urlPrefix);
  const [, account = '', prefix = ''] = pathname.split('/');
  const [, region] = /^sqs\.([a-z]+(?:-[a-z]+)+-\d)\./.exec(hostname) ?? [];
  const partition = /^(cn|us-gov)-/.exec(region ?? '')?.[1];
  const arnPrefix = `arn:aws${partition === undefined ? '' : `-${partition}`}:sqs:${region ?? ''}:${account}:${prefix}`;
  return { prefix, region, arnPrefix };
}

function at(region: string | undefined): string {
  return region === undefined ? '' : ` --region ${region}`;
}

function redriveOf(arnPrefix: string, deadLetters: ExpectedQueue['deadLetters']): { readonly RedrivePolicy?: string } {
  if (deadLetters === undefined) return {};
  const { name, maxReceiveCount } = deadLetters;
  return { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: `${arnPrefix}${name}`, maxReceiveCount }) };
}
