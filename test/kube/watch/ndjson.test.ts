// From bytes to JSON documents. Excluded: the meaning of the documents (watch.test.ts).
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { objectLimits } from '../../../src/kube/client/answer.ts';
import { TooLargeError } from '../../../src/kube/client/errors.ts';
import { readWatchLines } from '../../../src/kube/watch/ndjson.ts';

async function* inChunks(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  for (const [index, end] of at.entries()) if (index > 0) yield bytes.subarray(at[index - 1], end);
}

async function collect(bytes: Uint8Array, cuts: readonly number[]): Promise<unknown[]> {
  const documents: unknown[] = [];
  for await (const one of readWatchLines(inChunks(bytes, cuts))) documents.push(one);
  return documents;
}

it('readWatchLines yields the same documents however the bytes are split', async () => {
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

it('readWatchLines decodes a character that is split across chunks', async () => {
  const bytes = Buffer.from('{"a":"ü€😀"}\n');
  const everyByte = Array.from(bytes, (_, index) => index);
  expect(await collect(bytes, everyByte)).toEqual([{ a: 'ü€😀' }]);
});

it('readWatchLines drops an incomplete last line', async () => {
  expect(await collect(Buffer.from('{"a":1}\n{"b":'), [])).toEqual([{ a: 1 }]);
});

it('readWatchLines skips empty lines', async () => {
  expect(await collect(Buffer.from('\n{"a":1}\r\n\n'), [3])).toEqual([{ a: 1 }]);
});

it('readWatchLines throws a TooLargeError for a line longer than an object may be, complete or not', async () => {
  const line = (bytes: number) => `"${'x'.repeat(bytes - 2)}"`;
  const { bytes } = objectLimits;
  await expect(collect(Buffer.from(`${line(bytes + 1)}\n`), [])).rejects.toThrow(TooLargeError);
  await expect(collect(Buffer.from(line(bytes + 1)), [10, 20, 60])).rejects.toThrow(`larger than ${bytes} bytes`);
  await expect(collect(Buffer.from(`${line(bytes)}\n${line(bytes)}\n`), [10])).resolves.toHaveLength(2);
});

it('readWatchLines throws an error that does not quote the line for invalid JSON', async () => {
  await expect(collect(Buffer.from('{"token": secret}\n'), [])).rejects.toThrow(/^a watch event is not JSON$/);
});
