// `outrigger detach`: removes the finalizers, field ownership, labels and annotations of controllers from a kind's
// objects and from their children. It is run before an uninstall, and after a controller was renamed or removed: a
// finalizer that no controller removes blocks the deletion of its object for ever.

import { Command } from 'commander';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { readWatcherStatus } from 'outrigger/internal/checkpoint/watcher-status';
import { UserError } from 'outrigger/internal/core/errors';
import { collectionName } from 'outrigger/internal/core/key';
import { isSameKind } from 'outrigger/internal/core/kind-names';
import { redact } from 'outrigger/internal/core/redact';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { discoverKinds, type ServedKind } from 'outrigger/internal/kube/client/discovery';
import { isForbidden } from 'outrigger/internal/kube/client/errors';
import { retryingClient } from 'outrigger/internal/kube/client/retrying-client';
import { alignColumns } from '../dev/columns.ts';
import { type DetachCount, type DetachTarget, detach, findControllers } from '../operations/detach.ts';
import { loadProject, readProjectName } from '../project/project.ts';
import { acting, jsonOption, type Output, outputOption, printError, printJson, printLines } from './command.ts';
import { findKind } from './find-kind.ts';
import {
  clusterClient,
  type InstallationFlags,
  openInstallation,
  requireClusterName,
  withInstallationOptions,
} from './installation.ts';
import { connectKubeconfig } from './kubeconfig-client.ts';

type Flags = InstallationFlags & {
  readonly cluster?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly controller?: string;
  readonly orphan?: true;
  readonly finalizersOnly?: true;
  readonly yes?: true;
  readonly output: Output;
};

/** Makes the command. */
export function detachCommand(): Command {
  return withInstallationOptions(new Command('detach'))
    .description(
      'remove finalizers, field ownership, labels and annotations from all objects of a kind, before it is uninstalled',
    )
    .argument('<kind>', 'WaterTank, watertanks, or watertanks.plant.example.com if several kinds have the short name')
    .option(
      '--kubeconfig <file>',
      'the cluster, as an administrator; by default one of the clusters table, with --cluster',
    )
    .option('--context <name>', 'which context of the kubeconfig')
    .option('--cluster <name>', 'which cluster of the clusters table; on one machine there is only one')
    .option(
      '--controller <name>',
      'only the metadata of this controller, which was renamed or removed; the kind has others that still run',
    )
    .option(
      '--orphan',
      'also remove the owner references of the children, so that they stay when their owner is deleted',
    )
    .option(
      '--finalizers-only',
      'with --controller: only the finalizer of this controller, which runs on, and from which finalize was removed',
    )
    .option('--yes', 'do it; without it, the command only shows what it would do')
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', helpText)
    .action(acting(run));
}

const helpText = `
Examples:
  outrigger detach WaterTank                                    shows what would be removed
  outrigger detach WaterTank --kubeconfig admin.yaml --yes      removes it
  outrigger detach bitcoinnetworks.bitcoin.example.com --cluster berlin --stage prod --yes

If a controller was renamed, or was removed while other controllers of its kind stay, deploy without it, then run
  outrigger detach WaterTank --controller former-name --yes

If finalize was removed from a controller, deploy its function, wait for its timeout, and run until nothing is left:
  outrigger detach WaterTank --controller water-tank --finalizers-only --yes
It leaves objects that are being deleted to the controller, which runs on.

To uninstall completely:
  1. Stop the watchers and remove the functions (osls remove). A running controller adds its finalizer again.
  2. Run outrigger detach KIND --yes for each kind.
  3. Delete the objects, or keep them. Then run kubectl delete -k dist/kubernetes.
It removes finalizers outrigger.dev/*, entries of metadata.managedFields, and the labels and annotations
outrigger.dev/*, from the objects and from children of any kind. Spec and status stay as they are. It does not run a
controller's clean-up outside the cluster, and lists the objects that are being deleted without it. It can be killed at
any point and rerun.
Exit status: 0 when no metadata of a controller is left; 1 when some is left, or when --yes was missing.`;

async function run(text: string, flags: Flags, signal: AbortSignal): Promise<number> {
  const { registry } = await loadProject(process.cwd());
  const project = await readProjectName(process.cwd());
  if (flags.finalizersOnly === true) requireNoFinalize(registry, flags);
  using connected = await connect(flags, signal);
  const { client } = connected;
  const { kinds, failedGroups } = await discoverKinds(client, { signal });
  for (const group of failedGroups) printError(`skipped: ${redact(group)}`);
  const kind = findKind(registry, text, kinds);
  const { controller } = flags;
  const all = new Set([
    ...registry.filter(({ declaration }) => isSameKind(declaration.resource, kind)).map(({ name }) => name),
    ...(await findControllers(client, kind, { project, signal })),
  ]);
  const controllers = controller === undefined ? all : new Set([controller]);
  const { finalizersOnly = false } = flags;
  const shared = controller !== undefined;
  const primary = { resource: kind, scope: { controllers, project, as: 'primary', shared, finalizersOnly } } as const;
  const withChildren = (): readonly Target[] => [
    primary,
    ...(controllers.size === 0 ? [] : childTargets(kinds, { controllers, project }, flags.orphan === true)),
    // The copied kinds come after the children that they were copied from.
    ...kinds
      .filter((one) => copiedKinds.includes(collectionName(one)))
      .map((resource): Target => ({ resource, scope: { controllers, project, as: 'copy' } })),
  ];
  const targets = finalizersOnly ? [primary] : withChildren();
  const planned = await detachAll(client, registry, targets, { dryRun: true, signal });
  const isNeeded = planned.some(({ count }) => count.affected > 0);
  if (flags.yes !== true || !isNeeded) return printResults(planned, flags, isNeeded ? 'planned' : 'nothing');
  if (!finalizersOnly) await warnOfRunningWatchers(client, { project, signal });
  // Copies are found only after the object that they were copied from has been detached.
  const affected = planned
    .filter(({ target, count }) => target.scope.as === 'copy' || count.affected > 0)
    .map(({ target }) => target);
  const done = await detachAll(client, registry, affected, { dryRun: false, signal });
  const left = await detachAll(client, registry, affected, { dryRun: true, signal });
  for (const { target, count } of done) {
    for (const { object, reason } of count.failed)
      printError(`${collectionName(target.resource)} ${object}: ${redact(reason)}`);
  }
  const remaining = left.reduce((sum, { count }) => sum + count.affected, 0);
  const status = printResults(done, flags, 'detached');
  if (remaining === 0) return status;
  const next = finalizersOnly ? 'run it again' : 'stop the watchers and functions, and run it again';
  throw new UserError(`${remaining} objects are not detached, or were changed again; ${next}`);
}

/** Throws a UserError if the finalizer of the controller would come back, or another one would be removed with it. */
function requireNoFinalize(registry: readonly ControllerDefinition[], { controller, orphan }: Flags): void {
  if (controller === undefined) throw new UserError('--finalizers-only needs --controller; name the controller');
  if (orphan === true) throw new UserError('--finalizers-only and --orphan exclude each other');
  const known = registry.find(({ name }) => name === controller);
  if (known === undefined) {
    const fix = 'correct the name, or for a controller that was removed, leave out --finalizers-only';
    throw new UserError(`the registry has no controller ${JSON.stringify(controller)}; ${fix}`);
  }
  if (known.declaration.finalizes)
    throw new UserError(`${controller} has a finalize, and adds its finalizer again; remove finalize and deploy first`);
}

async function connect(flags: Flags, signal: AbortSignal): Promise<{ readonly client: KubeClient } & Disposable> {
  const { kubeconfig, context, cluster } = flags;
  if (kubeconfig !== undefined) {
    if (cluster !== undefined) throw new UserError('--kubeconfig and --cluster exclude each other');
    const client = await connectKubeconfig(kubeconfig, context);
    return { client: retryingClient(client), [Symbol.dispose]: () => client.close() };
  }
  const installation = await openInstallation(flags, signal);
  try {
    const client = await clusterClient(installation, await requireClusterName(cluster, installation));
    return { client: retryingClient(client), [Symbol.dispose]: () => installation[Symbol.dispose]() };
  } catch (error) {
    installation[Symbol.dispose]();
    throw error;
  }
}

type ScopeControllers = Pick<DetachTarget['scope'], 'controllers' | 'project'>;
type Target = DetachTarget & { readonly resource: ServedKind };
type DetachResult = { readonly target: Target; readonly count: DetachCount };

/**
 * Every kind that can be listed and patched: an earlier version of a controller may have had children of another kind.
 */
function childTargets(kinds: readonly ServedKind[], controllers: ScopeControllers, orphan: boolean): readonly Target[] {
  const fit = kinds.filter(({ verbs }) => verbs.includes('list') && verbs.includes('patch'));
  return fit.map((resource) => ({ resource, scope: { ...controllers, as: 'child', orphan } }));
}

/** Kinds to whose objects Kubernetes copies the annotations of the owner. */
const copiedKinds = ['replicasets.apps', 'controllerrevisions.apps'];

async function detachAll(
  client: KubeClient,
  registry: readonly ControllerDefinition[],
  targets: readonly Target[],
  { dryRun, signal }: { readonly dryRun: boolean; readonly signal: AbortSignal },
): Promise<readonly DetachResult[]> {
  const results: DetachResult[] = [];
  for (const target of targets) {
    const onProgress = (released: number) => {
      if (!dryRun) printError(`${collectionName(target.resource)}: ${released} detached`);
    };
    try {
      results.push({ target, count: await detach(client, target, { dryRun, onProgress, signal }) });
    } catch (error) {
      // A controller that does not own a kind may not read it, so it has created no objects of that kind.
      if (target.scope.as === 'primary' || isOwned(registry, target) || !isForbidden(error)) throw error;
      printError(`skipped: ${collectionName(target.resource)}: ${redact(error.message)}`);
    }
  }
  return results;
}

function isOwned(registry: readonly ControllerDefinition[], { resource, scope }: Target): boolean {
  const controllers = registry.filter(({ name }) => scope.controllers.has(name));
  return controllers.some(({ declaration }) => declaration.owns.some((kind) => isSameKind(kind, resource)));
}

async function warnOfRunningWatchers(
  client: KubeClient,
  options: { readonly project: string; readonly signal: AbortSignal },
): Promise<void> {
  const { down, lastSeenSeconds } = await readWatcherStatus(client, Date.now(), options);
  if (down !== undefined || lastSeenSeconds === undefined) return;
  printError(`this cluster's watchers received an event ${lastSeenSeconds} s ago; a running controller reverts this`);
}

function printResults(
  results: readonly DetachResult[],
  { output, finalizersOnly }: Flags,
  state: 'planned' | 'detached' | 'nothing',
): number {
  const shown = results.filter(({ target, count }) => target.scope.as === 'primary' || count.affected > 0);
  if (output === 'json') {
    printJson({
      state,
      kinds: shown.map(({ target, count }) => ({
        kind: collectionName(target.resource),
        as: target.scope.as,
        ...count,
      })),
    });
  } else {
    const cells = shown.map(({ target: { resource, scope }, count }) => [
      collectionName(resource),
      { primary: 'the kind', child: 'children', copy: 'copies' }[scope.as],
      ...[count.objects, count.affected, count.finalizers, count.managers, count.metadata].map(String),
    ]);
    const affectedTitle = state === 'detached' ? 'DETACHED' : 'AFFECTED';
    const titles = ['COLLECTION', 'AS', 'OBJECTS', affectedTitle, 'FINALIZERS', 'FIELD OWNERS', 'METADATA'];
    printLines(alignColumns([titles, ...cells]));
  }
  const verb = state === 'detached' ? 'did' : 'will';
  const deleting = shown.flatMap(({ count }) => count.deleting);
  const isLeft = finalizersOnly === true && deleting.length > 0;
  if (isLeft) {
    const next = 'which their controller removes; run this again until there are none';
    printError(`${deleting.length} objects are being deleted and keep the finalizer, ${next}`);
  }
  for (const object of isLeft ? [] : deleting) {
    printError(`${object} is being deleted: its controller's clean-up outside the cluster ${verb} not run`);
  }
  if (state === 'planned') {
    const before =
      finalizersOnly === true
        ? 'deploy this project first, because a deployed finalize adds its finalizer again, and '
        : 'stop the watchers, remove the functions, and ';
    printError(`nothing was changed; ${before}run this again with --yes`);
  }
  return state === 'planned' || isLeft ? 1 : 0;
}
