// Builds what is deployed, for programs and tests: the bundles, and the CloudFormation template that osls packages.
// Packaging takes seconds, so the template is cached until one of its inputs changes.
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { type Build, buildBundles, withLock } from '@outrigger/cli/dev/artifacts';
import { hashFiles } from '@outrigger/cli/dev/hash-files';
import { packagedFile, runOsls } from '@outrigger/cli/dev/packaged-template';
import { replaceFile } from '@outrigger/cli/dev/replace-file';

/** Builds and packages below the root where needed. Returns the text of the packaged template. */
export async function buildArtifacts(build: Build, root: string, signal: AbortSignal): Promise<string> {
  await buildBundles(build, root, signal);
  const lock = path.join(root, '.outrigger', 'cache', 'artifacts');
  return await withLock(lock, async () => await packagedTemplate(root, signal), signal);
}

/** The version of osls is in one of the two lock files, as its program is. */
const inputs = ['serverless.yml', 'package.json', 'src', 'package-lock.json', 'infra/package-lock.json'];

/**
 * Reads the template, and packages first if it is stale. The bundles must exist: packaging zips them. Throws UserError
 * with the output of osls if packaging fails.
 */
export async function packagedTemplate(root: string, signal: AbortSignal): Promise<string> {
  const hash = await hashFiles(root, inputs);
  const cachedFile = path.join(root, '.outrigger', 'cache', `template-${hash}.json`);
  const cached = await readFile(cachedFile, 'utf8').catch(() => undefined);
  if (cached !== undefined) return cached;
  await runOsls(root, signal);
  const text = await readFile(path.join(root, packagedFile), 'utf8');
  const folder = path.dirname(cachedFile);
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    if (name.startsWith('template-')) await rm(path.join(folder, name), { force: true });
  }
  await replaceFile(cachedFile, text);
  return text;
}
