// `outrigger get`: lists the objects of every controller with the state that the console shows, problems first.
import { Command, Option } from 'commander';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { UserError } from 'outrigger/internal/core/errors';
import { collectionName } from 'outrigger/internal/core/key';
import { redact } from 'outrigger/internal/core/redact';
import { objectRow } from '../console/object-row.ts';
import { type ObjectRow, objectTones } from '../console/wire.ts';
import { alignColumns } from '../dev/columns.ts';
import { isForeignKind, statusSlicesOf } from '../dev/readiness.ts';
import { loadProject } from '../project/project.ts';
import {
  acting,
  formatError,
  jsonOption,
  type Output,
  outputOption,
  printError,
  printJson,
  printLines,
} from './command.ts';
import {
  clusterClient,
  type Installation,
  type InstallationFlags,
  openInstallation,
  requireClusterName,
  requireRegistry,
  withInstallationOptions,
} from './installation.ts';
import { listPagesIn } from './object-keys.ts';
import { placeOptions } from './place.ts';
import { ageText } from './terminal.ts';

type Flags = InstallationFlags & {
  readonly cluster?: string;
  readonly state?: string;
  readonly selector?: string;
  readonly output: Output;
};

const states = Object.keys(objectTones);

/** Makes the command. */
export function getCommand(): Command {
  return withInstallationOptions(new Command('get'))
    .description('list the objects of every controller with their state, problems first')
    .argument('[kind]', 'only objects of this kind or controller')
    .option('--cluster <name>', 'only this cluster')
    .addOption(new Option('--state <state>', 'only objects in this state').choices(states))
    .option('-l, --selector <labels>', 'only objects with these labels, as of kubectl')
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', helpText)
    .action(acting(run));
}

const helpText = `
Examples:
  outrigger get
  outrigger get WaterTank --state Failed --stage prod
  outrigger get --selector team=kitchen --json
Exit status: 0; 1 when the objects of a kind or a cluster could not be read.`;

async function run(kind: string | undefined, { output, ...flags }: Flags, signal: AbortSignal): Promise<number> {
  const { registry } = await loadProject(process.cwd());
  const wanted = registry.filter(({ name, declaration: { resource } }) =>
    [undefined, name, resource.kind, resource.plural, collectionName(resource)].includes(kind),
  );
  if (wanted.length === 0)
    throw new UserError(
      `no controller has the kind ${JSON.stringify(kind)}; outrigger get${placeOptions(flags)} lists all objects`,
    );
  const kinds = [...new Map(wanted.map((one) => [collectionName(one.declaration.resource), one])).values()];
  using installation = await openInstallation(flags, signal);
  const only = flags.cluster === undefined ? undefined : [await requireClusterName(flags.cluster, installation)];
  const clusters = only ?? (await requireRegistry(installation.registry).list());
  const read = await Promise.allSettled(
    clusters.flatMap((cluster) =>
      kinds.map((one) => readRows(installation, registry, { cluster, controller: one, ...flags, signal })),
    ),
  );
  const rows = read
    .flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    .filter(({ state }) => flags.state === undefined || state === flags.state)
    .sort((a, b) => states.indexOf(a.state) - states.indexOf(b.state) || (a.id < b.id ? -1 : 1));
  if (output === 'json') printJson(rows);
  else printLines(rows.length === 0 ? ['no objects'] : alignColumns([titles, ...rows.map(cells)]), toneOfLine);
  const problems = read.flatMap((one) => (one.status === 'rejected' ? [formatError(one.reason)] : []));
  for (const problem of new Set(problems)) printError(problem, () => 'red');
  return problems.length === 0 ? 0 : 1;
}

async function readRows(
  installation: Installation,
  registry: readonly ControllerDefinition[],
  {
    cluster,
    controller: { declaration },
    selector,
    signal,
  }: { cluster: string; controller: ControllerDefinition; selector?: string; signal: AbortSignal },
): Promise<readonly ObjectRow[]> {
  const { resource } = declaration;
  const client = await clusterClient(installation, cluster);
  const about = {
    kind: resource.kind,
    cluster,
    isForeign: isForeignKind(registry, resource),
    sliceConditions: statusSlicesOf(registry, resource),
  };
  const rows: ObjectRow[] = [];
  const query = { labelSelector: selector, signal };
  for await (const { items } of listPagesIn(installation.namespaces, client, resource, query))
    rows.push(...items.map((object) => objectRow(resource, object, about)));
  return rows;
}

const titles = ['STATE', 'KIND', 'OBJECT', 'CLUSTER', 'AGE', 'REASON'];

function cells({ state, kind, namespace, name, cluster, createdAt = '', text }: ObjectRow): readonly string[] {
  const seconds = Math.round((Date.now() - Date.parse(createdAt)) / 1000);
  const object = namespace === undefined ? name : `${namespace}/${name}`;
  const age = Number.isNaN(seconds) ? '-' : ageText(Math.max(0, seconds));
  // The texts are of the cluster.
  return [state, kind, object, cluster, age, state === 'Ready' ? '' : redact(text)];
}

function toneOfLine(line: string): 'red' | undefined {
  return /^(?:Stalled|Failed) /.test(line) ? 'red' : undefined;
}
