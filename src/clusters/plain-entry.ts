// An entry whose credentials are in Secrets Manager, with the credentials in their place: from there on it is an entry like any
// other, and a secret that has changed is an entry that has changed.
import type { SecretReader } from '../api/secret.ts';
import { bearerToken } from './bearer-token.ts';
import { ConnectionProblem } from './connection-problem.ts';
import type { ClusterEntry } from './registry/entry.ts';

/** An entry that refers to nothing. */
export type PlainEntry = Omit<ClusterEntry, 'access'> & {
  readonly access: Exclude<ClusterEntry['access'], { type: 'secret' }>;
};

/** Puts what an entry refers to in its place. Throws what the reader throws, and a ConnectionProblem that names the cluster. */
export async function plainEntry(name: string, entry: ClusterEntry, secrets: SecretReader): Promise<PlainEntry> {
  const { access } = entry;
  if (access.type !== 'secret') return { ...entry, access };
  const where = `cluster "${name}": access`;
  const text = await secrets.read(access, where);
  if (access.holds === 'kubeconfig') return { ...entry, access: { type: 'kubeconfig', kubeconfig: text } };
  const token = bearerToken.safeParse(text.trim());
  if (!token.success) throw new ConnectionProblem(`${where}: what its secret holds is no token; store the token alone`);
  return { ...entry, access: { type: 'token', token: token.data } };
}
