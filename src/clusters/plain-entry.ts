// An entry whose credentials are in Secrets Manager, with the credentials in their place: from there on it is an entry like any
// other, and a secret that has changed is an entry that has changed.
import type { SecretReader } from '../core/secret.ts';
import type { ClusterEntry } from './entry.ts';

/** An entry that refers to nothing. */
export type PlainEntry = Omit<ClusterEntry, 'access'> & {
  readonly access: Exclude<ClusterEntry['access'], { type: 'secret' }>;
};

/** Puts what an entry refers to in its place. Throws what the reader throws; the cluster is named. */
export async function plainEntry(name: string, entry: ClusterEntry, secrets: SecretReader): Promise<PlainEntry> {
  const { access } = entry;
  if (access.type !== 'secret') return { ...entry, access };
  const text = await secrets.read(access, `cluster "${name}": access`);
  return {
    ...entry,
    access: access.holds === 'token' ? { type: 'token', token: text.trim() } : { type: 'kubeconfig', kubeconfig: text },
  };
}
