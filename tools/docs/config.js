// The configuration of VitePress. build.ts copies it next to the pages. The sidebar is docs/README.md: its
// sections, and the pages that they name. The last section, Project, has a sidebar of its own, and so has the API.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { searchOptions } from './search-options.ts';

const stage = path.resolve(import.meta.dirname, '..');
const contents = readFileSync(path.join(stage, 'index.md'), 'utf8');

/** @typedef {{ text: string, link: string, collapsed?: boolean, items?: Item[] }} Item */

/** The pages of each section, by its heading. A part of a page has no place in a sidebar: a page would have two. */
const sections = contents
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [heading = ''] = section.split('\n', 1);
    const rows = [...section.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)];
    const items = rows.map(([, title = '', file = '']) => itemOf(title, path.posix.normalize(file)));
    return { text: heading, collapsed: heading !== 'Start', items };
  });

/** A page, with those of its folder below it. @param {string} text @param {string} file @returns {Item} */
function itemOf(text, file) {
  const name = file.replace(/\.md$/, '');
  const item = { text, link: `/${name}` };
  return name === 'alarms' ? { ...item, collapsed: true, items: pagesIn('alarms') } : item;
}

/** The pages of a folder. @param {string} folder @returns {Item[]} */
function pagesIn(folder) {
  const names = readdirSync(path.join(stage, folder)).filter((name) => name.endsWith('.md') && name !== 'index.md');
  return names.sort().map((name) => itemOf(headingOf(`${folder}/${name}`), `${folder}/${name}`));
}

/** @param {string} file */
function headingOf(file) {
  return /^# (.*)$/m.exec(readFileSync(path.join(stage, file), 'utf8'))?.[1] ?? file;
}

const users = sections.slice(0, -1);
const project = [
  ...sections.slice(-1),
  { text: 'Decisions', collapsed: true, items: pagesIn('decisions') },
  { text: 'Records', collapsed: true, items: pagesIn('records') },
];
// In the order in which an author meets them.
const api = ['outrigger', 'testing', 'kubernetes', 'aws', 'lambda', 'watcher'].map((name) => ({
  text: name === 'outrigger' ? 'outrigger' : `outrigger/${name}`,
  collapsed: name !== 'outrigger',
  link: `/api/${name}/`,
  items: readdirSync(path.join(stage, 'api', name), { withFileTypes: true })
    .filter((one) => one.isDirectory())
    .map((kind) => ({
      text: kind.name.replace('type-aliases', 'types'),
      collapsed: true,
      items: apiPages(`api/${name}/${kind.name}`),
    })),
}));

/** The pages of the API have the names of what they describe. @param {string} folder */
function apiPages(folder) {
  return readdirSync(path.join(stage, folder)).map((name) => itemOf(name.replace(/\.md$/, ''), `${folder}/${name}`));
}

/** As GitHub does, for which the links of the documents are written. @param {string} heading */
const anchorOf = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** The first paragraph, as a text. @param {string} markdown */
function descriptionOf(markdown) {
  const paragraphs = markdown
    .replace(/^#.*$/m, '')
    .split('\n\n')
    .map((one) => one.trim());
  const [first = ''] = paragraphs.filter((one) => /^[\w*[`]/.test(one));
  const text = first
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[*`]|\s+/g, (one) => (one.trim() ? '' : ' '));
  return text.length > 200 ? `${text.slice(0, 199).replace(/\s\S*$/, '')}…` : text;
}

export default {
  title: 'Outrigger',
  description: 'Kubernetes controllers that run outside the cluster, on AWS Lambda, written in TypeScript.',
  lang: 'en',
  base: process.env.DOCS_BASE ?? '/',
  cleanUrls: true,
  vite: { build: { chunkSizeWarningLimit: 4000 } },
  // A placeholder in angle brackets is text, not a component.
  markdown: { html: false, anchor: { slugify: anchorOf } },
  /** @param {{ relativePath: string, description: string }} page */
  transformPageData(page) {
    page.description = descriptionOf(readFileSync(path.join(stage, page.relativePath), 'utf8'));
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        miniSearch: { searchOptions },
      },
    },
    outline: [2, 3],
    nav: [
      ...users.map(({ text, items }) => ({ text, link: items[0]?.link ?? '/' })),
      { text: 'API', link: '/api/' },
      { text: process.env.DOCS_VERSION ?? 'next', link: '/CHANGELOG' },
    ],
    sidebar: {
      '/api/': api,
      ...Object.fromEntries(['/decisions/', '/records/'].map((folder) => [folder, project])),
      ...Object.fromEntries((project[0]?.items ?? []).map(({ link }) => [link, project])),
      '/': users,
    },
  },
};
