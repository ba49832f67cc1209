// One entry of the clusters table: the address of the cluster and the access to it. The schema is its documentation.
import * as z from 'zod';
import { UserError } from '../../core/errors.ts';
import { uncompiled } from '../../core/json.ts';
import { bearerToken } from '../auth/credentials.ts';

const access = z.discriminatedUnion('type', [
  /**
   * EKS, with the AWS role of this process. The cluster grants access to the role through an access entry; `outrigger
   * clusters access` prints the commands for it. `cluster` is the cluster's name in EKS.
   */
  z.strictObject({
    type: z.literal('eks'),
    cluster: z.string().regex(/^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$/),
    // The region becomes part of a host name.
    region: z.string().regex(/^[a-z]{2,}(-[a-z]+)+-\d{1,2}$/),
  }),
  /**
   * A token or a kubeconfig in Secrets Manager, by name or ARN. With `key`: the string under that key of a JSON object.
   */
  z.strictObject({
    type: z.literal('secret'),
    secret: z.string().min(1).max(2048),
    key: z.string().min(1).optional(),
    holds: z.enum(['token', 'kubeconfig']),
    /** The secret is read again after this time, and at once after it was rejected. */
    maxAgeSeconds: z.number().int().min(1).max(86_400).default(300),
  }),
  z.strictObject({ type: z.literal('token'), token: bearerToken }),
  /** A kubeconfig that contains a token or a client certificate. It also contains the address of the server. */
  z.strictObject({ type: z.literal('kubeconfig'), kubeconfig: z.string().min(1) }),
  /** A client certificate and its key, as PEM. */
  z.strictObject({ type: z.literal('certificate'), cert: z.string().min(1), key: z.string().min(1) }),
  /** No credentials, for a local API server over http. */
  z.strictObject({ type: z.literal('none') }),
]);

/** The ARN of a role or user, and its unique id (IAM, "Unique identifiers"). */
const watcherArn = /^arn:aws[\w-]*:iam::\d{12}:(role|user)\/[\w+=,.@/-]+$/;
const watcherId = /^A(ROA|IDA)[A-Z0-9]{12,128}$/;

const stageName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,40}$/);

const watcher = z.strictObject({ arn: z.string().regex(watcherArn), id: z.string().regex(watcherId) });

/** A role or user that may send a cluster's keys. */
export type EntryWatcher = z.infer<typeof watcher>;

/** Returns whether a text is the ARN of a role or user. */
export function isWatcherArn(text: string): boolean {
  return watcherArn.test(text);
}

/** Returns whether a text is the unique id of a role or user. */
export function isWatcherId(text: string): boolean {
  return watcherId.test(text);
}

const clusterEntry = z.strictObject({
  /** Address of the API server. Optional only with a kubeconfig, which contains one. */
  server: z.string().optional(),
  /** PEM, or base64 of PEM, of the authorities that sign the server's certificate. */
  ca: z.string().min(1).optional(),
  access,
  /**
   * The watchers of the cluster: the AWS roles that may send its keys. `id` is the role's unique id: a role that is
   * deleted and made again under the same name has another one. Absent: any sender may.
   */
  watchers: z.array(watcher).max(20).optional(),
  /** The cluster is paused: nothing of it is reconciled, and its keys are postponed until it is resumed. */
  paused: z.boolean().optional(),
  /** The cluster is being decommissioned: its messages are deleted and counted. */
  decommissioning: z.boolean().optional(),
  /**
   * The cluster moves to this stage, since a time (ISO 8601): nothing of it is reconciled here. From `fencedAt` on,
   * this stage has no permissions in the cluster.
   */
  movingTo: z.strictObject({ stage: stageName, since: z.string(), fencedAt: z.string().optional() }).optional(),
  /** The cluster comes from this stage. Before `startedAt`, nothing of it is reconciled here. */
  movingFrom: z.strictObject({ stage: stageName, startedAt: z.string().optional() }).optional(),
});

/** One entry of the clusters table. */
export type ClusterEntry = z.infer<typeof clusterEntry>;

/** Whether the functions of this table reconcile nothing of the cluster, and keep its keys. */
export function isHeld({ paused = false, movingTo, movingFrom }: ClusterEntry): boolean {
  return paused || movingTo !== undefined || (movingFrom !== undefined && movingFrom.startedAt === undefined);
}

/** The fields that say how a cluster is operated, and not how it is reached. */
export const operatedFields = ['watchers', 'paused', 'decommissioning', 'movingTo', 'movingFrom'] as const;

/** Whether a value may be that of an operated field. */
export function isOperatedValue(field: (typeof operatedFields)[number], value: unknown): boolean {
  return clusterEntry.shape[field].safeParse(value, uncompiled).success;
}

/** Returns an entry without what says how the cluster is operated: how it is reached and who may send its keys. */
export function withoutState(entry: ClusterEntry): ClusterEntry {
  const { paused: _, decommissioning: __, movingTo: ___, movingFrom: ____, ...rest } = entry;
  return rest;
}

/** Names the other stage of a move that is under way: `to STAGE` or `from STAGE`. */
export function moveOf({ movingTo, movingFrom }: ClusterEntry): string | undefined {
  if (movingTo !== undefined) return `to ${movingTo.stage}`;
  return movingFrom === undefined ? undefined : `from ${movingFrom.stage}`;
}

/**
 * Parses one entry. Throws a UserError that names the cluster and the fields, but quotes no value.
 * @param place what to fix; it is the entry in the table unless the entry comes from elsewhere
 */
export function parseEntry(name: string, value: unknown, place = 'its entry in the clusters table'): ClusterEntry {
  const parsed = clusterEntry.safeParse(value, uncompiled);
  if (!parsed.success) {
    const fields = parsed.error.issues.flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => [...issue.path, isWord(key) ? key : 'a field'].join('.'))
        : [issue.path.join('.') || 'the entry'],
    );
    throw new UserError(
      `cluster "${name}": ${[...new Set(fields)].join(', ')} missing, unknown or of the wrong type; fix ${place}`,
    );
  }
  if (parsed.data.server === undefined && !hasServer(parsed.data)) {
    throw new UserError(`cluster "${name}": server is missing; give one like https://host:6443`);
  }
  return parsed.data;
}

/** Whether a field's name may be quoted. A credential in the place of a name has digits or signs, or is long. */
function isWord(name: string): boolean {
  return /^[a-z][A-Za-z]{0,23}$/.test(name);
}

/** A kubeconfig contains the address of the server. */
function hasServer({ access }: ClusterEntry): boolean {
  return access.type === 'kubeconfig' || (access.type === 'secret' && access.holds === 'kubeconfig');
}
