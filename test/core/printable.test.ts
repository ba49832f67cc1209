// Text that is safe to print: nothing that a terminal interprets, and JSON that is the same document.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { printable, printableJson } from '../../src/core/printable.ts';

/** Ranges of characters that a terminal interprets, or that hide or reorder text. */
const ranges = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0x20_0b, 0x20_0f],
  [0x20_28, 0x20_2e],
  [0x20_60, 0x20_64],
  [0x20_66, 0x20_69],
  [0xfe_ff, 0xfe_ff],
] as const;
const isDangerous = (text: string) =>
  Array.from({ length: text.length }, (_, index) => text.charCodeAt(index)).some((code) =>
    ranges.some(([from, to]) => from <= code && code <= to),
  );
const texts = fc.string({
  unit: fc.oneof(
    fc.constantFrom('\u001b', '\n', '\r', '\u009b', '\u202e', '\u2066', '\u{e0041}', '\ud800'),
    fc.string(),
  ),
});

it.each([
  ['a control sequence', '\u001b[2Jgone', '\\u001b[2Jgone'],
  ['a control sequence of one character', '\u009b2J', '\\u009b2J'],
  ['a line end', 'a\nb\r\u2028c', 'a\\u000ab\\u000d\\u2028c'],
  ['a change of direction', 'a\u202eb', 'a\\u202eb'],
  ['a tag outside of the basic plane', '\u{e0041}', '\\udb40\\udc41'],
  ['ordinary text of any language', 'Grüße, 世界 ✓ 😀', 'Grüße, 世界 ✓ 😀'],
])('%s is printed as text', (_, text, expected) => {
  expect(printable(text)).toBe(expected);
});

it('a long text is cut, and its size follows', () => {
  expect(printable('x'.repeat(5000))).toBe(`${'x'.repeat(4096)}… (5000 characters)`);
  expect(printable('x'.repeat(4096))).toBe('x'.repeat(4096));
});

// Control T115.
it('no text has a dangerous character after it was made printable', () => {
  fc.assert(fc.property(texts, (text) => !isDangerous(printable(text)) && printable(text).isWellFormed()));
});

// Control T116.
it('a JSON document is the same document after it was made printable, without a dangerous character but its line ends', () => {
  fc.assert(
    fc.property(fc.dictionary(texts, texts), (value) => {
      const json = printableJson(JSON.stringify(value, null, 2));
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(isDangerous(json.replaceAll('\n', ''))).toBe(false);
    }),
  );
});
