// One cluster in the clusters table: where it is and how to get in. The schema is the table's documentation.
import * as z from 'zod';
import { bearerToken } from '../bearer-token.ts';
import { ConnectionProblem } from '../connection-problem.ts';

const access = z.discriminatedUnion('type', [
  /**
   * EKS: whoever runs this, as the AWS role that it has. The cluster lets the role in by an access entry; `outrigger clusters
   * access` prints them. `cluster` is the name that EKS knows it by.
   */
  z.strictObject({
    type: z.literal('eks'),
    cluster: z.string().regex(/^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$/),
    // It becomes part of a host's name.
    region: z.string().regex(/^[a-z]{2,}(-[a-z]+)+-\d{1,2}$/),
  }),
  /** A token or a kubeconfig in Secrets Manager, by name or ARN; of a secret that is a JSON object, the text under `key`. */
  z.strictObject({
    type: z.literal('secret'),
    secret: z.string().min(1).max(2048),
    key: z.string().min(1).optional(),
    holds: z.enum(['token', 'kubeconfig']),
    /** It is read again when it is older than this, and at once when it is refused. */
    maxAgeSeconds: z.number().int().min(1).max(86_400).default(300),
  }),
  z.strictObject({ type: z.literal('token'), token: bearerToken }),
  /** A kubeconfig with a token or a client certificate in it; it also says where the server is. */
  z.strictObject({ type: z.literal('kubeconfig'), kubeconfig: z.string().min(1) }),
  /** PEM. */
  z.strictObject({ type: z.literal('certificate'), cert: z.string().min(1), key: z.string().min(1) }),
  /** No credentials: an API server on this machine, over http. */
  z.strictObject({ type: z.literal('none') }),
]);

const clusterEntry = z.strictObject({
  /** Address of the API server. Only with a kubeconfig may it be left to that. */
  server: z.string().optional(),
  /** PEM, or base64 of PEM, of the authorities that sign the server's certificate. */
  ca: z.string().min(1).optional(),
  access,
  /** The cluster is being given up: its messages are deleted and counted. */
  leaving: z.boolean().optional(),
});

/** One cluster in the clusters table. */
export type ClusterEntry = z.infer<typeof clusterEntry>;

/** Tells whether a text may be a cluster's name: what SSM accepts as one level of a parameter's name. */
export function isClusterName(name: string): boolean {
  return /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$/.test(name);
}

/** Parses one entry. Throws a ConnectionProblem that names the cluster and the fields, and quotes no value. */
export function parseEntry(name: string, value: unknown): ClusterEntry {
  const parsed = clusterEntry.safeParse(value);
  if (!parsed.success) {
    const fields = parsed.error.issues.flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => [...issue.path, key].join('.'))
        : [issue.path.join('.') || 'the entry'],
    );
    throw new ConnectionProblem(
      `cluster "${name}": ${[...new Set(fields)].join(', ')} missing, unknown or of the wrong type; mend its entry in the clusters table`,
    );
  }
  if (parsed.data.server === undefined && !saysServer(parsed.data)) {
    throw new ConnectionProblem(`cluster "${name}": server is missing; give one like https://host:6443`);
  }
  return parsed.data;
}

/** A kubeconfig says itself where the server is. */
function saysServer({ access }: ClusterEntry): boolean {
  return access.type === 'kubeconfig' || (access.type === 'secret' && access.holds === 'kubeconfig');
}
