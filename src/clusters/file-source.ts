// The clusters table on one machine: a JSON file, `{"name": entry, ...}`, read anew each time it is asked.
import { readFile } from 'node:fs/promises';
import { parseJson } from '../core/parse-json.ts';
import { isRecord } from '../kube/record.ts';
import { ConnectionProblem } from './connection-problem.ts';
import type { ClusterSource } from './table.ts';

/** Creates a source that reads a file, given as a path or a `file:` URL. */
export function createFileSource(place: string): ClusterSource {
  const file = place.startsWith('file://') ? new URL(place) : place.replace(/^file:/, '');
  async function readAll(): Promise<ReadonlyMap<string, unknown>> {
    let text: string;
    try {
      text = await readFile(file, 'utf8');
    } catch (error) {
      throw new ConnectionProblem(`clusters table ${place}: cannot be read; check the path`, { cause: error });
    }
    const value = parseJson(text);
    if (!isRecord(value)) throw new ConnectionProblem(`clusters table ${place}: not a JSON object of entries by name`);
    return new Map(Object.entries(value));
  }
  return { readAll, read: async (name) => (await readAll()).get(name) };
}
