// Refuses an id that exists twice, and names that are too long for AWS. The length depends on the project, the stage
// and the controller's name. Without this check CloudFormation would refuse them during the deployment.
import { OptionError } from './options.ts';
import type { Template } from './template.ts';

/** By type: the property that has the name, and the maximum number of characters. */
const limits: Readonly<Record<string, { readonly property: string; readonly most: number; readonly lower?: true }>> = {
  'AWS::SQS::Queue': { property: 'QueueName', most: 80 },
  'AWS::Lambda::Function': { property: 'FunctionName', most: 64 },
  'AWS::IAM::Role': { property: 'RoleName', most: 64 },
  'AWS::S3::Bucket': { property: 'BucketName', most: 63, lower: true },
  'AWS::Scheduler::Schedule': { property: 'Name', most: 64 },
};

/** What the names of a deployment are made of, next to the controller's name. */
type Deployment = { readonly project: string; readonly stage: string; readonly region: string };

/** Throws OptionError for an id that exists twice, and a name that is too long, or not valid for a bucket. */
export function checkNames({ Parameters = {}, Resources }: Template, deployment: Deployment): void {
  const twice = Object.keys(Parameters).find((id) => id in Resources);
  if (twice !== undefined)
    throw new OptionError(
      `${twice} is a resource and a parameter; rename the setting of a controller that is the parameter ${twice}`,
    );
  for (const { Type, Properties = {} } of Object.values(Resources)) {
    const limit = limits[Type];
    if (limit === undefined) continue;
    const name = nameOf(Properties[limit.property], deployment.region);
    if (name === undefined) continue;
    if (limit.lower === true && name !== name.toLowerCase())
      throw new OptionError(`--stage: ${name} has upper-case letters, which ${Type} does not accept`);
    if (name.length > limit.most)
      throw new OptionError(
        `${name} has ${name.length} characters, and ${Type} at most ${limit.most}; ` +
          `shorten its longest part: ${longestPart(name, deployment)}`,
      );
  }
}

/** Names the part that has to become shorter: the project, the stage, or what follows them. */
function longestPart(name: string, { project, stage, region }: Deployment): string {
  const prefix = `${project}-${stage}-`;
  const own = name.startsWith(prefix) ? name.slice(prefix.length) : name;
  const rest = own.replace(`-${region}`, '').replace(/(-dlq)?\.fifo$/, '');
  const parts = [
    { text: project, what: `the project ${project} (outrigger.project in package.json)` },
    { text: stage, what: `the stage ${stage} (--stage)` },
    { text: rest, what: `the controller ${rest}` },
  ];
  return parts.reduce((longest, part) => (part.text.length > longest.text.length ? part : longest)).what;
}

/** Returns a name as CloudFormation resolves it: text, or a Fn::Sub of the region and the account's 12 digits. */
function nameOf(value: unknown, region: string): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || !('Fn::Sub' in value)) return undefined;
  return String(value['Fn::Sub']).replace('${AWS::Region}', region).replace('${AWS::AccountId}', '0'.repeat(12));
}
