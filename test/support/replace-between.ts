// The part of a document that a program writes: between two markers, `<!-- NAME: begin -->` and `<!-- NAME: end -->`.

/** Replaces the text between a document's markers. Throws if they are missing; `file` is for the error message. */
export function replaceBetween(
  text: string,
  part: string,
  { file, name }: { readonly file: string; readonly name: string },
) {
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${file}: the markers ${begin} and ${end} are missing`);
  return `${text.slice(0, from)}${begin}\n\n${part}\n\n${text.slice(to)}`;
}
