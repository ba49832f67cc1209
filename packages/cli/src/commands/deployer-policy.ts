// `outrigger deployer-policy`: prints the IAM policy of whoever deploys what is packaged.
import path from 'node:path';
import { Command } from 'commander';
import { UserError } from 'outrigger/internal/core/errors';
import { parseJson } from 'outrigger/internal/core/json';
import { deploymentPrefix } from 'outrigger/internal/core/names';
import * as z from 'zod';
import { deployerPolicy } from '../aws/deployer.ts';
import { packagedFile } from '../dev/packaged-template.ts';
import { readProjectName, readTextFile } from '../project/project.ts';
import { metadataKey } from '../serverless/former.ts';
import { acting, printJson } from './command.ts';

const template = z.object({
  Resources: z.record(z.string(), z.object({ Type: z.string() })),
  Metadata: z.object({ [metadataKey]: z.object({ KMS_KEY_ARN: z.string().optional() }).optional() }).optional(),
});

/** Makes the command. */
export function deployerPolicyCommand(): Command {
  return new Command('deployer-policy')
    .description('print the IAM policy of whoever deploys the packaged template')
    .requiredOption('--stage <name>', 'the stage that is deployed')
    .addHelpText('after', helpText)
    .action(acting(run));
}

const helpText = `
Example:
  npx osls package --stage prod && outrigger deployer-policy --stage prod > deployer.json

It calls nothing on AWS. The policy was not tried on AWS: an action that is missing is an AccessDenied that names it.
Exit status: 0; 1 if nothing is packaged, or if the template has a type whose actions are not known.`;

async function run({ stage }: { readonly stage: string }): Promise<number> {
  const root = process.cwd();
  const text = (await readTextFile(path.join(root, packagedFile))) ?? '';
  const { data } = template.safeParse(parseJson(text));
  if (data === undefined)
    throw new UserError(`${packagedFile}: nothing is packaged; npx osls package --stage ${stage}`);
  const stack = deploymentPrefix(stage, await readProjectName(root)).slice(0, -1);
  printJson(
    deployerPolicy(
      Object.values(data.Resources).map(({ Type }) => Type),
      stack,
      data.Metadata?.[metadataKey]?.KMS_KEY_ARN,
    ),
  );
  return 0;
}
