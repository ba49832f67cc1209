// The source of the clusters table that a setting names: parameters in Systems Manager, or in local development a JSON
// file `{"name": entry, ...}`, which is read again for each request.
import { readFile } from 'node:fs/promises';
import type { SSMClient } from '@aws-sdk/client-ssm';
import { UserError } from '../../core/errors.ts';
import { isRecord, parseJson } from '../../core/json.ts';
import type { ClusterSource } from './registry.ts';
import { createSsmSource } from './ssm-source.ts';

const ssmPrefix = 'ssm:';

/** Opens the clusters table at `ssm:/path/` or at a file's path. The AWS client is created only if it is needed. */
export function openClusterSource(location: string, createSsm: () => SSMClient): ClusterSource {
  return location.startsWith(ssmPrefix)
    ? createSsmSource(createSsm(), location.slice(ssmPrefix.length))
    : createFileSource(location);
}

/** Creates a source that reads a file, given as a path or a `file:` URL. */
export function createFileSource(location: string): ClusterSource {
  const file = location.startsWith('file://') ? new URL(location) : location.replace(/^file:/, '');
  async function readAll(): Promise<ReadonlyMap<string, unknown>> {
    let text: string;
    try {
      text = await readFile(file, 'utf8');
    } catch (error) {
      throw new UserError(`clusters table ${location}: cannot be read; check the path`, { cause: error });
    }
    const value = parseJson(text);
    if (!isRecord(value)) throw new UserError(`clusters table ${location}: not a JSON object of entries by name`);
    return new Map(Object.entries(value));
  }
  return { readAll, read: async (name) => (await readAll()).get(name) };
}
