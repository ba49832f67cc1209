// The part of `outrigger doctor` that finds one cluster under several names of the clusters table. The name is a part
// of each key, so SQS prevents two reconciles of an object at the same time only if the cluster has one name.
import type { ClusterRegistry } from 'outrigger/internal/clusters/registry/registry';
import { type Finding, failFinding } from './finding.ts';

/** Compares the servers of the entries. Leaves out invalid entries, and those whose server is in their kubeconfig. */
export async function checkSameServer(
  table: Pick<ClusterRegistry, 'get'>,
  names: readonly string[],
  at: string,
): Promise<readonly Finding[]> {
  const entries = await Promise.all(
    names.map(async (name) => ({ name, entry: await table.get(name).catch(() => undefined) })),
  );
  const active = entries.flatMap(({ name, entry }) =>
    entry?.server === undefined || entry.decommissioning === true ? [] : [{ name, server: serverOf(entry.server) }],
  );
  return [...Map.groupBy(active, ({ server }) => server).values()]
    .filter((same) => same.length > 1)
    .map((same) => {
      const [first = '', ...others] = same.map(({ name }) => name);
      return failFinding(
        `clusters ${[first, ...others].join(', ')}`,
        'have the same server: an object is reconciled under each name, at the same time',
        `keep one name, such as ${first}; outrigger clusters decommission NAME --leave-objects${at} for the other`,
      );
    });
}

/** An address in one spelling. */
function serverOf(text: string): string {
  return URL.parse(text)?.href.replace(/\/+$/, '') ?? text;
}
