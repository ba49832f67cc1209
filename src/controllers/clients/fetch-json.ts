// JSON over HTTP with a deadline, for the external systems of the samples. Every failure is one error with the request
// and the response, because its message is shown in a status.

import { toError } from '../../outrigger.ts';
/** A response other than 2xx, redirects included. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** A request. */
export type JsonRequest = {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: object | undefined;
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
};

/** The responses are a thousandth of this. An endless response must not fill the function's memory. */
const maxAnswerBytes = 1024 * 1024;

/**
 * Sends a request and returns the body of the response as JSON, which the caller has to validate. Throws HttpError, or
 * an Error if there was no valid response.
 */
export async function fetchJson(
  base: string,
  { method, path, body, signal, deadlineMs }: JsonRequest,
): Promise<unknown> {
  const asked = `${method} /${path}`;
  try {
    const response = await fetch(`${base.replace(/\/$/, '')}/${path}`, {
      method,
      // A redirect is refused: a server must not choose another address, which might be inside the network.
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]),
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await readText(response);
    if (!response.ok) throw new HttpError(`${asked}: ${response.status} ${text.slice(0, 200)}`, response.status);
    return JSON.parse(text);
  } catch (thrown) {
    if (thrown instanceof HttpError) throw thrown;
    const { message, cause } = toError(thrown);
    // The message of fetch is only "fetch failed". Its cause has the reason.
    throw new Error(`${asked}: ${cause instanceof Error ? cause.message : message}`, { cause: thrown });
  }
}

/** Reads a whole response. If it is larger than the limit, the connection is closed. */
async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxAnswerBytes) throw new Error(`the answer is larger than ${maxAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
