// What the console does beyond objects and queues: dry runs, and pauses of controllers and clusters, with the
// operations that the commands of the same names have.
import path from 'node:path';
import { LambdaClient, type LambdaClientConfig } from '@aws-sdk/client-lambda';
import type { ControllerDefinition, Environment } from 'outrigger/internal/api/definition';
import { parseEntry } from 'outrigger/internal/clusters/registry/entry';
import { createFileSource } from 'outrigger/internal/clusters/registry/source';
import { sharedRead } from 'outrigger/internal/core/async';
import type { Operator } from '../../console/actions.ts';
import type { DevOperator } from '../../console/dev/dev-source.ts';
import { localCluster } from '../../dev/cluster-access.ts';
import { urlPrefixOf } from '../../dev/sqs-server.ts';
import type { Dev } from '../../dev/system.ts';
import { readProjectName } from '../../project/project.ts';
import { withPaused } from '../clusters/edit-table.ts';
import { changeTable } from '../clusters/table.ts';
import { dryRunOf } from '../dry-run/plan.ts';
import { endLines } from '../dry-run/report.ts';
import { localLambda, localSettings } from '../installation.ts';
import { readPaused } from '../mappings.ts';
import { setPaused } from '../pause.ts';
import { type Place, placeOptions } from '../place.ts';

/** What an operator works on. */
export type OperatorDeps = {
  readonly registry: readonly ControllerDefinition[];
  readonly project: string;
  /** Reads the variables that have the settings of controllers. */
  readonly environment: () => Promise<Environment>;
  readonly lambda: LambdaClientConfig;
  readonly urlPrefix: string;
  /** The location of the clusters table. */
  readonly table: string;
  /** The deployment: its region, and what printed commands name. */
  readonly place: Place;
};

/** The event source mappings of an account are listed as a whole, so not with each read of the flow. */
const mappingsMilliseconds = 10_000;

/** Creates the operator of an installation. */
export function createOperator({
  registry,
  project,
  environment,
  lambda: config,
  urlPrefix,
  table,
  place,
}: OperatorDeps): Operator {
  const names = registry.map(({ name }) => name);
  const lambda = new LambdaClient(config);
  const pausedNow = sharedRead(
    mappingsMilliseconds,
    async (signal: AbortSignal): Promise<ReadonlySet<string>> =>
      new Set(await readPaused(lambda, { urlPrefix, names }, { signal })),
  );
  return {
    dryRun: async (controller, { body, client }, signal) => {
      const end = await dryRunOf(controller, { project, environment }, client, { body, signal });
      // As in the lines: what follows a refused call depends on its response.
      const changes = end.type === 'unknown' ? [] : end.changes.slice(0, end.changesBeforeRefused);
      return { lines: endLines(end), changes: changes.flatMap((one) => ('fields' in one ? [one] : [])) };
    },
    pauseController: async (name, paused, signal) => {
      const wanted = paused ? 'paused' : 'resumed';
      await setPaused(lambda, { name, wanted, names, urlPrefix, at: placeOptions(place) }, signal);
      pausedNow.forget();
      return paused ? `${name} is paused: its messages wait in its queue.` : `${name} is resumed.`;
    },
    pauseCluster: async (name, paused) => {
      await changeTable(table, place, (entries) => withPaused(entries, name, { paused, place }));
      return `${name} is ${paused ? 'paused' : 'resumed'} within a minute, when the functions have read the table.`;
    },
    pausedControllers: async (signal) => await pausedNow.get(signal),
  };
}

/** Creates the operator of the local system, whose files are in `folder`, and whose settings are given by `set`. */
export async function devOperator(
  dev: Pick<Dev, 'state'>,
  registry: readonly ControllerDefinition[],
  { folder, set }: { readonly folder: string; readonly set: readonly string[] },
): Promise<DevOperator> {
  const table = path.resolve(folder, 'clusters.json');
  const source = createFileSource(table);
  const project = await readProjectName(process.cwd());
  const operator = createOperator({
    registry,
    project,
    table,
    place: { folder },
    environment: async () => await localSettings(dev.state(), set),
    lambda: localLambda(dev.state()),
    urlPrefix: urlPrefixOf(dev.state().queues),
  });
  return {
    ...operator,
    project,
    at: placeOptions({ folder }),
    isClusterPaused: async () => {
      const read = await source.read();
      const entry = read.type === 'table' ? read.entries.get(localCluster) : undefined;
      return parseEntry(localCluster, entry).paused === true;
    },
  };
}
