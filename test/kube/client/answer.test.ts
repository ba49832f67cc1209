// What a document of an API server may cost before it is parsed. Excluded: what a client does about it
// (hostile-server.test.ts), and the memory of whole processes (test/security/hostile-memory.test.ts).
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Answer, objectLimits } from '../../../src/kube/client/answer.ts';
import { TooLargeError } from '../../../src/kube/client/errors.ts';

const small = { bytes: 1_000_000, values: 40 };

/** Whether a document has too many values, as a reader of the whole text finds it. */
function violated(value: unknown): boolean {
  const outside = JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"/g, '""');
  return outside.replace(/[^,:[{]/g, '').length > small.values;
}

/** Adds the bytes in pieces. Returns the text, or the error. */
function read(bytes: Uint8Array, cuts: readonly number[], limits = small): string | TooLargeError {
  const answer = new Answer('GET /x', limits);
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  try {
    for (const [index, end] of at.entries()) if (index > 0) answer.add(bytes.subarray(at[index - 1], end));
  } catch (error) {
    if (error instanceof TooLargeError) return error;
    throw error;
  }
  return answer.take();
}

it('H1: a document is over a limit exactly if a reader of the whole text finds it so, however it is split', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '[', '}', ',', 'ü', '😀', '\n'), maxLength: 20 });
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'large' },
      text,
      fc.integer(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 5 }),
      fc.dictionary(text, tie('value'), { maxKeys: 5 }),
    ),
  }));
  let refused = 0;
  fc.assert(
    fc.property(value, fc.array(fc.nat(500), { maxLength: 8 }), (document, cuts) => {
      const json = JSON.stringify(document);
      const result = read(Buffer.from(json), cuts);
      if (violated(document)) refused += 1;
      expect(result instanceof TooLargeError).toBe(violated(document));
      if (typeof result === 'string') expect(result).toBe(json);
    }),
    { numRuns: 2000 },
  );
  expect(refused).toBeGreaterThan(10);
});

it('H1: a text of any bytes is measured without an error of another kind, and no limit is forgotten for the next', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(300), { maxLength: 20 }), (bytes, cuts) => {
      read(bytes, cuts);
      const answer = new Answer('GET /x', small);
      answer.add(Buffer.from('["unfinished \\'));
      answer.take();
      answer.add(Buffer.from('[[[[[["\\""]]]]]]'));
      expect(answer.isComplete()).toBe(true);
      expect(JSON.parse(answer.take())).toEqual([[[[[['"']]]]]]);
    }),
  );
});

it.each([
  { limit: 'levels', below: '['.repeat(250_000), over: '['.repeat(250_001) },
  { limit: 'values', below: `[${'0,'.repeat(249_999)}`, over: `[${'0,'.repeat(250_000)}` },
  { limit: 'keys', below: `{${'"a":1,'.repeat(124_999)}`, over: `{${'"a":1,'.repeat(125_000)}` },
  { limit: 'bytes', below: ' '.repeat(objectLimits.bytes), over: ' '.repeat(objectLimits.bytes + 1) },
])('H1: an object at the limit of $limit is read, and one beyond it is refused', ({ below, over }) => {
  expect(read(Buffer.from(below), [], objectLimits)).toBe(below);
  expect(read(Buffer.from(over), [7, 9_000], objectLimits)).toBeInstanceOf(TooLargeError);
});

it('H1: an object that is as large as kube-apiserver stores is read', () => {
  // 1.5 MiB: a custom resource of small values, ConfigMaps whose characters are escaped or look like JSON, and an object
  // nested as deep as kube-apiserver decodes.
  const pair = { name: 'LOG_LEVEL', value: 'debug' };
  const dense = { spec: { env: Array.from({ length: 45_000 }, () => pair) } };
  const escaped = { data: { page: '\u0001'.repeat(600_000) } };
  const quoted = { data: { rows: '"a",[1,2,3],{"b":4}\n'.repeat(80_000) } };
  for (const object of [dense, escaped, quoted]) {
    const json = JSON.stringify(object);
    expect(read(Buffer.from(json), [], objectLimits)).toBe(json);
  }
  const deep = `{"object":${'{"a":'.repeat(9_990)}1${'}'.repeat(9_990)}}`;
  expect(read(Buffer.from(deep), [], objectLimits)).toBe(deep);
});

it('H1: a document in single bytes costs no more memory than in one piece', () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const answer = new Answer('GET /x', objectLimits);
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let bytes = 0; bytes < 2_000_000; bytes += 1) answer.add(Buffer.of(0x20));
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(8_000_000);
  expect(answer.take()).toHaveLength(2_000_000);
});
