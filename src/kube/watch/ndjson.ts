// Splits the response of a watch into lines. Each line is the JSON document of one watch event, and the network may
// split the bytes at any point.
import { Answer, objectLimits } from '../client/answer.ts';
import { ResponseError } from '../client/errors.ts';

const newline = 0x0a;

/**
 * Yields the JSON documents of a newline-delimited stream. An incomplete last line is dropped: the next watch starts at
 * the last resourceVersion and receives the event again. Throws a TooLargeError for a line over the limits of an
 * object, and a ResponseError for one that is not JSON.
 */
export async function* readWatchLines(
  chunks: AsyncIterable<Uint8Array>,
  { label = 'WATCH' }: { readonly label?: string } = {},
): AsyncGenerator<unknown> {
  const answer = new Answer(label, objectLimits);
  for await (const chunk of chunks) {
    let from = 0;
    // A newline byte is never part of a longer UTF-8 sequence, so the bytes can be split before they are decoded.
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      answer.add(chunk.subarray(from, end));
      from = end + 1;
      const line = answer.take();
      if (line.trim() !== '') yield parse(line);
    }
    if (from < chunk.length) answer.add(chunk.subarray(from));
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new ResponseError('a watch event is not JSON', { cause: error });
  }
}
