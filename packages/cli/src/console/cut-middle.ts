// How a long name is shortened, in the page and on a terminal.

/** Cuts a name in its middle, because names of one kind often differ at their ends alone. */
export function cutMiddle(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = Math.floor((length - 1) / 2);
  return `${text.slice(0, length - 1 - end)}…${text.slice(text.length - end)}`;
}
