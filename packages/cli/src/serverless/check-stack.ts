// Refuses a command of osls for the stack of another project: `cafes` at the stage `eu-prod` and `cafes-eu` at `prod`
// have one name of a stack, and the deployment of one would delete the queues of the other.
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { SQSClientConfig } from '@aws-sdk/client-sqs';
import { OptionError } from './options.ts';

/** The parts of a stack that are compared: serverless.yml sets the tags. */
type Stacks = {
  readonly Stacks?: readonly {
    readonly Tags?: readonly { readonly Key?: string; readonly Value?: string }[];
    readonly Outputs?: readonly { readonly OutputKey?: string; readonly OutputValue?: string }[];
  }[];
};

/** The provider of osls, and the part of the AWS SDK that osls brings. */
export type Provider = {
  readonly naming: { getStackName(): string };
  getCloudFormationClient(): Promise<{ send(command: object): Promise<Stacks & { readonly TemplateBody?: unknown }> }>;
  /** The region and the credentials, for a client of the AWS SDK. */
  getAwsSdkV3Config(): Promise<SQSClientConfig>;
};
type Command<T> = new (input: T & { readonly StackName: string }) => object;
type CloudFormation = {
  readonly DescribeStacksCommand: Command<object>;
  readonly GetTemplateCommand: Command<{ readonly TemplateStage: 'Original' }>;
};

/** The commands of the client that osls brings: a project need not have the package that osls depends on. */
export function cloudFormationOfOsls(): CloudFormation {
  return createRequire(realpathSync(process.argv[1] ?? ''))('@aws-sdk/client-cloudformation');
}

/**
 * Throws OptionError if the stack of this name is that of another project or stage. Returns its clusters table, if it
 * has one.
 */
export async function checkStack(
  provider: Provider,
  { project, stage }: { readonly project: string; readonly stage: string },
): Promise<string | undefined> {
  const StackName = provider.naming.getStackName();
  const { DescribeStacksCommand } = cloudFormationOfOsls();
  // osls makes the same request, and reports its errors, unless there is no stack.
  const { Stacks = [] } = await provider
    .getCloudFormationClient()
    .then((client) => client.send(new DescribeStacksCommand({ StackName })))
    .catch((): Stacks => ({}));
  const tags = new Map(Stacks[0]?.Tags?.map(({ Key, Value }) => [Key, Value]));
  const [owner, itsStage] = [tags.get('service') ?? project, tags.get('stage') ?? stage];
  if (owner !== project || itsStage !== stage)
    throw new OptionError(
      `the stack ${StackName} is of the project ${owner} at the stage ${itsStage}, not of ${project} at ${stage}; ` +
        'give another --stage, or another outrigger.project in package.json',
    );
  return Stacks[0]?.Outputs?.find(({ OutputKey }) => OutputKey === 'ClustersTable')?.OutputValue;
}
