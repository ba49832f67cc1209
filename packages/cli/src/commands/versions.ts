// `outrigger versions migrate`: moves the stored objects of a kind to the version that the CRD stores now. Afterwards a
// former version can be removed from the kind.
import { Command } from 'commander';
import { collectionName } from 'outrigger/internal/core/key';
import { discoverKinds } from 'outrigger/internal/kube/client/discovery';
import { retryingClient } from 'outrigger/internal/kube/client/retrying-client';
import { migrateVersions } from '../operations/migrate-versions.ts';
import { loadOrList } from '../project/list-controllers.ts';
import { acting, printError, printLines } from './command.ts';
import { findKind } from './find-kind.ts';
import { connectKubeconfig } from './kubeconfig-client.ts';

type Flags = { readonly kubeconfig?: string; readonly context?: string };

/** Makes the command. */
export function versionsCommand(): Command {
  const migrate = new Command('migrate')
    .description('write each object of a kind in the version that its CRD stores, and forget the former versions')
    .argument('<kind>', 'WaterTank, watertanks, or watertanks.plant.example.com if several kinds have the short name')
    .option('--kubeconfig <file>', 'the cluster, as an administrator; by default that of kubectl')
    .option('--context <name>', 'which context of the kubeconfig')
    .addHelpText('after', helpText)
    .action(acting(run));
  return new Command('versions').description('the stored versions of a kind').addCommand(migrate);
}

const helpText = `
Example:
  outrigger versions migrate WaterTank --kubeconfig admin.yaml

Apply the CRD with the new version first. No object changes, and none is reconciled. It can be killed at any point and
run again. It patches the objects, and the status of the CRD. Then remove the former version from formerVersions, when
no client uses it.
Exit status: 0 when all objects are stored in the new version; 1 when it failed.`;

async function run(text: string, { kubeconfig, context }: Flags, signal: AbortSignal): Promise<number> {
  const { registry } = await loadOrList(process.cwd());
  using connected = await connectKubeconfig(kubeconfig, context);
  const client = retryingClient(connected);
  const kind = findKind(registry, text, (await discoverKinds(client, { signal })).kinds);
  const onProgress = (objects: number) => printError(`${collectionName(kind)}: ${objects} objects`);
  const { version, former, objects } = await migrateVersions(client, kind, { onProgress, signal });
  const what = `${collectionName(kind)} is stored in ${version}`;
  printLines([former.length === 0 ? `${what} alone` : `${what}: ${objects} objects, none in ${former.join(', ')}`]);
  return 0;
}
