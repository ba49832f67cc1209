// The document of the figures: a table and a chart of each, between the markers of its text. Figures that are not
// measured in a run stay as they were.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import path from 'node:path';
import { replaceBetween } from '../test/support/replace-between.ts';
import { kubernetesVersion } from '../tools/control-plane/build.ts';
import { formatSpread, ratioTo } from './compare.ts';
import { formatMet, type Row } from './row.ts';
import { type StoredFigure, type StoredFigures, storeFigures } from './stored-figures.ts';

/**
 * The titles of the figures, in the order of the document, and whether a real control plane is part of the measurement.
 */
const titles: Readonly<Record<string, { readonly title: string; readonly isOnControlPlane: boolean }>> = {
  f1: { title: 'Memory of the watcher', isOnControlPlane: false },
  f2: { title: 'From an edit to its status', isOnControlPlane: true },
  f3: { title: 'Draining slow work', isOnControlPlane: true },
  f4: { title: 'Requests of a converged reconcile', isOnControlPlane: false },
  f5: { title: 'Start of a function', isOnControlPlane: false },
  f6: { title: 'A restart when nothing has changed', isOnControlPlane: true },
  f7: { title: 'A resync of every object', isOnControlPlane: true },
  f8: { title: 'Growth with the number of objects', isOnControlPlane: true },
  f9: { title: 'Price', isOnControlPlane: false },
  f10: { title: 'Events a second', isOnControlPlane: false },
  f11: { title: 'Bytes of a watch', isOnControlPlane: true },
};

/**
 * Stores a run's rows in `figures.json` in the folder with the document's name, and writes tables and charts. Throws if
 * markers are missing.
 */
export async function writeDocument(file: string, rows: readonly Row[]): Promise<void> {
  // The charts' library has a lock file of its own: who only renders a document does not have it.
  const { drawChart } = await import('./chart.ts');
  const folder = file.replace(/\.md$/, '');
  const documented = rows.filter(({ figure }) => figure in titles);
  const on = new Date().toISOString().slice(0, 10);
  const figures = await storeFigures(path.join(folder, 'figures.json'), documented, { on, machine: machine() });
  const drawn = new Set<string>();
  for (const [name, { rows: figureRows }] of Object.entries(figures)) {
    const svg = drawChart(figureRows);
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

/** Renders the part of the document that consists of rows. */
export function render(
  figures: StoredFigures,
  { drawn, folder }: { readonly drawn: ReadonlySet<string>; readonly folder: string },
): string {
  const sections = Object.entries(titles).flatMap(([name, { title, isOnControlPlane }]) => {
    const stored = figures[name];
    if (stored === undefined) return [];
    const picture = drawn.has(name) ? ['', `![${name}](${folder}/${name}.svg)`] : [];
    return [
      [`## ${name}: ${title}`, '', tableOf(stored.rows), ...picture, '', provenance(stored, isOnControlPlane)].join(
        '\n',
      ),
    ];
  });
  return sections.join('\n\n');
}

function tableOf(rows: readonly Row[]): string {
  const columns = [...new Set(rows.flatMap(({ comparisons = [] }) => comparisons.slice(1).map(({ name }) => name)))];
  const hasPeerText = rows.some(({ comparisons, peer }) => comparisons === undefined && peer !== undefined);
  const hasGrowth = rows.some(({ growth }) => growth !== undefined);
  const head = [
    ...[
      'what',
      'ours',
      ...columns,
      ...(hasPeerText ? ['compared with', 'ratio'] : []),
      ...(hasGrowth ? ['growth'] : []),
    ],
    ...['goal', 'met'],
  ];
  const lines = rows.map((row) => {
    const { what, ours, peer = '-', ratio = '-', growth, goal, comparisons, met } = row;
    const peerCells = columns.map((name) => {
      const one = comparisons?.slice(1).find((each) => each.name === name);
      if (one === undefined) return '-';
      return growth === undefined ? withRatio(formatSpread(one), ratioTo(one, comparisons?.[0])) : formatSpread(one);
    });
    const plain = comparisons === undefined ? [peer, ratio] : ['-', '-'];
    const metCell = formatMet(met).replace('missed', '**missed**');
    return [
      what,
      ours,
      ...peerCells,
      ...(hasPeerText ? plain : []),
      ...(hasGrowth ? [growth ?? '-'] : []),
      goal,
      metCell,
    ];
  });
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.map(escaped).join(' | ')} |`).join('\n');
}

const withRatio = (text: string, ratio: string) => (ratio === '-' ? text : `${text}; x ${ratio}`);
const escaped = (cell: string) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ');

function provenance({ on, machine: where, rows }: StoredFigure, isOnControlPlane: boolean): string {
  const versions = new Set(
    rows.flatMap(({ comparisons = [] }) =>
      comparisons.flatMap(({ name, version }) =>
        version === undefined ? [] : [`${name.replace(/(?: \(|, \d).*$/, '')} ${version}`],
      ),
    ),
  );
  const at = isOnControlPlane ? `${where}, kube-apiserver ${kubernetesVersion.git}` : where;
  return [`Measured on ${on}: ${at}.`, ...(versions.size === 0 ? [] : [`${[...versions].join(', ')}.`])].join(' ');
}

function machine(): string {
  const [first] = cpus();
  const gigabytes = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} x ${first?.model.trim() ?? 'unknown'}, ${gigabytes} GiB, ${process.platform}, Node ${process.versions.node}`;
}
