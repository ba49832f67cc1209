// The width of the prose in the documents. Programs that write a document wrap its text here.

/** The longest line of prose in a document. Tables, links and commands that do not fit are longer. */
export const proseColumns = 120;

/** Breaks the text of a paragraph or of a list item (`- ...`) into lines. Continued lines of an item are indented. */
export function wrapProse(text: string): string {
  const indent = text.startsWith('- ') ? '  ' : '';
  const [first = '', ...words] = text.split(' ');
  const lines = [first];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length <= proseColumns) lines[lines.length - 1] = longer;
    else lines.push(`${indent}${word}`);
  }
  return lines.join('\n');
}
