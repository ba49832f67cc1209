// Packages serverless.yml and its includes with osls, without bundles and credentials, and returns the CloudFormation
// template.
import { serviceFolder } from '../support/service-folder.ts';

/** Packages a stage with parameters as of `--param`. Resolves with the template's text. */
export async function packageTemplate(
  stage: string,
  parameters: readonly string[] = [],
  { project }: { readonly project?: string } = {},
): Promise<string> {
  const service = await serviceFolder(project);
  try {
    const { status, output } = await service.osls([
      ...['package', '--stage', stage],
      ...parameters.flatMap((parameter) => ['--param', parameter]),
    ]);
    if (status !== 0) throw new Error(`osls package ended with ${status}: ${output}`);
    return await service.template();
  } finally {
    await service.remove();
  }
}
