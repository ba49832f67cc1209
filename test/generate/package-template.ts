// What osls makes of serverless.yml and the pieces that it includes, without bundles and without credentials: the text of the
// template that it would give to CloudFormation.
import { serviceFolder } from '../support/service-folder.ts';

/** Packages a stage, with parameters as `--param` takes them; resolves with the template's text. */
export async function packageTemplate(stage: string, parameters: readonly string[] = []): Promise<string> {
  const service = await serviceFolder();
  try {
    const { status, said } = await service.osls([
      ...['package', '--stage', stage],
      ...parameters.flatMap((parameter) => ['--param', parameter]),
    ]);
    if (status !== 0) throw new Error(`osls package ended with ${status}: ${said}`);
    return await service.template();
  } finally {
    await service.remove();
  }
}
