// A fake of S3 for one bucket: conditional reads and writes by ETag, as Amazon S3's API reference has them. It records
// the requests, and can be unavailable.
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { startHttpServer } from '../../support/listen.ts';

export type FakeS3 = {
  readonly url: string;
  /** The object; undefined: it does not exist. */
  object: string | undefined;
  /** Whether the object that does not exist was deleted, in a bucket with versions. */
  wasDeleted: boolean;
  /** The status of every response, instead of the real one. */
  fails: number | undefined;
  /** The error code of that response. */
  code: string;
  readonly requests: { readonly method: string; readonly status: number; readonly authorization: string }[];
  close(): Promise<void>;
};

/** Starts it on a free port. */
export async function startFakeS3(): Promise<FakeS3> {
  const requests: FakeS3['requests'] = [];
  const { url, close } = await startHttpServer(async (request, response) => await answer(fake, request, response));
  const fake: FakeS3 = { url, requests, object: undefined, wasDeleted: false, fails: undefined, code: 'Fault', close };
  return fake;
}

async function answer(fake: FakeS3, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', headers } = request;
  const body = await text(request);
  const etag = fake.object === undefined ? undefined : etagOf(fake.object);
  const end = (status: number, content = '') => {
    fake.requests.push({ method, status, authorization: headers.authorization ?? '' });
    const marker = fake.wasDeleted ? { 'x-amz-delete-marker': 'true' } : {};
    response.writeHead(status, etag === undefined ? marker : { etag }).end(content);
  };
  const error = (status: number, code: string) => end(status, `<Error><Code>${code}</Code></Error>`);
  if (fake.fails === 101) {
    response.writeHead(101, { connection: 'upgrade', upgrade: 'other' }).end();
    return;
  }
  if (fake.fails !== undefined) return error(fake.fails, fake.code);
  if (method === 'GET') {
    if (fake.object === undefined) return error(404, 'NoSuchKey');
    return headers['if-none-match'] === etag ? end(304) : end(200, fake.object);
  }
  if (headers['if-none-match'] === '*' && etag !== undefined) return error(412, 'PreconditionFailed');
  if (headers['if-match'] !== undefined && headers['if-match'] !== etag) return error(412, 'PreconditionFailed');
  fake.object = body;
  end(200);
}

function etagOf(object: string): string {
  return `"${createHash('md5').update(object).digest('hex')}"`;
}
