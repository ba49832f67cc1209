// From bytes to JSON documents. Excluded: what the documents mean (watch.test.ts).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerError } from '../../../src/kube/client/errors.ts';
import { readFrames } from '../../../src/kube/frames.ts';

async function* inChunks(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  for (const [index, end] of at.entries()) if (index > 0) yield bytes.subarray(at[index - 1], end);
}

async function collect(
  bytes: Uint8Array,
  cuts: readonly number[],
  options?: { maxFrameBytes?: number },
): Promise<unknown[]> {
  const frames: unknown[] = [];
  for await (const frame of readFrames(inChunks(bytes, cuts), options)) frames.push(frame);
  return frames;
}

describe('frames', () => {
  it('any way of cutting the bytes gives the same frames', async () => {
    const documents = fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(documents, fc.array(fc.nat(500), { maxLength: 20 }), async (values, cuts) => {
        const text = values.map((value) => `${JSON.stringify(value)}\n`).join('');
        expect(await collect(Buffer.from(text), cuts)).toEqual(
          JSON.parse(`[${values.map((value) => JSON.stringify(value)).join()}]`),
        );
      }),
    );
  });

  it('a character cut in the middle of its bytes arrives whole', async () => {
    const bytes = Buffer.from('{"a":"ü€😀"}\n');
    const everyByte = Array.from(bytes, (_, index) => index);
    expect(await collect(bytes, everyByte)).toEqual([{ a: 'ü€😀' }]);
  });

  it('what a lost connection leaves of a frame is dropped', async () => {
    expect(await collect(Buffer.from('{"a":1}\n{"b":'), [])).toEqual([{ a: 1 }]);
  });

  it('empty lines are no frames', async () => {
    expect(await collect(Buffer.from('\n{"a":1}\r\n\n'), [3])).toEqual([{ a: 1 }]);
  });

  it('a frame larger than the bound is an error, whether its end has come or not', async () => {
    const line = `"${'x'.repeat(100)}"`;
    await expect(collect(Buffer.from(`${line}\n`), [], { maxFrameBytes: 50 })).rejects.toThrow(AnswerError);
    await expect(collect(Buffer.from(line), [10, 20, 60], { maxFrameBytes: 50 })).rejects.toThrow(
      'larger than 50 bytes',
    );
    await expect(collect(Buffer.from(`${line}\n${line}\n`), [10], { maxFrameBytes: 102 })).resolves.toHaveLength(2);
  });

  it('a line that is not JSON is an error that does not quote it', async () => {
    await expect(collect(Buffer.from('{"token": secret}\n'), [])).rejects.toThrow(/^a frame of a watch is not JSON$/);
  });
});
