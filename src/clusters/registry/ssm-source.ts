// The clusters table on AWS: one SecureString parameter per cluster in Systems Manager, below one path. The role of a
// reconcile function may only read parameters by name. Only the resync function may list the path.
import {
  GetParameterCommand,
  GetParametersByPathCommand,
  ParameterNotFound,
  type SSMClient,
} from '@aws-sdk/client-ssm';
import { parseJson } from '../../core/json.ts';
import type { ClusterSource } from './registry.ts';

/** An unresponsive service must not use up a function's time. */
const deadlineMilliseconds = 5000;

/** Creates a source for the parameters below a path, such as `/outrigger/dev/clusters/`. */
export function createSsmSource(ssm: SSMClient, path: string): ClusterSource {
  const prefix = `${path.replace(/\/+$/, '')}/`;
  const deadline = () => ({ abortSignal: AbortSignal.timeout(deadlineMilliseconds) });
  return {
    async read(name) {
      try {
        const { Parameter } = await ssm.send(
          new GetParameterCommand({ Name: prefix + name, WithDecryption: true }),
          deadline(),
        );
        return parseValue(Parameter?.Value);
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
          if (Name !== undefined) all.set(Name.slice(prefix.length), parseValue(Value));
        }
        NextToken = page.NextToken;
      } while (NextToken !== undefined);
      return all;
    },
  };
}

/** Invalid JSON becomes null, which the schema rejects with the cluster's name. */
const parseValue = (text = ''): unknown => parseJson(text) ?? null;
