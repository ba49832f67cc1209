// Reading what an API server answered: bodies with a bound, JSON, and the two headers that tell us something. Apart from
// client.ts because none of it needs to know how the answer was asked for.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { AnswerError } from './errors.ts';
import { connectError } from './transport.ts';

/** A Status is small; a proxy's error page need not be read to its end. */
const MAX_ERROR_BYTES = 1024 * 1024;

/** Reads a body whole. Throws an AnswerError past `limit` characters, a ConnectError when the connection is lost, the signal's reason. */
export async function readAll(
  response: IncomingMessage,
  limit: number,
  label: string,
  signal: AbortSignal,
): Promise<string> {
  try {
    return await collect(response, limit, label);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof AnswerError ? error : connectError(label, error);
  }
}

/**
 * By events: iteration costs more than all else that is done with a small answer. As text at once: buffers that are kept for a page's
 * length grow old and stay until the whole heap is collected, which memory outside the heap hardly hastens.
 */
function collect(response: IncomingMessage, limit: number, label: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    if (response.destroyed) return reject(response.errored ?? new Error('aborted'));
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      text += chunk;
      if (text.length > limit) response.destroy(new AnswerError(`${label}: the answer is larger than ${limit} bytes`));
    });
    response.once('end', () => resolve(text));
    response.once('error', reject);
    response.once('close', () => reject(new Error('aborted')));
  });
}

/** Reads the body of a failure; undefined when there is none to read. */
export async function errorBody(response: IncomingMessage): Promise<unknown> {
  // The status is what matters: a body that is cut off or not JSON does not hide it.
  try {
    const text = await readAll(response, MAX_ERROR_BYTES, '', new AbortController().signal);
    return decode(text, response.headers, '');
  } catch {
    return undefined;
  }
}

/** Parses JSON by content type; anything else is text. Throws an AnswerError for JSON that is none. */
export function decode(text: string, headers: IncomingHttpHeaders, label: string): unknown {
  if (!/^application\/json\b/.test(headers['content-type'] ?? '')) return text;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AnswerError(`${label}: the answer is not JSON`, { cause: error });
  }
}

/** Reads the seconds of a Retry-After header. The API server sends whole seconds; a proxy's date is not worth a clock here. */
export function retryAfter(headers: IncomingHttpHeaders): number | undefined {
  const text = headers['retry-after'];
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

/** Reads the texts of Warning headers: `299 - "text"`, quoted pairs undone (RFC 7234 §5.5). */
export function warnings(headers: IncomingHttpHeaders): string[] {
  const text = headers.warning;
  if (typeof text !== 'string') return [];
  return [...text.matchAll(/\b299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, quoted = '']) => quoted.replace(/\\(.)/g, '$1'));
}
