// From what an operator named to a cluster's client, or one line that says how to name one.
import { isClusterName } from '../clusters/registry/entry.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { OperatorProblem } from './operate.ts';
import type { Place } from './place.ts';

/** Chooses the cluster that was named, or the only one there is on one machine. Throws OperatorProblem. */
export function clusterNamed(given: string | undefined, { defaultCluster }: Pick<Place, 'defaultCluster'>): string {
  const name = given ?? defaultCluster;
  if (name === undefined) throw new OperatorProblem('which cluster? name it with --cluster');
  if (!isClusterName(name)) throw new OperatorProblem(`--cluster ${JSON.stringify(name)}: not the name of a cluster`);
  return name;
}

/** Connects to a cluster of the table. Throws OperatorProblem, and a ConnectionProblem for an entry that cannot be used. */
export async function clusterClient(place: Pick<Place, 'clusters'>, cluster: string): Promise<KubeClient> {
  const found = await theTable(place.clusters).find(cluster);
  if (found.type === 'client') return found.client;
  const why = found.type === 'leaving' ? 'is leaving' : 'is not in the clusters table';
  throw new OperatorProblem(`cluster ${JSON.stringify(cluster)} ${why}; name one with --cluster`);
}

/** Insists on a clusters table. Throws OperatorProblem where nothing says where it is. */
export function theTable<T>(table: T | undefined): T {
  if (table !== undefined) return table;
  throw new OperatorProblem(
    'where is the clusters table? set CLUSTERS (ssm:/outrigger/dev/clusters/), or give --stage',
  );
}
