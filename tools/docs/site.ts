// The pages of the site, from the Markdown of the repository: where each page is, and its links. Links between pages stay.
// A link to another file of the repository leads to its source if the build knows where that is; otherwise it is a text.
import path from 'node:path';

/** A page of the repository, and its path on the site. The index of the documentation is the front page. */
export function sitePath(file: string): string {
  if (file === 'docs/README.md') return 'index.md';
  if (file === 'README.md') return 'readme.md';
  return file.startsWith('docs/') ? file.slice('docs/'.length) : file;
}

const target = /(?<=\])\(([^()\s]+)\)/g;
const fence = /(^```.*?^```$)/ms;
/** The target of a link that has none on the site, until the link is made a text. */
const none = '(#-)';
const textLink = /\[([^[\]]*)\]\(#-\)/g;

/** What a page is rewritten for. */
export type Site = {
  /** The pages and pictures of the site, by their path in the repository. */
  readonly files: ReadonlySet<string>;
  /** The address under which the files of the repository are; undefined for none. */
  readonly sources: string | undefined;
};

/** Rewrites the links of a page for the site. */
export function rewriteLinks(file: string, text: string, { files, sources }: Site): string {
  const rewritten = (whole: string, to: string): string => {
    if (to.includes('://') || to.startsWith('#')) return whole;
    const [name = '', anchor] = to.split('#', 2);
    const found = path.join(path.dirname(file), name);
    const page = [found, path.join(found, 'README.md')].find((one) => files.has(one));
    if (page === undefined) return sources === undefined ? none : `(${sources}/${found})`;
    const relative = path.relative(path.dirname(sitePath(file)), sitePath(page));
    return `(${relative.startsWith('.') ? relative : `./${relative}`}${anchor === undefined ? '' : `#${anchor}`})`;
  };
  return text
    .split(fence)
    .map((part) => (part.startsWith('```') ? part : part.replaceAll(target, rewritten).replaceAll(textLink, '$1')))
    .join('');
}
