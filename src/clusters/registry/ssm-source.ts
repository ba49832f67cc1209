// The clusters table for up to ten clusters: one SecureString parameter per cluster in Systems Manager, below one path.
// Ten is what one GetParametersByPath returns. With more, the reads of many environments exceed the rate of Systems
// Manager, and the table belongs in S3.
import { GetParametersByPathCommand, SSMClient } from '@aws-sdk/client-ssm';
import { unlessAborted } from '../../core/async.ts';
import { UserError } from '../../core/errors.ts';
import { parseJson } from '../../core/json.ts';
import type { ClusterSource } from './registry.ts';
import { NoTableError } from './registry.ts';

/** An unresponsive service must not use up a function's time. */
const deadlineMilliseconds = 5000;
const maxAttempts = 3;
/** The page size of GetParametersByPath. */
const maxClusters = 10;

/** A source without its refresh period, which is needed before this module is loaded. */
export type SsmSource = Pick<ClusterSource, 'read'>;

/** Creates a source for the parameters below a path, in this region. */
export function openSsmSource(path: string, region: string): SsmSource {
  return createSsmSource(new SSMClient({ maxAttempts, region }), path);
}

/** Creates a source for the parameters below a path, such as `/outrigger/dev/clusters/`. */
export function createSsmSource(ssm: SSMClient, path: string): SsmSource {
  const prefix = `${path.replace(/\/+$/, '')}/`;
  return {
    async read() {
      const command = new GetParametersByPathCommand({ Path: prefix, WithDecryption: true, MaxResults: maxClusters });
      const abortSignal = AbortSignal.timeout(deadlineMilliseconds);
      // The SDK does not check the signal while it loads credentials, and its own error of an aborted request says only
      // that.
      const sent = unlessAborted(ssm.send(command, { abortSignal }), abortSignal);
      const { Parameters = [], NextToken } = await sent.catch((error: unknown) => {
        if (!abortSignal.aborted) throw error;
        const message = `clusters table ssm:${prefix}: no response within ${deadlineMilliseconds / 1000} s`;
        throw new Error(message, { cause: abortSignal.reason });
      });
      if (NextToken !== undefined)
        throw new UserError(
          `clusters table ssm:${prefix}: more than ${maxClusters} clusters; ` +
            'copy it to S3 with outrigger clusters migrate, and deploy without CLUSTERS_TABLE=ssm:...',
        );
      // The last parameter may have been deleted by mistake, and a path that is wrong has none.
      if (Parameters.length === 0)
        throw new NoTableError(
          `clusters table ssm:${prefix}: has no parameters; put them back, ` +
            'or add the first cluster with aws ssm put-parameter',
        );
      const entries = Parameters.flatMap(({ Name, Value }) =>
        Name === undefined ? [] : [[Name.slice(prefix.length), parseValue(Value)] as const],
      );
      return { type: 'table', entries: new Map(entries) };
    },
  };
}

/** Invalid JSON becomes null, which the schema rejects with the cluster's name. */
const parseValue = (text = ''): unknown => parseJson(text) ?? null;
