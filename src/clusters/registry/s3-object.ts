// One object in S3: a conditional read for the functions, and a conditional write for the command. The requests are
// signed here, because the SDK's client for S3 would be the largest module of a function.
//
// Sources: Amazon S3 API reference, GetObject (If-None-Match) and PutObject (If-Match, If-None-Match: "conditional
// writes"); "Authenticating Requests (AWS Signature Version 4)".

import http, { type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import { toError, UserError } from '../../core/errors.ts';
import { sleep } from '../../core/time.ts';
import { partitionOf } from '../../signing/partition.ts';
import { signedHeaders } from '../../signing/signature.ts';
import { type AwsCredentials, CredentialsError, readCredentials } from '../auth/aws-credentials.ts';

/** How this process reaches AWS. */
export type AwsAccess = {
  readonly region: () => Promise<string>;
  readonly credentials: () => Promise<AwsCredentials>;
  /** Credential providers call AWS services, which may hang. Default: 5. */
  readonly credentialsSeconds?: number;
  /** Another server that implements S3, such as `http://127.0.0.1:5000`. */
  readonly s3Endpoint?: string | undefined;
  readonly now: () => Date;
};

/** The result of a read. */
export type S3Read =
  | { readonly type: 'unchanged' }
  | { readonly type: 'missing' }
  | { readonly type: 'object'; readonly text: string; readonly etag: string };

/** An object in S3. */
export type S3Object = {
  /**
   * Reads the object, unless it still has this ETag. Without an ETag, a failed read is retried. Throws a UserError for
   * a refused request and for an object that was deleted, and an Error for a failed one. A bucket without versions
   * cannot say whether a missing object was deleted.
   */
  get(etag?: string): Promise<S3Read>;
  /**
   * Writes the object if it still has this ETag, or without one if it does not exist. Returns whether it was written.
   */
  put(text: string, etag: string | undefined): Promise<boolean>;
};

/** The bucket and the key of an object. */
export type S3Location = { readonly bucket: string; readonly key: string };

/** A read must end long before a function does. */
const deadlineMilliseconds = 2000;
const writeDeadlineMilliseconds = 10_000;
/** The attempts of a read whose caller has no table yet. */
const firstAttempts = 3;
const retrySeconds = 0.1;
/** The command writes at most 1 MB. */
const maxBytes = 4 * 1024 * 1024;

/** Parses `s3://bucket/key`. Returns undefined for another location, and throws a UserError for an invalid one. */
export function parseS3Location(location: string): S3Location | undefined {
  if (!location.startsWith('s3://')) return undefined;
  const [, bucket, key] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/([A-Za-z0-9/_.-]+)$/.exec(location) ?? [];
  if (bucket === undefined || key === undefined)
    throw new UserError(`clusters table ${location}: not a location in S3; give one like s3://bucket/clusters.json`);
  return { bucket, key };
}

/** Creates the access to an object. */
export function createS3Object({ bucket, key }: S3Location, aws: AwsAccess): S3Object {
  const where = `s3://${bucket}/${key}`;

  async function send(method: 'GET' | 'PUT', conditions: Headers, body?: string): Promise<Response> {
    const region = await aws.region();
    const url = objectUrl({ bucket, key }, region, aws.s3Endpoint);
    const credentials = await readCredentials(aws.credentials, `clusters table ${where}`, aws.credentialsSeconds);
    const content =
      body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
    const headers = signedHeaders(
      { method, path: url.pathname, headers: { host: url.host, ...content, ...conditions }, body },
      { credentials, region, service: 's3', at: aws.now() },
    );
    return await exchange(url, { method, headers, body });
  }

  async function read(etag: string | undefined): Promise<S3Read> {
    const { status, headers, text } = await send('GET', etag === undefined ? {} : { 'if-none-match': etag });
    if (status === 304) return { type: 'unchanged' };
    if (status === 404 && text.includes('NoSuchKey')) {
      // S3 has this header if the current version is a delete marker (GetObject, "x-amz-delete-marker").
      if (headers['x-amz-delete-marker'] !== 'true') return { type: 'missing' };
      throw new UserError(`clusters table ${where}: was deleted; delete its delete marker, or put a table there`);
    }
    if (status === 200 && headers.etag !== undefined) return { type: 'object', text, etag: headers.etag };
    throw failure(where, status, text, 's3:GetObject on the object and s3:ListBucket on its bucket');
  }

  return {
    async get(etag) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await read(etag);
        } catch (error) {
          const isFinal = error instanceof UserError && !(error instanceof CredentialsError);
          if (isFinal || etag !== undefined || attempt === firstAttempts) throw error;
          await sleep(retrySeconds * 2 ** attempt * Math.random(), new AbortController().signal);
        }
      }
    },
    async put(text, etag) {
      const condition = etag === undefined ? { 'if-none-match': '*' } : { 'if-match': etag };
      const { status, text: answer } = await send('PUT', condition, text);
      if (status === 200) return true;
      // 412: another version is there. 409: another write is in progress. 404: it was deleted.
      if (status === 412 || status === 409 || (status === 404 && etag !== undefined)) return false;
      throw failure(where, status, answer, 's3:PutObject on the object');
    },
  };
}

/** S3 answers a read of a missing object with 403 if the role lacks s3:ListBucket. */
function failure(where: string, status: number, text: string, permissions: string): Error {
  const code = /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1] ?? 'no error code';
  const message = `clusters table ${where}: S3 answered ${status} (${code})`;
  if (code === 'RequestTimeTooSkewed') return new UserError(`${message}; set the clock of this machine`);
  if (code === 'InvalidAccessKeyId' || code === 'SignatureDoesNotMatch')
    return new UserError(`${message}; use valid credentials of AWS`);
  if (status === 403) return new UserError(`${message}; allow ${permissions}`);
  if (status === 404) return new UserError(`${message}; create the bucket, or correct its name`);
  if (status === 301 || (status === 400 && code === 'AuthorizationHeaderMalformed'))
    return new UserError(`${message}; the bucket is in another region, use one in the region of the functions`);
  return new Error(message);
}

/** A bucket's name with a dot does not match the certificate of S3, so it becomes a part of the path. */
function objectUrl({ bucket, key }: S3Location, region: string, endpoint: string | undefined): URL {
  if (endpoint !== undefined) return new URL(`${endpoint.replace(/\/+$/, '')}/${bucket}/${key}`);
  const host = `s3.${region}.${partitionOf(region).dnsSuffix}`;
  return new URL(bucket.includes('.') ? `https://${host}/${bucket}/${key}` : `https://${bucket}.${host}/${key}`);
}

type Headers = Readonly<Record<string, string>>;
type Response = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string };

/** Sends one request within the deadline. */
async function exchange(
  url: URL,
  { method, headers, body }: { readonly method: string; readonly headers: Headers; readonly body: string | undefined },
): Promise<Response> {
  const milliseconds = method === 'GET' ? deadlineMilliseconds : writeDeadlineMilliseconds;
  const signal = AbortSignal.timeout(milliseconds);
  const request = (url.protocol === 'http:' ? http : https).request(url, { method, headers, signal });
  return await new Promise<Response>((resolve, reject) => {
    const fail = (error: unknown) => {
      const message = signal.aborted ? `no response within ${milliseconds / 1000} s` : toError(error).message;
      reject(new Error(`${url.host}: ${message}`, { cause: signal.aborted ? signal.reason : error }));
    };
    request.on('error', fail);
    // An unrequested 101 closes the request without a response, without an error, and whatever the deadline.
    request.on('upgrade', (_, socket) => {
      socket.destroy();
      fail(new Error('the server switched to another protocol (101)'));
    });
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxBytes) request.destroy(new Error(`the answer is larger than ${maxBytes} bytes`));
        else chunks.push(chunk);
      });
      response.on('error', fail);
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, text: Buffer.concat(chunks).toString('utf8') });
      });
    });
    request.end(body);
  });
}
