// A fake of the authenticator of an EKS cluster. It verifies a token by the rules of
// kubernetes-sigs/aws-iam-authenticator (pkg/token/token.go, Verify), and the signature by the rules of STS, with
// node:crypto only. It makes no call to AWS and uses no code of src/ or of the SDK.
import { createHash, createHmac } from 'node:crypto';

/** An AWS identity that the authenticator knows. */
export type KnownIdentity = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly arn: string;
};

/** The credentials of a function's role, as Lambda provides them. */
export function roleIdentity(role: string, accountId: string): KnownIdentity {
  return {
    accessKeyId: `ASIA${role.replaceAll('-', '').toUpperCase()}`,
    secretAccessKey: `secret of ${role}`,
    sessionToken: `session+of/${role}==`,
    arn: `arn:aws:iam::${accountId}:role/${role}`,
  };
}

const parameters = new Set(
  ['action', 'version'].concat(
    ['algorithm', 'credential', 'date', 'expires', 'security-token', 'signature', 'signedheaders'].map(
      (name) => `x-amz-${name}`,
    ),
  ),
);

/** Creates the authenticator of a cluster. It returns the identity of a token, and throws for an invalid token. */
export function createEksAuthenticator({
  cluster,
  hosts,
  identities,
  now,
}: {
  readonly cluster: string;
  readonly hosts: readonly string[];
  readonly identities: readonly KnownIdentity[];
  readonly now: () => Date;
}): (token: string) => KnownIdentity {
  return (token) => {
    if (Buffer.byteLength(token) > 4096) throw new Error('the token is too long');
    const [, encoded = ''] = /^k8s-aws-v1\.([A-Za-z0-9_-]+)$/.exec(token) ?? [];
    const url = new URL(Buffer.from(encoded, 'base64url').toString());
    if (url.protocol !== 'https:' || url.pathname !== '/' || !hosts.includes(url.host)) {
      throw new Error(`${url.protocol}//${url.host}${url.pathname} is not STS`);
    }
    const query = new Map<string, string>();
    for (const [name, value] of url.searchParams) {
      if (!parameters.has(name.toLowerCase())) throw new Error(`parameter ${name} is not allowed`);
      if (query.has(name.toLowerCase())) throw new Error(`parameter ${name} is repeated`);
      query.set(name.toLowerCase(), value);
    }
    const given = (name: string) => query.get(name) ?? '';
    if (given('action') !== 'GetCallerIdentity' || given('version') !== '2011-06-15') {
      throw new Error(`action ${given('action')} of ${given('version')}`);
    }
    if (given('x-amz-signedheaders') !== 'host;x-k8s-aws-id') {
      throw new Error(`signed headers ${given('x-amz-signedheaders')}`);
    }
    const expires = Number(given('x-amz-expires'));
    if (!(expires > 0 && expires <= 60)) throw new Error(`expires in ${expires} s`);
    const age = now().getTime() - dateOf(given('x-amz-date')).getTime();
    if (age > 15 * 60_000 || age < -60_000) throw new Error(`signed ${age / 1000} s ago`);
    const identity = identities.find((one) => given('x-amz-credential').startsWith(`${one.accessKeyId}/`));
    if (identity === undefined) throw new Error('the access key is unknown');
    if (given('x-amz-security-token') !== (identity.sessionToken ?? ''))
      throw new Error('the session token does not match');
    if (given('x-amz-signature') !== signatureOf(url, cluster, identity))
      throw new Error('the signature does not match');
    return identity;
  };
}

/** Returns the time at which a token was signed. */
export function signedAt(token: string): Date {
  const url = new URL(Buffer.from(token.replace('k8s-aws-v1.', ''), 'base64url').toString());
  return dateOf(url.searchParams.get('X-Amz-Date') ?? '');
}

function dateOf(text: string): Date {
  return new Date(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

/** AWS Signature Version 4 of a presigned GET (IAM User Guide, "Create a signed AWS API request"). */
function signatureOf(url: URL, cluster: string, { secretAccessKey }: KnownIdentity): string {
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .sort()
    .join('&');
  const headers = `host:${url.host}\nx-k8s-aws-id:${cluster}\n`;
  const request = ['GET', '/', query, headers, 'host;x-k8s-aws-id', sha256('')].join('\n');
  const scope = (url.searchParams.get('X-Amz-Credential') ?? '').split('/').slice(1);
  const stringToSign = ['AWS4-HMAC-SHA256', url.searchParams.get('X-Amz-Date'), scope.join('/'), sha256(request)];
  const key = scope.reduce<string | Buffer>((made, part) => hmac(made, part), `AWS4${secretAccessKey}`);
  return hmac(key, stringToSign.join('\n')).toString('hex');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
