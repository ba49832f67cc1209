// Reads the responses of an API server: bodies of bounded size, JSON, and the headers Retry-After and Warning. It is
// separate from client.ts because it does not depend on the request.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ResponseError, TooLargeError } from './errors.ts';
import { connectError } from './transport.ts';

/** A Status is small. The error page of a proxy need not be read completely. */
const maxErrorBytes = 1024 * 1024;

/**
 * Reads a complete body. Throws a ResponseError for more than `limit` characters, a ConnectError for a lost connection,
 * or the signal's reason.
 */
export async function readResponse(
  response: IncomingMessage,
  limit: number,
  label: string,
  signal: AbortSignal,
): Promise<string> {
  try {
    return await readText(response, limit, label);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof ResponseError ? error : connectError(label, error);
  }
}

/**
 * Reads by events, because iteration costs more than all other work on a small response. Decodes each chunk at once:
 * buffers kept for a whole page are promoted to the old generation and stay until a full garbage collection, and memory
 * outside the heap hardly triggers one.
 */
function readText(response: IncomingMessage, limit: number, label: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    if (response.destroyed) return reject(response.errored ?? new Error('aborted'));
    // A lost connection is an error of the pipeline's end as well.
    const isCompressed = response.headers['content-encoding'] === 'gzip';
    const body = isCompressed ? pipeline(response, createGunzip(), () => undefined) : response;
    body.setEncoding('utf8');
    body.on('data', (chunk: string) => {
      text += chunk;
      // Also of a small body that decompresses to a large one.
      if (text.length > limit) body.destroy(new TooLargeError(`${label}: the response is larger than ${limit} bytes`));
    });
    body.once('end', () => resolve(text));
    body.once('error', (error) => reject(isInvalidGzip(error) ? invalidGzip(error, label) : error));
    body.once('close', () => {
      // An error costs its stack, and every response closes.
      if (!body.readableEnded) reject(new Error('aborted'));
    });
  });
}

/** Node's codes for invalid data (zlib, "Constants"). */
function isInvalidGzip(error: Error): boolean {
  return 'code' in error && (error.code === 'Z_DATA_ERROR' || error.code === 'Z_BUF_ERROR');
}

function invalidGzip(error: Error, label: string): ResponseError {
  return new ResponseError(`${label}: the response is not gzip, as its header says`, { cause: error });
}

/** Reads the body of a failed response. Returns undefined if it cannot be read. */
export async function errorBody(response: IncomingMessage): Promise<unknown> {
  // A truncated or invalid body must not hide the status.
  try {
    const text = await readResponse(response, maxErrorBytes, '', new AbortController().signal);
    return decodeResponse(text, response.headers, '');
  } catch {
    return undefined;
  }
}

/** Parses a body with the content type JSON. Any other body is text. Throws a ResponseError for invalid JSON. */
export function decodeResponse(text: string, headers: IncomingHttpHeaders, label: string): unknown {
  if (!/^application\/json\b/.test(headers['content-type'] ?? '')) return text;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ResponseError(`${label}: the response is not JSON`, { cause: error });
  }
}

/** Parses the seconds of a Retry-After header. The API server sends whole seconds; the date of a proxy is ignored. */
export function retryAfter(headers: IncomingHttpHeaders): number | undefined {
  const text = headers['retry-after'];
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

/** Parses the texts of Warning headers, `299 - "text"`, and removes the escapes of quoted pairs (RFC 7234 §5.5). */
export function parseWarnings(headers: IncomingHttpHeaders): string[] {
  const text = headers.warning;
  if (typeof text !== 'string') return [];
  return [...text.matchAll(/\b299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, quoted = '']) => quoted.replace(/\\(.)/g, '$1'));
}
