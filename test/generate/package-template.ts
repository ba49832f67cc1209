// Packages serverless.yml and its includes with osls, without bundles and credentials, and returns the CloudFormation
// template.
import path from 'node:path';
import { build } from '@outrigger/cli/commands/build';
import { buildArtifacts } from '../../tools/artifacts.ts';
import { serviceFolder } from '../support/service-folder.ts';

const root = path.resolve(import.meta.dirname, '../..');
const artifactsMilliseconds = 200_000;

/** Returns the template of stage `dev` without parameters, which is packaged once for all tests. */
export async function devTemplate(): Promise<string> {
  return await buildArtifacts(build, root, AbortSignal.timeout(artifactsMilliseconds));
}

/** The file of a registry, from `test`, and the name under which the file exports it. */
export type RegistryModule = readonly [file: string, name: string];

/**
 * Packages a stage with parameters as of `--param`. Resolves with the template's text. `registry`: other controllers
 * than those of the repository. `more`: further lines of serverless.yml.
 */
export async function packageTemplate(
  stage: string,
  parameters: readonly string[] = [],
  {
    project,
    registry,
    more,
  }: { readonly project?: string; readonly registry?: RegistryModule; readonly more?: string } = {},
): Promise<string> {
  const service = await serviceFolder(project);
  try {
    if (registry !== undefined) await service.setRegistry(...registry);
    if (more !== undefined) await service.extend(more);
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
