// The source of the clusters table that a setting names: an object in S3, parameters in Systems Manager for up to ten
// clusters, or in local development a JSON file. Object and file have the same content: `{"name": entry, ...}`.
import { readFile } from 'node:fs/promises';
import { UserError } from '../../core/errors.ts';
import { isRecord, parseJson } from '../../core/json.ts';
import { type ClusterSource, NoTableError } from './registry.ts';
import { type AwsAccess, createS3Object, parseS3Location } from './s3-object.ts';

const ssmPrefix = 'ssm:';
/**
 * With the jitter of the registry at most a minute, in which a paused cluster is paused. S3 bills a read like any
 * request, and it grows with the environments only: 70 of them send 1.4 a second.
 */
export const refreshSeconds = 50;
/** Until every environment that can read the table has read it: the registry's jitter, and a fifth for the read. */
export const longestRefreshSeconds = Math.ceil(refreshSeconds * 1.2 * 1.2);
/** Systems Manager accepts 40 reads a second, for all environments of an account and region together. */
const ssmRefreshSeconds = 300;

/** Opens the clusters table at `s3://bucket/key`, at `ssm:/path/` or at a file's path. */
export function openClusterSource(location: string, aws: AwsAccess): ClusterSource {
  const s3 = parseS3Location(location);
  if (s3 !== undefined) return createS3Source(location, createS3Object(s3, aws));
  if (!location.startsWith(ssmPrefix)) return createFileSource(location);
  // The client of Systems Manager is loaded only if it is needed.
  return createDeferredSource(async () => {
    const { openSsmSource } = await import('./ssm-source.ts');
    return openSsmSource(location.slice(ssmPrefix.length), await aws.region());
  }, ssmRefreshSeconds);
}

/** Creates a source that reads an object in S3. */
export function createS3Source(
  location: string,
  { get }: Pick<ReturnType<typeof createS3Object>, 'get'>,
): ClusterSource {
  return {
    refreshSeconds,
    async read(version) {
      const found = await get(version);
      switch (found.type) {
        case 'unchanged':
          return found;
        case 'missing':
          throw new NoTableError(
            `clusters table ${location}: does not exist; put it back, ` +
              'or add the first cluster with outrigger clusters add',
          );
        case 'object':
          return { type: 'table', entries: parseTable(location, found.text), version: found.etag };
      }
    },
  };
}

/** Creates a source that reads a file, given as a path or a `file:` URL. */
export function createFileSource(location: string): ClusterSource {
  const file = location.startsWith('file://') ? new URL(location) : location.replace(/^file:/, '');
  return {
    refreshSeconds,
    async read() {
      let text: string;
      try {
        text = await readFile(file, 'utf8');
      } catch (error) {
        throw new UserError(`clusters table ${location}: cannot be read; check the path`, { cause: error });
      }
      return { type: 'table', entries: parseTable(location, text) };
    },
  };
}

/** Parses a table, but not its entries. Throws a UserError that quotes nothing of it. */
export function parseTable(location: string, text: string): ReadonlyMap<string, unknown> {
  const value = parseJson(text);
  if (!isRecord(value)) throw new UserError(`clusters table ${location}: not a JSON object of entries by name`);
  return new Map(Object.entries(value));
}

/** Creates a source that is opened at its first read, and again after it could not be opened. */
export function createDeferredSource(
  open: () => Promise<Pick<ClusterSource, 'read'>>,
  seconds = refreshSeconds,
): ClusterSource {
  let source: Pick<ClusterSource, 'read'> | undefined;
  return {
    refreshSeconds: seconds,
    async read(version) {
      source ??= await open();
      return await source.read(version);
    },
  };
}
