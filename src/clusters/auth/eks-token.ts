// Tokens for EKS clusters. A token is the presigned URL of an STS GetCallerIdentity request. It is signed here without
// a call to AWS, and the cluster sends the request. The format is that of kubernetes-sigs/aws-iam-authenticator,
// pkg/token/token.go. The authenticator accepts only these parameters, only the regional host of STS and only https. It
// rejects the additional parameters of a client library.

import { partitionOf } from '../../signing/partition.ts';
import { presignedQuery } from '../../signing/signature.ts';
import { type AwsCredentials, readCredentials } from './aws-credentials.ts';

/** An EKS cluster. */
export type EksCluster = {
  /** The cluster's name in EKS. */
  readonly cluster: string;
  readonly region: string;
  /** The origin of this configuration, for errors, such as `cluster "prod": access`. */
  readonly where: string;
};

/** The tokens of one cluster. A token is reused for many requests, so the cluster can cache the response of STS. */
export type EksToken = {
  /** Returns a token that is valid for at least another minute. Throws a UserError. */
  token(): Promise<string>;
  /** Discards the token after the cluster rejected it. */
  refresh(): void;
};

/**
 * STS accepts a presigned request for 15 minutes, and clients assume 14. One minute is left for a request in flight.
 */
const usableSeconds = 13 * 60;
/** The credentials must be valid for at least this long. */
const reserveSeconds = 60;
/** Sent "for legacy reasons" only, because STS checks the date. The authenticator rejects a larger value. */
const expiresSeconds = 60;

/** Creates the tokens of a cluster. */
export function createEksToken(
  { credentials, now }: { readonly credentials: () => Promise<AwsCredentials>; readonly now: () => Date },
  target: EksCluster,
  { credentialsSeconds }: { readonly credentialsSeconds?: number } = {},
): EksToken {
  let current: { readonly token: string; readonly until: number } | undefined;
  let renewal: Promise<string> | undefined;

  async function renew(): Promise<string> {
    const identity = await readCredentials(credentials, target.where, credentialsSeconds);
    const signedAt = now();
    const token = sign(identity, signedAt, target);
    const expiresAt = (identity.expiration?.getTime() ?? Infinity) - reserveSeconds * 1000;
    current = { token, until: Math.min(signedAt.getTime() + usableSeconds * 1000, expiresAt) };
    return token;
  }

  return {
    async token() {
      if (current !== undefined && now().getTime() < current.until) return current.token;
      renewal ??= renew().finally(() => {
        renewal = undefined;
      });
      return await renewal;
    },
    refresh() {
      current = undefined;
    },
  };
}

function sign(credentials: AwsCredentials, at: Date, { cluster, region }: EksCluster): string {
  const host = `sts.${region}.${partitionOf(region).dnsSuffix}`;
  const query = { Action: 'GetCallerIdentity', Version: '2011-06-15' };
  const signed = presignedQuery(
    { path: '/', headers: { host, 'x-k8s-aws-id': cluster }, query },
    { credentials, region, service: 'sts', at },
    expiresSeconds,
  );
  return `k8s-aws-v1.${Buffer.from(`https://${host}/?${signed}`).toString('base64url')}`;
}
