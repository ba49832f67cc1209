// Asks the clusters of the table whether they accept this process, for `outrigger verify`. No object is read.
import { forEachConcurrently } from '../core/async.ts';
import { toError } from '../core/errors.ts';
import { collectionName } from '../core/key.ts';
import type { KindDescription } from '../core/kind-names.ts';
import { mayRequest, readUser } from '../kube/client/access-review.ts';
import { type Clusters, connectTo } from './connect.ts';
import type { ClusterRegistry } from './registry/registry.ts';

/** What a cluster said: as whom it knows this process, or why it does not. */
export type ClusterAnswer = { readonly cluster: string; readonly ms: number } & (Accepted | { readonly error: string });

/** `requestMs`: the fastest request of those on a connection that was open. Absent: nothing had to be listed. */
type Accepted = { readonly user: string; readonly requestMs?: number };

/** What is asked. */
export type ClusterQuestion = {
  /** The kinds that the process has to list. */
  readonly kinds: readonly Pick<KindDescription, 'group' | 'plural' | 'namespaced'>[];
  /** The only cluster that is asked. Absent: every one. */
  readonly only?: string | undefined;
  /** A namespace in which the kinds may be listed. Absent: all. */
  readonly namespace?: string | undefined;
  readonly signal: AbortSignal;
};

const clusterSeconds = 8;
const parallel = 16;

/** Asks the clusters, except those that are being decommissioned. Throws if the table cannot be read. */
export async function askClusters(
  { table, clusters }: { readonly table: Pick<ClusterRegistry, 'list'>; readonly clusters: Clusters },
  { only, signal, ...question }: ClusterQuestion,
): Promise<readonly ClusterAnswer[]> {
  const answers: ClusterAnswer[] = [];
  await forEachConcurrently(parallel, only === undefined ? await table.list() : [only], async (cluster) => {
    const startedAt = performance.now();
    const within = AbortSignal.any([signal, AbortSignal.timeout(clusterSeconds * 1000)]);
    const answer = await askCluster(clusters, cluster, { ...question, signal: within }).catch((thrown: unknown) => ({
      error: toError(thrown).message,
    }));
    if (answer !== undefined) answers.push({ cluster, ms: Math.round(performance.now() - startedAt), ...answer });
  });
  return answers.sort((one, other) => (one.cluster < other.cluster ? -1 : 1));
}

async function askCluster(
  clusters: Clusters,
  name: string,
  { kinds, namespace, signal }: Omit<ClusterQuestion, 'only'>,
): Promise<Accepted | { readonly error: string } | undefined> {
  const found = await clusters.find(name);
  const client = await connectTo(found);
  if (client === undefined) return found.type === 'unknown' ? { error: 'it is not in the clusters table' } : undefined;
  const user = await readUser(client, signal);
  const requests: number[] = [];
  for (const { group, plural, namespaced } of kinds) {
    const within = namespaced && namespace !== undefined ? { namespace } : {};
    const asked = { group, resource: plural, verb: 'list', ...within };
    const sentAt = performance.now();
    if (!(await mayRequest(client, asked, signal)))
      return { error: `${user} may not list ${collectionName({ group, plural })}` };
    requests.push(Math.round(performance.now() - sentAt));
  }
  return requests.length === 0 ? { user } : { user, requestMs: Math.min(...requests) };
}
