// Bodies that cost a reader far more memory than they have bytes, or that do not end: of a server that is not ours.
import { gzipSync } from 'node:zlib';

/** A body, and what it is. The bytes are JSON, or the beginning of it. */
export type HostileBody = { readonly title: string; bytes(): Buffer };

const megabyte = 1_000_000;
const fill = (head: string, unit: string, tail: string, bytes: number) =>
  Buffer.concat([Buffer.from(head), Buffer.alloc(bytes, unit), Buffer.from(tail)]);
const each = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join();
const nest = (head: string, open: string, inner: string, close: string, count: number) =>
  Buffer.from(head + open.repeat(count) + inner + close.repeat(count));

/** What an attribute of an object can be made of, with the size of the body. */
const contents: readonly [string, (bytes: number) => Buffer][] = [
  ['brackets', (bytes) => nest('', '[', '', ']', bytes / 2)],
  ['brackets without an end', (bytes) => Buffer.alloc(bytes, '[')],
  ['nested objects', (bytes) => nest('', '{"a":', '1', '}', bytes / 6)],
  ['empty objects', (bytes) => fill('[', '{},', '{}]', bytes)],
  ['empty arrays', (bytes) => fill('[', '[],', '[]]', bytes)],
  ['numbers', (bytes) => fill('[', '1,', '1]', bytes)],
  ['fractions', (bytes) => fill('[', '1.5,', '1]', bytes)],
  ['short strings', (bytes) => fill('[', '"ab",', '""]', bytes)],
  ['a long string', (bytes) => fill('"', 'x', '"', bytes)],
  ['a long string of escapes', (bytes) => fill('"', '\\u0000', '"', bytes)],
  ['a long string without an end', (bytes) => fill('"', 'x', '', bytes)],
  ['a long string of wide characters', (bytes) => fill('"', '漢', '"', bytes)],
  ['one key again and again', (bytes) => fill('{', '"a":1,', '"a":1}', bytes)],
  ['different keys', (bytes) => Buffer.from(`{${each(bytes / 13, (i) => `"l${i}":""`)}}`)],
  ['a number of many digits', (bytes) => Buffer.alloc(bytes, '9')],
  ['white space', (bytes) => fill('[', ' ', ']', bytes)],
];

/** 40 bodies of 8 to 16 MB: each content as the spec of an object, and in metadata or as an item of a list. */
export const hostileBodies: readonly HostileBody[] = [
  ...contents.map(([title, content]) => ({
    title: `an object with ${title}`,
    bytes: () =>
      Buffer.concat([Buffer.from('{"metadata":{"name":"a"},"spec":'), content(8 * megabyte), Buffer.from('}')]),
  })),
  ...contents.map(([title, content]) => ({
    title: `a list with ${title}`,
    bytes: () =>
      Buffer.concat([
        Buffer.from('{"metadata":{"resourceVersion":"1"},"items":[{"metadata":'),
        content(15 * megabyte),
        Buffer.from('}]}'),
      ]),
  })),
  ...contents
    .slice(3, 11)
    .map(([title, content]) => ({ title: `nothing but ${title}`, bytes: () => content(16 * megabyte) })),
];

/** The same as a list that is compressed to some kilobytes. */
export function compressed({ title, bytes }: HostileBody): HostileBody {
  return { title: `${title}, compressed`, bytes: () => gzipSync(bytes(), { level: 1 }) };
}
