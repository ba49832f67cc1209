// `outrigger manifests`: writes what a cluster gets as one kustomize base. Without options it is that of each build.
import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { UserError } from 'outrigger/internal/core/errors';
import { watcherNames } from 'outrigger/internal/settings';
import { ofOthers } from '../aws/parameters.ts';
import { removeFile } from '../dev/replace-file.ts';
import { writeTextFile } from '../dev/text-file.ts';
import { manifestsFolder } from '../project/list-controllers.ts';
import { isManifestFile, projectManifests, readManifestInput } from '../project/manifests.ts';
import { readTextFile } from '../project/project.ts';
import { acting, printLines, wholeNumber } from './command.ts';

type Flags = {
  readonly out: string;
  readonly check?: true;
  readonly image?: string;
  readonly imagePullSecret?: string;
  readonly cluster?: string;
  readonly set: Readonly<Record<string, string>>;
  readonly roleArn?: string;
  readonly replicas?: number;
  readonly memory?: string;
  readonly fleet?: true;
};

/** Makes the command. */
export function manifestsCommand(): Command {
  return new Command('manifests')
    .description('write kinds, roles, policies and the watcher as a kustomize base')
    .option('--out <folder>', 'the folder of the base', manifestsFolder)
    .option('--check', 'write nothing; fail when a file of the folder is out of date')
    .option('--image <repository@digest>', 'the image of the watcher', matching(/^.+@sha256:[0-9a-f]{64}$/))
    .option('--image-pull-secret <name>', 'the Secret of a private registry', matching(/^[a-z0-9][a-z0-9.-]*$/))
    .option('--cluster <name>', 'the name of the cluster in the clusters table')
    .option('--set <NAME=value>', 'a setting of the watcher; may be repeated', setting, {})
    .option('--role-arn <arn>', 'the AWS role of the watcher, by IRSA', matching(/^arn:/))
    .option('--replicas <n>', 'how many watchers; 2 by default', wholeNumber)
    .option('--memory <amount>', 'the memory limit of a watcher, such as 1Gi', matching(/^\d+[MG]i$/))
    .option('--fleet', 'the fleet watcher in a management cluster, which watches every cluster of the clusters table')
    .addHelpText('after', helpText)
    .action(acting(run));
}

const helpText = `
Examples:
  outrigger manifests && kubectl apply --server-side -k ${manifestsFolder}
  outrigger manifests --cluster prod-eu --image registry.example.com/watcher@sha256:DIGEST --set QUEUE_URL_PREFIX=...
  outrigger manifests --out k8s/base            for GitOps: commit the folder; overlays refer to it
  outrigger manifests --out k8s/base --check    in CI
Files of the folder that it did not write stay as they are.
Exit status: 0 when the files are written, or up to date; 1 when not.`;

const matching = (pattern: RegExp) => (value: string) => {
  if (pattern.test(value)) return value;
  throw new InvalidArgumentError(`it has to match ${pattern.source}`);
};

const setting = (text: string, before: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  const [, name, value] = /^([A-Z][A-Z0-9_]*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('give NAME=value');
  return { ...before, [name]: value };
};

async function run({ out, check, cluster, set, ...options }: Flags): Promise<number> {
  const root = process.cwd();
  const known = watcherNames();
  const isKnown = (name: string) => known.has(name) || ofOthers.some((names) => names.test(name));
  const unknown = Object.keys(set).find((name) => !isKnown(name));
  if (unknown !== undefined)
    throw new UserError(`--set ${unknown}: a watcher has no such setting; it has ${[...known].join(', ')}`);
  const settings = { ...(cluster === undefined ? {} : { CLUSTER: cluster }), ...set };
  const files = await projectManifests(root, await readManifestInput(root), { ...options, settings });
  const folder = path.resolve(root, out);
  const { present, foreign } = await readFolder(folder);
  const taken = foreign.find((name) => files.has(name));
  if (taken !== undefined)
    throw new UserError(`${path.join(out, taken)}: this command did not write it; move it, or name another folder`);
  if (check === true) {
    const stale = [...new Set([...files.keys(), ...present.keys()])].filter(
      (name) => present.get(name) !== files.get(name),
    );
    if (stale.length === 0) return 0;
    const [first, ...others] = stale;
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    throw new UserError(`${path.join(out, String(first))}${more}: out of date; run the command without --check`);
  }
  await mkdir(folder, { recursive: true });
  const within = path.relative(root, folder).startsWith('..') ? folder : root;
  for (const name of present.keys()) if (!files.has(name)) await removeFile(path.join(folder, name), { within });
  for (const [name, text] of files) await writeTextFile(path.join(folder, name), text, within);
  if (foreign.length > 0) printLines([`left alone, because this command did not write them: ${foreign.join(', ')}`]);
  printLines([`${files.size} files in ${out}; apply them: kubectl apply --server-side -k ${out}`]);
  return 0;
}

/** Reads the files that this command has written to a folder, by name, and the names of those that it has not. */
async function readFolder(
  folder: string,
): Promise<{ readonly present: ReadonlyMap<string, string>; readonly foreign: readonly string[] }> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => /\.(ya?ml|json)$/.test(name)).toSorted();
  const texts = await Promise.all(names.map(async (name) => (await readTextFile(path.join(folder, name))) ?? ''));
  const all = names.map((name, index): [string, string] => [name, texts[index] ?? '']);
  const present = new Map(all.filter(([name, text]) => isManifestFile(name, text)));
  return { present, foreign: names.filter((name) => !present.has(name)) };
}
