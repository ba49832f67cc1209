// Splits the response of a watch into lines. Each line is the JSON document of one watch event, and the network may
// split the bytes at any point.
import { ResponseError } from '../client/errors.ts';

/** Larger than any object, because etcd limits one to 1.5 MiB, including managedFields. */
const defaultMaxLineBytes = 8 * 1024 * 1024;
const newline = 0x0a;

/**
 * Yields the JSON documents of a newline-delimited stream. An incomplete last line is dropped: the next watch starts at
 * the last resourceVersion and receives the event again. Throws a ResponseError for a line that is too long or not
 * JSON.
 */
export async function* readWatchLines(
  chunks: AsyncIterable<Uint8Array>,
  { maxLineBytes = defaultMaxLineBytes }: { readonly maxLineBytes?: number } = {},
): AsyncGenerator<unknown> {
  let pieces: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let from = 0;
    // A newline byte is never part of a longer UTF-8 sequence, so the bytes can be split before they are decoded.
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      pieces.push(chunk.subarray(from, end));
      size += end - from;
      from = end + 1;
      if (size > maxLineBytes) throw tooLarge(maxLineBytes);
      const line = Buffer.concat(pieces, size).toString('utf8');
      pieces = [];
      size = 0;
      if (line.trim() !== '') yield parse(line);
    }
    if (from < chunk.length) {
      pieces.push(chunk.subarray(from));
      size += chunk.length - from;
      if (size > maxLineBytes) throw tooLarge(maxLineBytes);
    }
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new ResponseError('a watch event is not JSON', { cause: error });
  }
}

function tooLarge(bytes: number): ResponseError {
  return new ResponseError(`a watch event is larger than ${bytes} bytes`);
}
