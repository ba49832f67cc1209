// `outrigger clusters decommission`: the first step of decommissioning a cluster. From then on the functions delete its
// messages, so an object that still has a finalizer of a controller could never be deleted.
import { Command } from 'commander';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { parseEntry } from 'outrigger/internal/clusters/registry/entry';
import { toError, UserError } from 'outrigger/internal/core/errors';
import { collectionName } from 'outrigger/internal/core/key';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { isKindNotServed } from 'outrigger/internal/kube/client/errors';
import { retryingClient } from 'outrigger/internal/kube/client/retrying-client';
import { loadProject, readNamespaces, readProjectName } from '../../project/project.ts';
import { acting, printLines } from '../command.ts';
import type { Installation } from '../installation.ts';
import { findHeld } from '../object-keys.ts';
import { placeOptions } from '../place.ts';
import { connectEntry } from './connect-entry.ts';
import { namesOf, withDecommissioning } from './edit-table.ts';
import { changeTable, readTable, type TableFlags, tableLocation } from './table.ts';
import { withTableOptions } from './table-options.ts';

type Flags = TableFlags & { readonly leaveObjects?: true };

/** Makes the command. */
export function decommissionCommand(): Command {
  return withTableOptions(new Command('decommission'))
    .description('decommission a cluster: nothing of it is reconciled any more, and its messages are deleted')
    .argument('<name>', 'the name of the cluster')
    .option('--leave-objects', 'also if objects have finalizers of the controllers, or the cluster cannot be read')
    .addHelpText('after', helpText)
    .action(acting(run));
}

const helpText = `
Examples:
  outrigger clusters decommission prod-1 --stage dev
  outrigger clusters decommission prod-1 --stage dev --leave-objects     the cluster is gone
To decommission a cluster in order:
  1. Delete the objects whose clean-up outside of the cluster you want, and wait until they are gone.
  2. Run outrigger detach KIND --cluster NAME --stage STAGE --yes for each kind whose objects stay.
  3. Run this command. It is refused while an object has a finalizer of a controller: nothing would remove it.
  4. Stop the watchers, and remove the manifests: kubectl delete -k dist/kubernetes. A fleet watcher stops by itself.
  5. Delete the access entries or the bindings of the functions.
  6. Run outrigger clusters remove NAME when no message of it is deleted any more: the metric
     DecommissioningClusterMessages, or log lines "reconciled" with the reason decommissioning.
     A message that comes later becomes a dead letter.
For a while use outrigger clusters pause instead, which keeps the messages.
Exit status 1: nothing was written; the last line names the next step.`;

async function run(name: string, flags: Flags, signal: AbortSignal): Promise<number> {
  const location = await tableLocation(flags);
  const entries = await readTable(location, flags);
  // Refuses what the change would refuse, before the cluster is read.
  withDecommissioning(entries, name, flags);
  let read: readonly string[] = [];
  if (flags.leaveObjects !== true) {
    const { registry } = await loadProject(process.cwd());
    const project = await readProjectName(process.cwd());
    const namespaces = await readNamespaces(process.cwd());
    using client = await connectEntry(name, parseEntry(name, entries.get(name)), flags);
    const { kept, places } = await countFinalizers(retryingClient(client), registry, { project, namespaces, signal });
    const at = placeOptions({ stage: flags.stage, region: flags.region });
    if (kept.length > 0)
      throw new UserError(
        `cluster "${name}": ${kept.join(', ')} with a finalizer that nothing would remove; ` +
          `delete them and wait, or run outrigger detach KIND --cluster ${name}${at}, ` +
          'or give --leave-objects if the cluster goes with them',
      );
    read = places;
  }
  const after = await changeTable(location, flags, (now) => withDecommissioning(now, name, flags));
  const only = `only objects in the namespaces ${read.join(', ')} were read: the list of all is forbidden`;
  printLines([
    ...(read.length === 0 ? [] : [only]),
    `${name} is being decommissioned within a minute: its messages are deleted`,
    'next: stop its watchers, delete its access entries or bindings, and when the functions',
    'log no deleted message of it any more (DecommissioningClusterMessages), run',
    `  outrigger clusters remove ${name}${placeOptions(flags)}`,
    `${location} has ${namesOf(after)}`,
  ]);
  return 0;
}

/**
 * Counts the objects with a finalizer of the project, by kind: `3 watertanks.plant.example.com`. `places`: the only
 * namespaces that were read of a kind; none if all were.
 */
async function countFinalizers(
  client: KubeClient,
  registry: readonly ControllerDefinition[],
  { project, namespaces, signal }: Pick<Installation, 'project' | 'namespaces'> & { readonly signal: AbortSignal },
): Promise<{ readonly kept: readonly string[]; readonly places: readonly string[] }> {
  const kept: string[] = [];
  let read: readonly string[] = [];
  const kinds = new Map(registry.map(({ declaration: { resource } }) => [collectionName(resource), resource]));
  for (const [kind, resource] of kinds) {
    try {
      const { objects, places = read } = await findHeld(client, resource, { project, namespaces, signal });
      if (objects > 0) kept.push(`${objects} ${kind}`);
      read = places;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (!isKindNotServed(error))
        throw new UserError(
          `the ${kind} cannot be listed (${toError(error).message}); give --leave-objects if the cluster is gone`,
          { cause: error },
        );
    }
  }
  return { kept, places: read };
}
