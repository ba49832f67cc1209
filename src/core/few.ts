/** Names the first texts of a list: `north, south, east and 4 more`. */
export function few(texts: readonly string[], most = 3): string {
  const named = texts.slice(0, most).join(', ');
  return texts.length > most ? `${named} and ${texts.length - most} more` : named;
}
