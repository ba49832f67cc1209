// Signs requests to AWS (Signature Version 4), for the few calls that no client of the SDK makes: its signer would come
// into every function a second time, whenever its version is not that of the SDK's clients.
//
// Source: IAM user guide, "Create a signed AWS API request".
import { createHash, createHmac } from 'node:crypto';

/** Whose signature it is, for which service, and when. */
export type Signer = {
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string | undefined;
  };
  readonly region: string;
  /** The name of the service in signatures, such as `sqs`. */
  readonly service: string;
  readonly at: Date;
};

/** What is signed of a request. */
export type SignedParts = {
  readonly method: string;
  /** The path as it is sent: percent-encoded. */
  readonly path: string;
  /** Every header that is to be signed, by its name in lower case. Must have `host`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
};

const algorithm = 'AWS4-HMAC-SHA256';

/** Returns the headers of a request with its signature. */
export function signedHeaders(request: SignedParts, signer: Signer): Readonly<Record<string, string>> {
  const { sessionToken, accessKeyId } = signer.credentials;
  const contentHash = sha256(request.body ?? '');
  const headers = {
    ...request.headers,
    'x-amz-date': timeOf(signer),
    'x-amz-content-sha256': contentHash,
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
  };
  const signature = signatureOf({ ...request, headers, query: '', contentHash }, signer);
  const credential = `${accessKeyId}/${scopeOf(signer)}`;
  return {
    ...headers,
    authorization: `${algorithm} Credential=${credential}, SignedHeaders=${namesOf(headers)}, Signature=${signature}`,
  };
}

/** Returns the query of a signed GET, which anyone can send for so many seconds. `query` are its own parameters. */
export function presignedQuery(
  { query, ...request }: Omit<SignedParts, 'method' | 'body'> & { readonly query: Readonly<Record<string, string>> },
  signer: Signer,
  expiresSeconds: number,
): string {
  const { sessionToken, accessKeyId } = signer.credentials;
  const parameters = {
    ...query,
    'X-Amz-Algorithm': algorithm,
    'X-Amz-Credential': `${accessKeyId}/${scopeOf(signer)}`,
    'X-Amz-Date': timeOf(signer),
    'X-Amz-Expires': String(expiresSeconds),
    'X-Amz-SignedHeaders': namesOf(request.headers),
    ...(sessionToken === undefined ? {} : { 'X-Amz-Security-Token': sessionToken }),
  };
  const sorted = sortedByName(parameters)
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .join('&');
  const signature = signatureOf({ ...request, method: 'GET', query: sorted, contentHash: sha256('') }, signer);
  return `${sorted}&X-Amz-Signature=${signature}`;
}

type Canonical = Omit<SignedParts, 'body'> & { readonly query: string; readonly contentHash: string };

function signatureOf({ method, path, query, headers, contentHash }: Canonical, signer: Signer): string {
  // S3 alone signs the path as it is sent. The others escape it again.
  const signedPath = signer.service === 's3' ? path : path.split('/').map(escaped).join('/');
  const lines = sortedByName(headers).map(([name, value]) => `${name}:${value.trim().replace(/\s+/g, ' ')}\n`);
  const canonical = [method, signedPath, query, lines.join(''), namesOf(headers), contentHash].join('\n');
  const scope = scopeOf(signer);
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${signer.credentials.secretAccessKey}`);
  return hmac(key, [algorithm, timeOf(signer), scope, sha256(canonical)].join('\n')).toString('hex');
}

/** `20260101T000000Z` */
const timeOf = ({ at }: Signer): string => at.toISOString().replace(/[-:]|\.\d+/g, '');
const scopeOf = (signer: Signer): string =>
  `${timeOf(signer).slice(0, 8)}/${signer.region}/${signer.service}/aws4_request`;
const sortedByName = (all: Readonly<Record<string, string>>): readonly (readonly [string, string])[] =>
  Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1));
const namesOf = (headers: SignedParts['headers']): string =>
  sortedByName(headers)
    .map(([name]) => name)
    .join(';');
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Escapes all but the unreserved characters of RFC 3986. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}
