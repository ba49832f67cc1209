// What is wrong with the built site: links and anchors without a target, pages without a title or a description, a pager that
// does not follow the sidebar, and terms whose search does not find the page first. build.ts fails with the list.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { searchOptions } from './search-options.ts';

type Page = {
  /** The path on the site, without its extension. */
  readonly name: string;
  readonly html: string;
  readonly ids: ReadonlySet<string>;
};

/** What is used of MiniSearch, which VitePress installs. */
type Index = { readonly search: (term: string, options: unknown) => readonly { readonly id: string }[] };
type Module = { readonly default: { readonly loadJSON: (json: string, options: unknown) => Index } };

/** A word that somebody types, and the page that has to be first. */
const terms: Readonly<Record<string, string>> = {
  stuck: 'by-symptom',
  stalled: 'by-symptom',
  terminating: 'by-symptom',
  'blue green': 'run/canary',
  canary: 'run/canary',
  Terraform: 'run/other-tools',
  Helm: 'run/other-tools',
  RBAC: 'run/permissions',
  namespaces: 'run/permissions',
  VPC: 'run/networking',
  'private endpoint': 'run/networking',
  rollback: 'run/upgrade',
  uninstall: 'run/decommission',
  pause: 'run/pause',
  'rename a controller': 'run/rename-or-remove',
  argo: 'run/gitops',
  'fleet watcher': 'run/fleet-watcher',
  traces: 'run/monitor',
  'dead letter reasons': 'dead-letters',
  throttled: 'alarms/function-throttled',
  price: 'cost',
  outage: 'run/recover',
  disaster: 'run/recover',
  guarantees: 'guarantees',
  IAM: 'run/permissions',
  'AWS resources': 'write/aws-resources',
  'test without a cluster': 'write/testing',
  'rotate a secret': 'write/settings-and-secrets',
  requeue: 'write/requeues-and-time',
  finalizer: 'write/finalizers',
  retry: 'write/errors-and-retries',
  429: 'write/external-apis',
  kopf: 'write/from-kopf',
  'controller-runtime': 'write/from-controller-runtime',
  restore: 'run/recover',
  'delete a cluster': 'run/decommission',
};

/** Returns a line for each problem of the site in a folder. */
export async function problemsOf(folder: string): Promise<readonly string[]> {
  const names = globSync('**/*.html', { cwd: folder }).filter((file) => file !== '404.html');
  const pages = new Map(
    names.map((file) => {
      const html = readFileSync(path.join(folder, file), 'utf8');
      const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));
      const name = file.replace(/(?:(?<=^|\/)index)?\.html$/, '');
      return [name, { name, html, ids }] satisfies [string, Page];
    }),
  );
  const files = new Set(globSync('**/*.{png,svg,ico,js,css,woff2,gif,webp,txt,json}', { cwd: folder }));
  return [
    ...[...pages.values()].flatMap((page) => [
      ...deadLinks(page, pages, files),
      ...headProblems(page),
      ...pagerProblems(page),
    ]),
    ...(await searchProblems(folder)),
  ];
}

/** Links to pages, anchors and pictures of the site that do not exist. */
function deadLinks({ name, html }: Page, pages: ReadonlyMap<string, Page>, files: ReadonlySet<string>): string[] {
  const targets = [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, target = '']) =>
    target.replaceAll('&amp;', '&'),
  );
  return [...new Set(targets)].flatMap((target) => {
    if (/^(?:[a-z]+:|\/\/)/.test(target)) return [];
    const { pathname, hash } = new URL(target, `https://site/${name}`);
    const to = decodeURIComponent(pathname.slice(1)).replace(/\.html$/, '');
    const page = pages.get(to);
    const anchor = decodeURIComponent(hash.slice(1));
    if (page === undefined) return files.has(to) ? [] : [`${name}: no page ${target}`];
    return anchor === '' || page.ids.has(anchor) ? [] : [`${name}: no anchor ${target}`];
  });
}

/** A title and a description of its own, which search engines show. */
function headProblems({ name, html }: Page): string[] {
  const title = /<title>([^<]+)<\/title>/.exec(html)?.[1] ?? '';
  const description = /<meta name="description" content="([^"]*)"/.exec(html)?.[1] ?? '';
  const isApi = name.startsWith('api/');
  return [
    ...(title.length > 0 && (name === '' || title !== 'Outrigger') ? [] : [`${name}: no title`]),
    ...(isApi || description.length > 20 ? [] : [`${name}: no description`]),
  ];
}

/** The next page of a page is the one below it in its sidebar. */
function pagerProblems({ name, html }: Page): string[] {
  const [, sidebar = ''] = /<aside class="VPSidebar[^>]*>(.*?)<\/aside>/s.exec(html) ?? [];
  const linksIn = (text: string) => [...text.matchAll(/<a [^>]*href="\/([^"#]*)"/g)].map(([, to = '']) => to);
  const order = [...new Set(linksIn(sidebar))];
  const at = order.indexOf(name);
  if (at === -1) return ['', 'api/'].includes(name) ? [] : [`${name}: not in its sidebar`];
  const [next] = [...html.matchAll(/<a class="[^"]*pager-link next"[^>]*>/g)].flatMap(([link]) => linksIn(link));
  return next === order[at + 1] ? [] : [`${name}: the next page is ${next}, and the sidebar has ${order[at + 1]}`];
}

/** Terms for which another page is first. */
async function searchProblems(folder: string): Promise<string[]> {
  const module = path.join(import.meta.dirname, 'node_modules/minisearch/dist/es/index.js');
  const { default: MiniSearch }: Module = await import(pathToFileURL(module).href);
  const [file = ''] = globSync('assets/chunks/@localSearchIndexroot.*.js', { cwd: folder });
  const source = readFileSync(path.join(folder, file), 'utf8');
  const [, literal = ''] = /^const \w+=(.*);export\{/s.exec(source) ?? [];
  // The module is a text in quotes of the bundler's choice: only JavaScript reads it.
  const json: string = new Function(`return ${literal}`)();
  const index = MiniSearch.loadJSON(json, { fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'] });
  return Object.entries(terms).flatMap(([term, page]) => {
    const found = index.search(term, searchOptions);
    const first = found[0]?.id.replace(/^\/|(?:\.html)?(?:#.*)?$/g, '');
    return first === page ? [] : [`search for ${term} finds ${first} first, and not ${page}`];
  });
}
