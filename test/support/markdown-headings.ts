// The headings of a document, as the anchors that GitHub generates for them.

/** Returns the anchors of all headings. */
export function headingsOf(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

/** Returns the anchors of the sections under a heading of the second level. */
export function sectionsUnder(markdown: string, heading: string): readonly string[] {
  const [, after = ''] = markdown.split(new RegExp(`^## ${heading}$`, 'm'));
  const [own = ''] = after.split(/^## /m);
  return [...own.matchAll(/^### (.+)$/gm)].map(([, section = '']) => anchorOf(section));
}

/** Returns the anchor of a heading. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
