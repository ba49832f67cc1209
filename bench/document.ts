// The document of the figures: a table and a chart of each, put between the markers of its text. What is not measured in a run stays as it was.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import path from 'node:path';
import { KUBERNETES_VERSION } from '../test/control-plane/build.ts';
import { replaceBetween } from '../test/support/replace-between.ts';
import { drawChart } from './chart.ts';
import { ratioTo, said } from './compare.ts';
import { type KeptFigure, type KeptFigures, keepFigures } from './stored-figures.ts';
import { type Row, verdictOf } from './row.ts';

/** What the figures are, in the order of the document, and whether a real control plane has a part in them. */
const titles: Readonly<Record<string, { readonly title: string; readonly isOnControlPlane: boolean }>> = {
  f1: { title: 'Memory of the watcher', isOnControlPlane: false },
  f2: { title: 'From an edit to its status', isOnControlPlane: true },
  f3: { title: 'Draining slow work', isOnControlPlane: true },
  f4: { title: 'Requests of a converged reconcile', isOnControlPlane: false },
  f5: { title: 'What a function costs before it does anything', isOnControlPlane: false },
  f6: { title: 'A restart when nothing has changed', isOnControlPlane: true },
  f7: { title: 'Looking at every object again', isOnControlPlane: true },
  f8: { title: 'Growth with the number of objects', isOnControlPlane: true },
  f9: { title: 'Price', isOnControlPlane: false },
  f10: { title: 'Events a second', isOnControlPlane: false },
  f11: { title: 'Bytes of a watch', isOnControlPlane: true },
};

/** Keeps a run's rows in `figures.json` in the folder of the document's name, and writes tables and charts. Throws where markers are missing. */
export async function writeDocument(file: string, rows: readonly Row[]): Promise<void> {
  const folder = file.replace(/\.md$/, '');
  const known = rows.filter(({ figure }) => figure in titles);
  const on = new Date().toISOString().slice(0, 10);
  const figures = await keepFigures(path.join(folder, 'figures.json'), known, { on, machine: machine() });
  const drawn = new Set<string>();
  for (const [name, { rows: of }] of Object.entries(figures)) {
    const svg = drawChart(of);
    const picture = path.join(folder, `${name}.svg`);
    if (svg === undefined) await rm(picture, { force: true });
    else {
      await writeFile(picture, `${svg}\n`);
      drawn.add(name);
    }
  }
  const text = await readFile(file, 'utf8');
  await writeFile(
    file,
    replaceBetween(text, render(figures, { drawn, folder: path.basename(folder) }), { file, name: 'figures' }),
  );
}

/** Writes the part of the document that is made of rows. */
export function render(
  figures: KeptFigures,
  { drawn, folder }: { readonly drawn: ReadonlySet<string>; readonly folder: string },
): string {
  const sections = Object.entries(titles).flatMap(([name, { title, isOnControlPlane }]) => {
    const kept = figures[name];
    if (kept === undefined) return [];
    const picture = drawn.has(name) ? ['', `![${name}](${folder}/${name}.svg)`] : [];
    return [
      [`## ${name}: ${title}`, '', tableOf(kept.rows), ...picture, '', provenance(kept, isOnControlPlane)].join('\n'),
    ];
  });
  return sections.join('\n\n');
}

function tableOf(rows: readonly Row[]): string {
  const columns = [...new Set(rows.flatMap(({ beside = [] }) => beside.slice(1).map(({ name }) => name)))];
  const simple = rows.some(({ beside, peer }) => beside === undefined && peer !== undefined);
  const grows = rows.some(({ growth }) => growth !== undefined);
  const head = [
    ...['what', 'ours', ...columns, ...(simple ? ['beside', 'ratio'] : []), ...(grows ? ['growth'] : [])],
    ...['goal', 'met'],
  ];
  const lines = rows.map((row) => {
    const { what, ours, peer = '-', ratio = '-', growth, goal, beside, met } = row;
    const others = columns.map((name) => {
      const one = beside?.slice(1).find((each) => each.name === name);
      if (one === undefined) return '-';
      return growth === undefined ? withRatio(said(one), ratioTo(one, beside?.[0])) : said(one);
    });
    const plain = beside === undefined ? [peer, ratio] : ['-', '-'];
    const verdict = verdictOf(met).replace('missed', '**missed**');
    return [what, ours, ...others, ...(simple ? plain : []), ...(grows ? [growth ?? '-'] : []), goal, verdict];
  });
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.map(escaped).join(' | ')} |`).join('\n');
}

const withRatio = (text: string, ratio: string) => (ratio === '-' ? text : `${text}; x ${ratio}`);
const escaped = (cell: string) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ');

function provenance({ on, machine: where, rows }: KeptFigure, isOnControlPlane: boolean): string {
  const versions = new Set(
    rows.flatMap(({ beside = [] }) =>
      beside.flatMap(({ name, version }) =>
        version === undefined ? [] : [`${name.replace(/(?: \(|, \d).*$/, '')} ${version}`],
      ),
    ),
  );
  const at = isOnControlPlane ? `${where}, kube-apiserver ${KUBERNETES_VERSION.git}` : where;
  return [`Measured on ${on}: ${at}.`, ...(versions.size === 0 ? [] : [`${[...versions].join(', ')}.`])].join(' ');
}

function machine(): string {
  const [first] = cpus();
  const gigabytes = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} x ${first?.model.trim() ?? 'unknown'}, ${gigabytes} GiB, ${process.platform}, Node ${process.versions.node}`;
}
