// `outrigger release`: before an uninstall, or when a controller is given up: takes off a kind's objects, and off the children that
// were made for them, whatever would let them hang or would go on naming us.
import { Command } from 'commander';
import { loadKubeconfig } from '../clusters/kubeconfig/load-kubeconfig.ts';
import type { Registered } from '../core/controller.ts';
import { redact } from '../core/redact.ts';
import { createClient, type KubeClient } from '../kube/client/client.ts';
import { discoverKinds, type ServedKind } from '../kube/client/discovery.ts';
import { isForbidden } from '../kube/client/errors.ts';
import { patientClient } from '../kube/patient-client.ts';
import { alignColumns } from '../dev/columns.ts';
import { findControllers, type ReleaseCount, type ReleaseTarget, release } from '../runtime/release.ts';
import { askWatchers } from '../runtime/watchers-silent.ts';
import { clusterClient, clusterNamed } from './cluster-client.ts';
import { OperatorProblem, operate } from './operate.ts';
import { type Output, outputOption, printJson, printLines } from './output.ts';
import { openPlace, type PlaceFlags, withPlace } from './place.ts';
import { loadProject } from './project.ts';

type Flags = PlaceFlags & {
  readonly cluster?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly controller?: string;
  readonly orphan?: true;
  readonly yes?: true;
  readonly output: Output;
};

/** Makes the command. */
export function releaseCommand(): Command {
  return withPlace(new Command('release'))
    .description('take our finalizers, field ownership and labels off all objects of a kind, before it is uninstalled')
    .argument(
      '<kind>',
      'WaterTank, watertanks, or watertanks.plant.example.com where the short name is not the only one',
    )
    .option('--kubeconfig <file>', 'the cluster, as an administrator; else one of the clusters table, with --cluster')
    .option('--context <name>', 'which context of the kubeconfig')
    .option('--cluster <name>', 'which cluster of the clusters table; on one machine there is only one')
    .option('--controller <name>', 'only what this one left: it was renamed or removed, and others of the kind go on')
    .option('--orphan', 'also take their owner off the children, so that they stay when their owner is deleted')
    .option('--yes', 'do it; without it, only what would be done is shown')
    .addOption(outputOption())
    .addHelpText('after', helpText)
    .action(
      async (kind: string, flags: Flags) => await operate('release', async (signal) => await run(kind, flags, signal)),
    );
}

const helpText = `
Examples:
  outrigger release WaterTank                                    what is there of ours, and what would be taken off
  outrigger release WaterTank --kubeconfig admin.yaml --yes      do it
  outrigger release bitcoinnetworks.bitcoin.example.com --cluster berlin --stage prod --yes

A controller that was renamed, or removed while others of its kind stay: deploy without it, then
  outrigger release WaterTank --controller former-name --yes

To uninstall without a trace, in this order:
  1. stop the watchers and remove the functions (osls remove): a controller that runs puts its finalizer back
  2. outrigger release KIND --yes, for each kind
  3. delete the objects, or leave them; then kubectl delete -k infra/kubernetes
It takes off: finalizers outrigger.dev/*, entries of metadata.managedFields, the labels and annotations outrigger.dev/*; of children,
whatever their kind, as well. Spec and status stay as they are. A controller's clean-up outside the cluster is not done: of objects that are
being deleted it says so by name. Killed half-way, run it again.
Exit status: 0 when nothing of ours is left; 1 when something is, or when --yes was missing.`;

async function run(text: string, flags: Flags, signal: AbortSignal): Promise<number> {
  const { registry } = await loadProject(process.cwd());
  const { client, close } = await connect(flags, signal);
  try {
    const { kinds, silent } = await discoverKinds(client, { signal });
    for (const group of silent) process.stderr.write(`not looked at: ${redact(group)}\n`);
    const kind = kindNamed(registry, text, kinds);
    const { controller } = flags;
    const all = new Set([
      ...registry.filter(({ declares }) => isSame(declares.resource, kind)).map(({ name }) => name),
      ...(await findControllers(client, kind, { signal })),
    ]);
    const controllers = controller === undefined ? all : new Set([controller]);
    const targets: readonly Target[] = [
      { resource: kind, traces: { controllers, as: 'primary', shared: controller !== undefined } },
      ...(controllers.size === 0 ? [] : childTargets(kinds, controllers, flags.orphan === true)),
      // After the children that they were copied from.
      ...kinds.filter((one) => copies.includes(named(one))).map((resource) => copyTarget(resource, controllers)),
    ];
    const planned = await passOver(client, registry, targets, { dryRun: true, signal });
    const isWanted = planned.some(({ count }) => count.ours > 0);
    if (flags.yes !== true || !isWanted) return say(planned, flags, isWanted ? 'planned' : 'nothing');
    await warnOfWatchers(client, signal);
    // Copies show themselves only when what they were copied from has been released.
    const concerned = planned
      .filter(({ target, count }) => target.traces.as === 'copy' || count.ours > 0)
      .map(({ target }) => target);
    const done = await passOver(client, registry, concerned, { dryRun: false, signal });
    const left = await passOver(client, registry, concerned, { dryRun: true, signal });
    for (const { target, count } of done) {
      for (const { object, why } of count.failed)
        process.stderr.write(`${named(target.resource)} ${object}: ${redact(why)}\n`);
    }
    const remain = left.reduce((sum, { count }) => sum + count.ours, 0);
    say(done, flags, 'released');
    if (remain === 0) return 0;
    throw new OperatorProblem(
      `left, or put back: ${remain}; a controller that still runs undoes this: stop watchers and functions, and run it again`,
    );
  } finally {
    close();
  }
}

async function connect(flags: Flags, signal: AbortSignal): Promise<{ client: KubeClient; close(): void }> {
  const { kubeconfig, context, cluster } = flags;
  if (kubeconfig !== undefined) {
    if (cluster !== undefined) throw new OperatorProblem('--kubeconfig and --cluster exclude each other');
    const connection = await loadKubeconfig({ file: kubeconfig, ...(context === undefined ? {} : { context }) });
    const client = createClient(connection, { userAgent: 'outrigger-cli' });
    return { client: patientClient(client), close: () => client.close() };
  }
  const place = await openPlace(flags, signal);
  try {
    const client = await clusterClient(place, clusterNamed(cluster, place));
    return { client: patientClient(client), close: () => place.close() };
  } catch (error) {
    place.close();
    throw error;
  }
}

type Name = { readonly group: string; readonly plural: string };
type Target = ReleaseTarget & { readonly resource: ServedKind };
type Passed = { readonly target: Target; readonly count: ReleaseCount };

function kindNamed(registry: readonly Registered[], text: string, kinds: readonly ServedKind[]): ServedKind {
  const wanted = text.toLowerCase();
  const found = kinds.filter((one) =>
    [one.kind.toLowerCase(), one.plural, named(one), ...one.shortNames].includes(wanted),
  );
  // Ours before those of others.
  const ours = found.filter((one) => registry.some(({ declares }) => isSame(declares.resource, one)));
  const [kind, ...more] = ours.length === 1 ? ours : found;
  if (kind === undefined) {
    const known = [...new Set(registry.map(({ declares }) => declares.resource.kind))].join(', ');
    throw new OperatorProblem(`the cluster has no kind ${JSON.stringify(text)}; those with a controller are ${known}`);
  }
  if (more.length === 0) return kind;
  throw new OperatorProblem(`${JSON.stringify(text)} is ${found.map(named).join(' or ')}; write one of these`);
}

/** Everything that can be listed and patched: a controller may have had other children in an earlier version. */
function childTargets(
  kinds: readonly ServedKind[],
  controllers: ReadonlySet<string>,
  orphan: boolean,
): readonly Target[] {
  const fit = kinds.filter(({ verbs }) => verbs.includes('list') && verbs.includes('patch'));
  return fit.map((resource) => ({ resource, traces: { controllers, as: 'child', orphan } }));
}

/** What Kubernetes gives the annotations of its owner. */
const copies = ['replicasets.apps', 'controllerrevisions.apps'];

function copyTarget(resource: ServedKind, controllers: ReadonlySet<string>): Target {
  return { resource, traces: { controllers, as: 'copy' } };
}

async function passOver(
  client: KubeClient,
  registry: readonly Registered[],
  targets: readonly Target[],
  { dryRun, signal }: { readonly dryRun: boolean; readonly signal: AbortSignal },
): Promise<readonly Passed[]> {
  const passed: Passed[] = [];
  for (const target of targets) {
    const onProgress = (released: number) => {
      if (!dryRun) process.stderr.write(`${named(target.resource)}: ${released} released\n`);
    };
    try {
      passed.push({ target, count: await release(client, target, { dryRun, onProgress, signal }) });
    } catch (error) {
      // Whose children nobody of ours may see, nobody of ours has made.
      if (target.traces.as === 'primary' || isOwned(registry, target) || !isForbidden(error)) throw error;
      process.stderr.write(`not looked at: ${named(target.resource)}: ${redact(error.message)}\n`);
    }
  }
  return passed;
}

function isOwned(registry: readonly Registered[], { resource, traces }: Target): boolean {
  const theirs = registry.filter(({ name }) => traces.controllers.has(name));
  return theirs.some(({ declares }) => declares.owns.some((kind) => isSame(kind, resource)));
}

async function warnOfWatchers(client: KubeClient, signal: AbortSignal): Promise<void> {
  const { silent, heardSeconds } = await askWatchers(client, Date.now(), { signal });
  if (silent !== undefined || heardSeconds === undefined) return;
  process.stderr.write(
    `watchers of this cluster heard something ${heardSeconds} s ago; a controller that runs undoes this\n`,
  );
}

function say(passed: readonly Passed[], { output }: Flags, what: 'planned' | 'released' | 'nothing'): number {
  const shown = passed.filter(({ target, count }) => target.traces.as === 'primary' || count.ours > 0);
  if (output === 'json') {
    printJson({
      state: what,
      kinds: shown.map(({ target, count }) => ({ kind: named(target.resource), as: target.traces.as, ...count })),
    });
  } else {
    const cells = shown.map(({ target: { resource, traces }, count }) => [
      named(resource),
      { primary: 'the kind', child: 'children', copy: 'copies' }[traces.as],
      ...[count.objects, count.ours, count.finalizers, count.managers, count.marks].map(String),
    ]);
    const head = what === 'released' ? 'RELEASED' : 'OURS';
    const titles = ['COLLECTION', 'AS', 'OBJECTS', head, 'FINALIZERS', 'FIELD OWNERS', 'MARKS'];
    printLines([alignColumns([titles, ...cells])]);
  }
  const verb = what === 'released' ? 'was' : 'will be';
  for (const object of shown.flatMap(({ count }) => count.deleting)) {
    process.stderr.write(
      `${object} is being deleted: its controller's clean-up outside the cluster ${verb} left undone\n`,
    );
  }
  if (what === 'planned') {
    process.stderr.write(
      'nothing was changed; stop the watchers and remove the functions, then run this again with --yes\n',
    );
  }
  return what === 'planned' ? 1 : 0;
}

function isSame(a: Name, b: Name): boolean {
  return a.group === b.group && a.plural === b.plural;
}

function named({ group, plural }: Name): string {
  return group === '' ? plural : `${plural}.${group}`;
}
