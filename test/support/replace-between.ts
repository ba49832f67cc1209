// A part of a document that a program writes: what is between two markers, `<!-- NAME: begin -->` and `<!-- NAME: end -->`.

/** Puts `part` between a document's markers. Throws where they are missing; `file` is only for that. */
export function replaceBetween(
  text: string,
  part: string,
  { file, name }: { readonly file: string; readonly name: string },
) {
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${file}: no ${begin} and ${end} to write between`);
  return `${text.slice(0, from)}${begin}\n\n${part}\n\n${text.slice(to)}`;
}
