// A clusters table that a command reads and writes: an object in S3 or a file. A write is refused if the table has
// changed since it was read, so two operators do not undo each other's change. S3 compares and writes in one step. A
// file is compared just before it is replaced.
import path from 'node:path';
import { createClusterRegistry } from 'outrigger/internal/clusters/registry/registry';
import { createS3Object, parseS3Location } from 'outrigger/internal/clusters/registry/s3-object';
import { openClusterSource, parseTable } from 'outrigger/internal/clusters/registry/source';
import { UserError } from 'outrigger/internal/core/errors';
import { deploymentPrefix } from 'outrigger/internal/core/names';
import { readOperatorSettings } from 'outrigger/internal/settings';
import { replaceFile } from '../../dev/replace-file.ts';
import { readProjectName, readRaw } from '../../project/project.ts';
import { isLocalRunning } from '../installation.ts';
import { devFolder, type Place, placeOptions } from '../place.ts';
import { awsAccess, type RegionFlag, readTableLocation } from '../stage-table.ts';
import { formatTable, type TableEntries } from './edit-table.ts';

/** The options that choose a table. */
export type TableFlags = RegionFlag & {
  readonly stage?: string;
  readonly table?: string | undefined;
  readonly folder?: string;
};

/**
 * Finds the table: --table, or that of the stage; without a stage CLUSTERS, or that of `outrigger dev`. Throws
 * UserError.
 */
export async function tableLocation({ stage, table, region, folder = devFolder }: TableFlags): Promise<string> {
  // A file's path is made absolute, so that it cannot be mistaken for another location.
  if (table !== undefined) return /^(s3|ssm):/.test(table) ? table : path.resolve(table);
  if (stage !== undefined)
    return await readTableLocation(deploymentPrefix(stage, await readProjectName(process.cwd())), { region });
  const { CLUSTERS } = readOperatorSettings();
  if (CLUSTERS !== undefined) return CLUSTERS;
  if (await isLocalRunning(folder)) return path.resolve(folder, 'clusters.json');
  throw new UserError('no clusters table is named; give --stage or --table, or start outrigger dev');
}

/** Opens a table for reading. */
export function openTable(location: string, region: RegionFlag) {
  return createClusterRegistry(openClusterSource(location, awsAccess(region)), { now: () => new Date() });
}

/** Reads a table as it is now. A table that does not exist yet is empty. */
export async function readTable(location: string, place: Place): Promise<TableEntries> {
  const s3 = parseS3Location(location);
  if (s3 !== undefined) {
    const found = await createS3Object(s3, awsAccess(place)).get();
    return found.type === 'object' ? parseTable(location, found.text) : new Map();
  }
  if (location.startsWith('ssm:')) throw new UserError(notInS3(location, place));
  return parseTable(location, await readTableFile(location));
}

/**
 * Reads a table, changes it, validates the result and writes it. Throws a UserError for an invalid result, and if the
 * table was changed in between.
 */
export async function changeTable(
  location: string,
  place: Place,
  change: (entries: TableEntries) => TableEntries,
): Promise<TableEntries> {
  const s3 = parseS3Location(location);
  if (s3 !== undefined) {
    const object = createS3Object(s3, awsAccess(place));
    const found = await object.get();
    const before = found.type === 'object' ? parseTable(location, found.text) : new Map<string, unknown>();
    const after = change(before);
    if (await object.put(formatTable(after, before), found.type === 'object' ? found.etag : undefined)) return after;
    throw changedMeanwhile(location);
  }
  if (location.startsWith('ssm:')) throw new UserError(notInS3(location, place));
  const text = await readTableFile(location);
  const before = parseTable(location, text);
  const after = change(before);
  const next = formatTable(after, before);
  if ((await readTableFile(location)) !== text) throw changedMeanwhile(location);
  await replaceFile(location, next, { mode: 0o600 });
  return after;
}

function changedMeanwhile(location: string): UserError {
  return new UserError(`clusters table ${location}: was changed by another operator in the meantime; run this again`);
}

function notInS3(location: string, { region }: Place): string {
  return (
    `clusters table ${location}: its entries are parameters; change them with aws ssm put-parameter, ` +
    'or copy the table to S3: ' +
    `outrigger clusters migrate ${location.slice(4)}${placeOptions({ region })} --table s3://BUCKET/KEY`
  );
}

/** A file that is not there yet is an empty table. */
async function readTableFile(location: string): Promise<string> {
  return (await readRaw(location)) ?? '{}';
}
