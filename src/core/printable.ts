// Text from a cluster, a queue or a peer, before it is printed on a terminal. Names, messages and errors can hold the
// control sequences of a terminal, characters that change the direction of the text, and line ends that fake another
// line.

/** Control characters (C0, C1), format characters (such as bidi controls), and the two separators of lines. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** The same, without the line ends and the indentation of a JSON document. */
const unprintableInJson = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A longer value is cut. */
const maxLength = 4096;

/**
 * Returns a line that is safe to print: without characters that a terminal interprets, written as `\u001b`, and of
 * bounded length. A longer text ends with its number of characters.
 */
export function printable(text: string): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}… (${text.length} characters)` : text;
  return cut.toWellFormed().replaceAll(unprintable, escaped);
}

/** Returns a JSON document whose strings are safe to print. It is the same document. Also for text of several lines. */
export function printableJson(json: string): string {
  return json.replaceAll(unprintableInJson, escaped);
}

/** A replacer of JSON.stringify: each text is safe to show, with the line ends that it has. */
export function printableField(_: string, value: unknown): unknown {
  return typeof value === 'string' ? printableJson(value) : value;
}

/** Escapes each UTF-16 code unit as in JSON. */
function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}
