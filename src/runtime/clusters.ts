// The narrow view that the verbs have of clusters: a client for a name. Where the table is and how one logs in is behind it.
import type { FoundCluster } from '../kube/found-cluster.ts';

/** Finds a cluster. Throws when the table itself cannot be read. */
export type FindCluster = (name: string, options: { readonly signal: AbortSignal }) => Promise<FoundCluster>;
