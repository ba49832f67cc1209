// How a function gets into an EKS cluster without a word to AWS: its token is the URL of a question to STS, "who am I?",
// signed here and asked by the cluster. The format is that of kubernetes-sigs/aws-iam-authenticator, pkg/token/token.go, and so
// are the limits: only these parameters, only STS' regional host, only https; anything that a client library would add is refused.
import { partition } from '@aws-sdk/core/client';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { toError } from '../../core/errors.ts';
import { unlessAborted } from '../../core/unless-aborted.ts';
import { ConnectionProblem } from '../connection-problem.ts';

/** AWS credentials as the SDK's providers give them. */
export type AwsCredentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
};

/** Which cluster, and whose name stands in its problems. */
export type EksCluster = {
  /** The name that EKS knows it by. */
  readonly cluster: string;
  readonly region: string;
  /** Where this was said, for the problem: `cluster "prod": access`. */
  readonly where: string;
};

/** The tokens of one cluster: one for many requests, so that neither the cluster nor STS is asked afresh for each. */
export type EksToken = {
  /** Returns a token that is good for another minute at least. Throws a ConnectionProblem. */
  token(): Promise<string>;
  /** Drops it: the cluster did not accept it. */
  refresh(): void;
};

/** STS honours a question for 15 minutes, clients reckon with 14; one minute is left for a request on its way. */
const USABLE_SECONDS = 13 * 60;
/** How long credentials must still be valid. */
const RESERVE_SECONDS = 60;
/** Said "for legacy reasons"; STS goes by the date. A larger one is refused. */
const EXPIRES_SECONDS = 60;
/** Providers ask services of AWS, which may hang. */
const CREDENTIALS_SECONDS = 5;

/** Creates the tokens of a cluster. */
export function createEksToken(
  { credentials, now }: { readonly credentials: () => Promise<AwsCredentials>; readonly now: () => Date },
  target: EksCluster,
  { credentialsSeconds = CREDENTIALS_SECONDS }: { readonly credentialsSeconds?: number } = {},
): EksToken {
  let current: { readonly token: string; readonly until: number } | undefined;
  let running: Promise<string> | undefined;

  async function renew(): Promise<string> {
    const identity = await withinDeadline(credentials, credentialsSeconds, target.where);
    const signedAt = now();
    const token = await sign(identity, signedAt, target);
    const identityEnds = (identity.expiration?.getTime() ?? Infinity) - RESERVE_SECONDS * 1000;
    current = { token, until: Math.min(signedAt.getTime() + USABLE_SECONDS * 1000, identityEnds) };
    return token;
  }

  return {
    async token() {
      if (current !== undefined && now().getTime() < current.until) return current.token;
      running ??= renew().finally(() => {
        running = undefined;
      });
      return await running;
    },
    refresh() {
      current = undefined;
    },
  };
}

async function withinDeadline(
  credentials: () => Promise<AwsCredentials>,
  seconds: number,
  where: string,
): Promise<AwsCredentials> {
  const deadline = AbortSignal.timeout(seconds * 1000);
  try {
    return await unlessAborted(credentials(), deadline);
  } catch (error) {
    const why = deadline.aborted ? `none within ${seconds} s` : toError(error).message;
    throw new ConnectionProblem(`${where}: no AWS credentials (${why}); give this process a role or a profile`, {
      cause: error,
    });
  }
}

async function sign(credentials: AwsCredentials, signingDate: Date, { cluster, region }: EksCluster): Promise<string> {
  const hostname = `sts.${region}.${partition(region).dnsSuffix}`;
  const signer = new SignatureV4({ credentials, region, service: 'sts', sha256: Sha256 });
  const { query = {} } = await signer.presign(
    {
      method: 'GET',
      protocol: 'https:',
      hostname,
      path: '/',
      query: { Action: 'GetCallerIdentity', Version: '2011-06-15' },
      headers: { host: hostname, 'x-k8s-aws-id': cluster },
    },
    { expiresIn: EXPIRES_SECONDS, signingDate },
  );
  const parameters = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  const url = `https://${hostname}/?${parameters.join('&')}`;
  return `k8s-aws-v1.${Buffer.from(url).toString('base64url')}`;
}
