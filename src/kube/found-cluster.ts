// What asking for a cluster by name comes to. It stands here because both who has the table (clusters/) and who needs clients
// (runtime/) know kube, and not each other.
import type { KubeClient } from './client/client.ts';

/** A cluster to work on, one that is being left, or none of that name. */
export type FoundCluster =
  | { readonly type: 'client'; readonly client: KubeClient }
  | { readonly type: 'leaving' }
  | { readonly type: 'unknown' };
