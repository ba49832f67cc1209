// The configuration of VitePress. build.ts copies it next to the pages.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const stage = path.resolve(import.meta.dirname, '..');

/** The sidebar has the sections of the index, and their tables. @param {string} text */
function sections(text) {
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [heading = ''] = section.split('\n', 1);
      const rows = [...section.matchAll(/^\| \[([^\]]+)\]\(([^)]+)\)/gm)];
      return {
        text: heading,
        collapsed: false,
        items: rows.map(([, title = '', target = '']) => ({ text: titleOf(title, target), link: linkOf(target) })),
      };
    });
}

/** A page is named by its heading where the index names its file. @param {string} title @param {string} target */
function titleOf(title, target) {
  if (!title.endsWith('.md')) return title;
  const text = readFileSync(path.join(stage, target.split('#')[0] ?? ''), 'utf8');
  return /^# (.*)$/m.exec(text)?.[1] ?? title;
}

/** @param {string} target */
const linkOf = (target) => `/${path.posix.normalize(target).replace(/\.md(?=#|$)/, '')}`;

const index = readFileSync(path.join(stage, 'index.md'), 'utf8');
const decisions = readdirSync(path.join(stage, 'decisions'))
  .filter((name) => name.endsWith('.md'))
  .sort();

export default {
  title: 'Outrigger',
  description: 'Kubernetes controllers that run outside the cluster, on AWS Lambda, written in TypeScript.',
  base: process.env.DOCS_BASE ?? '/',
  cleanUrls: true,
  vite: { build: { chunkSizeWarningLimit: 4000 } },
  // A placeholder in angle brackets is text, not a component.
  markdown: { html: false },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Tutorial', link: '/tutorial' },
      { text: 'API', link: '/api/' },
      { text: 'FAQ', link: '/faq' },
    ],
    sidebar: [
      ...sections(index),
      {
        text: 'Decisions',
        collapsed: true,
        items: decisions.map((name) => ({
          text: titleOf(name, `decisions/${name}`),
          link: `/decisions/${name.slice(0, -'.md'.length)}`,
        })),
      },
    ],
  },
};
