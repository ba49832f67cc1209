// Packages serverless.yml and its includes with osls, without bundles and credentials, and returns the CloudFormation
// template.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { build } from '../../src/cli/build.ts';
import { buildArtifacts } from '../../src/dev/artifacts.ts';
import { generatedFiles } from '../../src/generate/files.ts';
import { serviceFolder } from '../support/service-folder.ts';

const root = path.resolve(import.meta.dirname, '../..');
const artifactsMilliseconds = 200_000;

/** Returns the template of stage `dev` without parameters, which is packaged once for all tests. */
export async function devTemplate(): Promise<string> {
  return await buildArtifacts(build, root, AbortSignal.timeout(artifactsMilliseconds));
}

/**
 * Packages a stage with parameters as of `--param`. Resolves with the template's text. `registry`: other controllers
 * than those of the repository.
 */
export async function packageTemplate(
  stage: string,
  parameters: readonly string[] = [],
  { project, registry }: { readonly project?: string; readonly registry?: readonly ControllerDefinition[] } = {},
): Promise<string> {
  const service = await serviceFolder(project);
  try {
    const generated = 'infra/aws/generated/controllers.yml';
    if (registry !== undefined) {
      await writeFile(path.join(service.folder, generated), generatedFiles(registry).get(generated) ?? '');
      await service.addBundles([...registry.map(({ name }) => name), 'wake']);
    }
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
