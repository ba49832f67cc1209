// Refuses a command of osls for the stack of another project: `cafes` at the stage `eu-prod` and `cafes-eu` at `prod`
// have one name of a stack, and the deployment of one would delete the queues of the other.
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { OptionError } from './options.ts';

/** The parts of a stack that are compared: serverless.yml sets the tags. */
type Stacks = {
  readonly Stacks?: readonly { readonly Tags?: readonly { readonly Key?: string; readonly Value?: string }[] }[];
};

/** The provider of osls, and the part of the AWS SDK that osls brings. */
export type Provider = {
  readonly naming: { getStackName(): string };
  getCloudFormationClient(): Promise<{ send(command: object): Promise<Stacks> }>;
};
type CloudFormation = { readonly DescribeStacksCommand: new (input: { readonly StackName: string }) => object };

/** Throws OptionError if the stack of this name is that of another project or stage. */
export async function checkStack(
  provider: Provider,
  { project, stage }: { readonly project: string; readonly stage: string },
): Promise<void> {
  const StackName = provider.naming.getStackName();
  // A project need not have the package that osls depends on.
  const osls = createRequire(realpathSync(process.argv[1] ?? ''));
  const { DescribeStacksCommand }: CloudFormation = osls('@aws-sdk/client-cloudformation');
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
}
