// Reads the responses of an API server: bodies within the limits of answer.ts, JSON, and the headers Retry-After and
// Warning. It is separate from client.ts because it does not depend on the request.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { toError } from '../../core/errors.ts';
import { Answer, type AnswerLimits, errorLimits } from './answer.ts';
import { ResponseError, TooLargeError } from './errors.ts';
import { connectError } from './transport.ts';

/** How a body is read: its limits, the request for error messages, and what ends the call. */
type Reading = { readonly limits: AnswerLimits; readonly label: string; readonly signal: AbortSignal };

/**
 * Reads a complete body: the value of JSON, and the text of any other one. Throws a TooLargeError for a body over the
 * limits, a ResponseError for one that is not what its headers say, a ConnectError for a lost connection, or the
 * signal's reason.
 */
export async function readBody(response: IncomingMessage, { limits, label, signal }: Reading): Promise<unknown> {
  const isJson = /^application\/json\b/.test(response.headers['content-type'] ?? '');
  try {
    const text = await readText(response, new Answer(label, limits, { isJson }), label);
    return isJson ? parse(text, label) : text;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof ResponseError ? error : connectError(label, error);
  }
}

/** Reads by events, because iteration costs more than all other work on a small response. */
function readText(response: IncomingMessage, answer: Answer, label: string): Promise<string> {
  return new Promise((resolve, reject) => {
    if (response.destroyed) return reject(response.errored ?? new Error('aborted'));
    // A lost connection is an error of the pipeline's end as well.
    const isCompressed = response.headers['content-encoding'] === 'gzip';
    const body = isCompressed ? pipeline(response, createGunzip(), () => undefined) : response;
    body.on('data', (chunk: Buffer) => {
      try {
        // After the decompression, so that a small body cannot become a large one.
        answer.add(chunk);
      } catch (error) {
        body.destroy(toError(error));
      }
    });
    body.once('end', () => resolve(answer.take()));
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

/**
 * Reads the body of a failed response. Returns undefined if it cannot be read, and throws a TooLargeError if it is over
 * the limits.
 */
export async function readErrorBody(response: IncomingMessage, reading: Omit<Reading, 'limits'>): Promise<unknown> {
  try {
    return await readBody(response, { ...reading, limits: errorLimits });
  } catch (error) {
    if (error instanceof TooLargeError) throw error;
    // A truncated or invalid body must not hide the status.
    return undefined;
  }
}

function parse(text: string, label: string): unknown {
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
