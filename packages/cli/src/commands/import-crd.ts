// `outrigger import crd`: writes a foreign kind with its types from a CustomResourceDefinition in a file or a cluster.
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { Command } from 'commander';
import { SchemaError, UserError } from 'outrigger/internal/core/errors';
import { isRecord } from 'outrigger/internal/core/json';
import { describeKind } from 'outrigger/internal/core/kind-names';
import { getObject } from 'outrigger/internal/kube/client/read';
import { parseManifests } from 'outrigger/internal/testing/manifests';
import { replaceFile } from '../dev/replace-file.ts';
import { importCrd, importedHeader } from '../import/import-crd.ts';
import { isRepository, readTextFile } from '../project/project.ts';
import { acting, printLines } from './command.ts';
import { connectKubeconfig } from './kubeconfig-client.ts';

type Flags = {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly kindVersion?: string;
  readonly zod?: true;
  readonly out: string;
};

/** Makes the command. */
export function importCommand(): Command {
  const crd = new Command('crd')
    .description('write a kind with TypeScript types from a CustomResourceDefinition')
    .argument(
      '<file|name>',
      'a YAML file with CRDs, or with --kubeconfig the name of one: certificates.cert-manager.io',
    )
    .option('--kubeconfig <file>', 'read the CRD of that name from this cluster')
    .option('--context <name>', 'the context of the kubeconfig; the current one by default')
    .option('--kind-version <name>', 'the version of the kind; the stored one by default')
    .option('--zod', 'write a zod schema too')
    .option('--out <folder>', 'the folder of the modules', 'src/kinds')
    .addHelpText('after', helpText)
    .action(acting(run));
  return new Command('import').description('write kinds of other projects').addCommand(crd);
}

const CustomResourceDefinition = describeKind({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  scope: 'Cluster',
});

const helpText = `
Examples:
  outrigger import crd crd-certificates.yaml
  outrigger import crd certificates.cert-manager.io --kubeconfig ~/.kube/config --zod

It writes one module for each CRD, src/kinds/certificate.ts. A module that the command did not write is not overwritten.
The types have what the API server validates. Lengths, patterns and rules stay its to check.
Exit status: 0 when every CRD was written, 1 when one was not.`;

async function run(from: string, flags: Flags, signal: AbortSignal): Promise<number> {
  const { kindVersion: version, zod, out } = flags;
  if (flags.context !== undefined && flags.kubeconfig === undefined)
    throw new UserError('--context is one of a kubeconfig; add --kubeconfig FILE');
  const crds = flags.kubeconfig === undefined ? await readCrds(from) : [await readFromCluster(from, flags, signal)];
  const source = (await isRepository(process.cwd())) ? '../outrigger.ts' : 'outrigger';
  const modules = crds.map((crd) => {
    try {
      return importCrd(crd, { source, withZod: zod === true, version });
    } catch (error) {
      if (error instanceof SchemaError) throw new UserError(`${from}: ${error.message}`, { cause: error });
      throw error;
    }
  });
  for (const { name, kind, text } of modules) {
    const file = path.join(
      out,
      `${kind.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '-').toLowerCase()}.ts`,
    );
    const existing = await readTextFile(file);
    if (existing !== undefined && !existing.startsWith(`${importedHeader} ${name}, `)) {
      const whose = existing.startsWith(importedHeader) ? 'has the kind of another CRD' : 'is not of this command';
      throw new UserError(`${file} ${whose}, and is not overwritten; name another folder for ${name} with --out`);
    }
    await mkdir(out, { recursive: true });
    await replaceFile(file, text);
    printLines([`${file}: ${kind}`]);
  }
  return 0;
}

async function readCrds(file: string): Promise<readonly unknown[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const isName = !file.includes('/') && !/\.ya?ml$/.test(file);
    const hint = isName ? '; to read it from a cluster, add --kubeconfig FILE' : '; give a YAML file with CRDs';
    throw new UserError(`${file}: cannot be read${hint}`, { cause: error });
  });
  const manifests = withinTime(parseMilliseconds(text.length), () => parseManifests(text, file));
  if (manifests === undefined) throw new UserError(`${file}: is YAML that takes too long to be read`);
  const crds = manifests.filter(({ kind }) => kind === CustomResourceDefinition.kind);
  if (crds.length === 0)
    throw new UserError(
      `${file}: there is no CustomResourceDefinition in it; give the file that has the CRDs, or the name of one with ` +
        '--kubeconfig FILE',
    );
  return crds.map(({ object }) => object);
}

/** Ten times what the CRDs of other projects take. There is YAML that takes a time that grows with the square of it. */
function parseMilliseconds(characters: number): number {
  return 2_000 + characters / 100;
}

/** Returns what the function returns, or undefined if it takes longer: V8 then ends it. The function may throw. */
function withinTime<T>(milliseconds: number, work: () => T): T | undefined {
  let result: T | undefined;
  const run = () => {
    result = work();
  };
  try {
    runInNewContext('run()', { run }, { timeout: Math.ceil(milliseconds) });
  } catch (error) {
    // It is an Error of the other context, and so of no class here.
    const isTimeout = isRecord(error) && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
    if (isTimeout) return undefined;
    throw error;
  }
  return result;
}

async function readFromCluster(name: string, { kubeconfig, context }: Flags, signal: AbortSignal): Promise<object> {
  using client = await connectKubeconfig(kubeconfig, context);
  const crd = await getObject(client, CustomResourceDefinition, { name }, { signal });
  if (crd === undefined)
    throw new UserError(`the cluster has no CustomResourceDefinition ${name}; kubectl get crds lists the names`);
  return { apiVersion: CustomResourceDefinition.apiVersion, kind: CustomResourceDefinition.kind, ...crd };
}
