// The clusters table on AWS: one SecureString parameter per cluster in Systems Manager, below one path. By name for the
// functions, whose role may read just that; the whole path for resync alone.
import {
  GetParameterCommand,
  GetParametersByPathCommand,
  ParameterNotFound,
  type SSMClient,
} from '@aws-sdk/client-ssm';
import { parseJson } from '../../core/parse-json.ts';
import type { ClusterSource } from '../table.ts';

/** A table that does not answer must not use up a function's time. */
const DEADLINE_MILLISECONDS = 5000;

/** Creates a source over the parameters below a path, `/outrigger/dev/clusters/`. */
export function createSsmSource(ssm: SSMClient, path: string): ClusterSource {
  const prefix = `${path.replace(/\/+$/, '')}/`;
  const deadline = () => ({ abortSignal: AbortSignal.timeout(DEADLINE_MILLISECONDS) });
  return {
    async read(name) {
      try {
        const { Parameter } = await ssm.send(
          new GetParameterCommand({ Name: prefix + name, WithDecryption: true }),
          deadline(),
        );
        return entryIn(Parameter?.Value);
      } catch (error) {
        if (error instanceof ParameterNotFound) return undefined;
        throw error;
      }
    },
    async readAll() {
      const all = new Map<string, unknown>();
      let NextToken: string | undefined;
      do {
        const command = new GetParametersByPathCommand({ Path: prefix, WithDecryption: true, NextToken });
        const page = await ssm.send(command, deadline());
        for (const { Name, Value } of page.Parameters ?? []) {
          if (Name !== undefined) all.set(Name.slice(prefix.length), entryIn(Value));
        }
        NextToken = page.NextToken;
      } while (NextToken !== undefined);
      return all;
    },
  };
}

/** Something that is not JSON is no entry: null, which the schema refuses by the cluster's name. */
const entryIn = (text = ''): unknown => parseJson(text) ?? null;
