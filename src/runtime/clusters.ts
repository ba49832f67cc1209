// The narrow view that the verbs have of clusters: a client for a name. Where the table is and how one logs in is behind it.
import type { KubeClient } from '../kube/client.ts';

/** A cluster to work on, one that is being left, or none of that name. */
export type ClusterAnswer =
  | { readonly type: 'client'; readonly client: KubeClient }
  | { readonly type: 'leaving' }
  | { readonly type: 'unknown' };

/** Finds a cluster. Throws when the table itself cannot be read. */
export type FindCluster = (name: string, options: { readonly signal: AbortSignal }) => Promise<ClusterAnswer>;
