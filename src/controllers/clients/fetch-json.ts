// JSON over HTTP with a deadline, as much of it as the sample worlds need. What goes wrong is one error that says what
// was asked and what came back, because its message is shown in a status.

import { toError } from '../../outrigger.ts';
/** An answer that is not a success; a redirect is none either. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** One call. */
export type JsonRequest = {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: object;
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
};

/** What the worlds say fits into a thousandth of it; an endless answer must not fill a function's memory. */
const maxAnswerBytes = 1024 * 1024;

/**
 * Calls, and returns the answer's body, still to be parsed by a schema. Throws HttpError, or an Error without a status.
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
    // fetch says only "fetch failed"; why is in its cause.
    throw new Error(`${asked}: ${cause instanceof Error ? cause.message : message}`, { cause: thrown });
  }
}

/** Reads an answer whole; one that goes on beyond the bound is cut off there, and its connection with it. */
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
