// Refuses names that are too long for AWS. The length depends on the stage and the controller's name. Without this
// check CloudFormation would refuse the name during the deployment.
import { OptionError } from './options.ts';
import type { Template } from './with-options.ts';

/** By type: the property that has the name, and the maximum number of characters. */
const limits: Readonly<Record<string, { readonly property: string; readonly most: number }>> = {
  'AWS::SQS::Queue': { property: 'QueueName', most: 80 },
  'AWS::Lambda::Function': { property: 'FunctionName', most: 64 },
  'AWS::IAM::Role': { property: 'RoleName', most: 64 },
};

/** Throws OptionError for the first name that is too long. */
export function checkNames({ Resources }: Template, region: string): void {
  for (const { Type, Properties = {} } of Object.values(Resources)) {
    const limit = limits[Type];
    if (limit === undefined) continue;
    const name = nameOf(Properties[limit.property], region);
    if (name === undefined) continue;
    if (name.length > limit.most)
      throw new OptionError(
        `--stage: ${name} is longer than the ${limit.most} characters of ${Type}; use a shorter one`,
      );
  }
}

/** Returns a name as CloudFormation resolves it: text, or a Fn::Sub of the region. */
function nameOf(value: unknown, region: string): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || !('Fn::Sub' in value)) return undefined;
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Fn::Sub
  return String(value['Fn::Sub']).replace('${AWS::Region}', region);
}
