// A watch is a stream of JSON documents, one a line. This cuts the bytes into documents, whatever way the network cut them.
import { AnswerError } from './client/errors.ts';

/** Larger than etcd lets any object be (1.5 MiB), managedFields included. */
const MAX_FRAME_BYTES = 8 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Yields the JSON documents of a newline-delimited stream. Only complete lines count: what a broken connection leaves
 * over is dropped, because the watch goes on from the last version and brings it again. Throws an AnswerError for a line
 * longer than the bound or not JSON.
 */
export async function* readFrames(
  chunks: AsyncIterable<Uint8Array>,
  { maxFrameBytes = MAX_FRAME_BYTES }: { readonly maxFrameBytes?: number } = {},
): AsyncGenerator<unknown> {
  let pieces: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let from = 0;
    // A newline byte is never part of a longer UTF-8 sequence, so lines are cut in bytes and decoded whole.
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      pieces.push(chunk.subarray(from, end));
      size += end - from;
      from = end + 1;
      if (size > maxFrameBytes) throw tooLarge(maxFrameBytes);
      const line = Buffer.concat(pieces, size).toString('utf8');
      pieces = [];
      size = 0;
      if (line.trim() !== '') yield parse(line);
    }
    if (from < chunk.length) {
      pieces.push(chunk.subarray(from));
      size += chunk.length - from;
      if (size > maxFrameBytes) throw tooLarge(maxFrameBytes);
    }
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new AnswerError('a frame of a watch is not JSON', { cause: error });
  }
}

function tooLarge(bytes: number): AnswerError {
  return new AnswerError(`a frame of a watch is larger than ${bytes} bytes`);
}
